"""SGLang's log beside arithmetic: the bytes of each pool of tokens, and of the pools of states.

The tokens of a pool are what the engine had memory for, which the log does not follow up; they
are an input here, and the bytes are what is compared. A rank's pools are in the order of their
layers: those in a window before those of full attention, a draft model's after the model's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from upheld.arithmetic.cache import layers_of
from upheld.arithmetic.dtypes import CacheDtype, cache_dtype
from upheld.arithmetic.engines import sglang
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.facts import CachedModel
from upheld.arithmetic.layouts import Layers
from upheld.arithmetic.layouts.chunked import ChunkedAttention
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention
from upheld.arithmetic.layouts.state import StateLayers
from upheld.judge.beside.figures import GIB, same_digits
from upheld.judge.beside.inputs import Inputs
from upheld.judge.beside.results import Compared, NotCompared
from upheld.measured.engine_log import whole
from upheld.measured.reading import Startup

DEFAULT = "SGLang's default"


def compare(
    startup: Startup, model: CachedModel, inputs: Inputs
) -> Iterator[Compared | NotCompared]:
    """Each size of one rank's pools that the arithmetic of SGLang predicts."""
    loads = [line["value"] for line in startup.printed.get("weights", ()) if "value" in line]
    if loads:
        why = "it is what the device's free memory lost, which holds more than the tensors"
        yield NotCompared("memory.weights", max(loads, key=Fraction), "GiB", why)
    if sharing := getattr(model, "sharing_layers", 0):
        raise ShapeError(
            "layers",
            f"{sharing} use the cache of another, and SGLang allots them memory all the same; in "
            "which pools is not worked out",
        )
    layers = layers_of(model)
    parallel = _attention_ranks(startup, inputs)
    if (whole(startup.settings.get("pp_size")) or 1) > 1:
        raise ShapeError("pp_size", "which layers a pipeline stage holds is not in the log")
    if pools := _of_first_rank(startup, "pool"):
        yield from _pools(pools, layers, model, inputs, parallel)
    if states := _of_first_rank(startup, "states"):
        yield from _states(states[0], layers, model, inputs, parallel)


def _attention_ranks(startup: Startup, inputs: Inputs) -> int:
    """Ranks that attention is split over: fewer than all where it is data parallel."""
    ranks = inputs.count("tensor_parallel", 1, DEFAULT) or 1
    if startup.settings.get("enable_dp_attention") != "True":
        return ranks
    replicas = inputs.count("dp_size", setting="dp_size") or 1
    return max(1, ranks // replicas)


def _of_first_rank(startup: Startup, kind: str) -> list[Mapping[str, str]]:
    """The lines of the rank that printed first; the others hold the same."""
    lines = startup.printed.get(kind, ())
    return [line for line in lines if line.get("rank") == lines[0].get("rank")]


def _pools(
    pools: Sequence[Mapping[str, str]],
    layers: Sequence[Layers],
    model: CachedModel,
    inputs: Inputs,
    parallel: int,
) -> Iterator[Compared | NotCompared]:
    dtype = inputs.cache_dtype(model)
    page = inputs.count("block_size", 1, DEFAULT, "page_size") or 1
    kinds = _kinds(layers)
    for line, (name, kind) in zip(pools, kinds, strict=False):
        yield from _pool(line, name, kind, dtype, page, parallel)
    for line in pools[len(kinds) :]:
        size = line.get("kv") or line.get("k", "")
        yield NotCompared("pool of a draft model", size, "GiB", "its layers are not known")


def _kinds(layers: Sequence[Layers]) -> list[tuple[str, FullAttention | LatentAttention]]:
    """The kinds of layers that have a pool of tokens, in the order in which pools are allotted."""
    windows = [each for each in layers if isinstance(each, SlidingAttention)]
    unbounded = [
        each
        for each in layers
        if isinstance(each, FullAttention | LatentAttention)
        and not isinstance(each, SlidingAttention)
    ]
    if any(isinstance(each, ChunkedAttention) for each in layers) or len(unbounded) > 1:
        raise ShapeError("layers", "how SGLang pools layers of these kinds is not known")
    if not windows:
        return [("pool", each) for each in unbounded]
    if len(windows) > 1:
        raise ShapeError("layers", "how SGLang pools windows of several widths is not known")
    return [("sliding pool", windows[0]), *(("full pool", each) for each in unbounded)]


def _pool(
    line: Mapping[str, str],
    name: str,
    layers: FullAttention | LatentAttention,
    dtype: CacheDtype,
    page: int,
    parallel: int,
) -> Iterator[Compared]:
    tokens = int(line["tokens"])
    of = f"{name} of {tokens:,} tokens"
    if isinstance(layers, LatentAttention):
        size = sglang.latent_bytes(layers, tokens, dtype, page)
        if "kv" in line:
            yield Compared(same_digits(f"{of}, KV", line["kv"], Fraction(size, GIB)), "GiB")
        return
    key, value = sglang.key_and_value_bytes(layers, tokens, dtype, parallel, page)
    if "k" in line:
        yield Compared(same_digits(f"{of}, K", line["k"], Fraction(key, GIB)), "GiB")
        yield Compared(same_digits(f"{of}, V", line["v"], Fraction(value, GIB)), "GiB")


def _states(
    line: Mapping[str, str],
    layers: Sequence[Layers],
    model: CachedModel,
    inputs: Inputs,
    parallel: int,
) -> Iterator[Compared | NotCompared]:
    states = [each for each in layers if isinstance(each, StateLayers)]
    if len(states) != 1 or "slots" not in line:
        why = "the log does not print its slots, or the model has not one kind of state"
        yield NotCompared("pool of states", line["ssm"], "GiB", why)
        return
    slots = int(line["slots"])
    computed = inputs.computed_dtype(model)
    # Read in 0.5.6: the state is kept in fp32 unless --mamba-ssm-dtype says otherwise.
    state = inputs.text("mamba_ssm_dtype", "mamba_ssm_dtype") or "float32"
    conv, ssm = sglang.state_bytes(
        states[0],
        slots,
        parallel,
        conv_element=cache_dtype(computed).element,
        state_element=cache_dtype(state).element,
    )
    of = f"states of {slots:,} sequences"
    yield Compared(same_digits(f"{of}, convolution", line["conv"], Fraction(conv, GIB)), "GiB")
    yield Compared(same_digits(f"{of}, state", line["ssm"], Fraction(ssm, GIB)), "GiB")
