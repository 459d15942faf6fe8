"""vLLM's log beside arithmetic: weights of a rank, tokens of its cache, and how many requests fit.

`Available KV cache memory` is printed rounded, so the blocks that it allows are an interval; the
cache follows the rank with the least, which is known only where every rank prints its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from upheld.arithmetic.cache import layers_of
from upheld.arithmetic.dtypes import cache_dtype
from upheld.arithmetic.engines import vllm, vllm_v0
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.facts import CachedModel, Choices, Shape
from upheld.arithmetic.layouts import Layers
from upheld.arithmetic.layouts.chunked import ChunkedAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention
from upheld.arithmetic.layouts.state import StateLayers
from upheld.arithmetic.weights import weights
from upheld.judge.beside.figures import GIB, Check, Interval, in_interval, same_digits
from upheld.judge.beside.inputs import LOG, Inputs
from upheld.judge.beside.results import Compared, NotCompared
from upheld.measured.engine_log import whole
from upheld.measured.reading import Startup

DEFAULT = "vLLM's default"
_ONLY_V1_SINCE = (0, 11)
_SWAP_SPACE = 4 * GIB  # --swap-space, in GiB for each device


@dataclass(frozen=True, slots=True)
class _Stored:
    """What the arithmetic of weights asks of a deployment."""

    weight_dtype: str
    tensor_parallel: int
    id: str = LOG
    weight_group_size: int | None = None


def compare(
    startup: Startup, model: CachedModel, inputs: Inputs
) -> Iterator[Compared | NotCompared]:
    """Each figure of one start that the arithmetic of vLLM predicts."""
    parallel = inputs.count("tensor_parallel", 1, DEFAULT) or 1
    yield from _weights(startup, model, inputs, parallel)
    if (why := _other_layers(startup)) is not None:
        yield from (NotCompared(*each, why) for each in _capacities(startup))
    elif _is_first_engine(startup):
        yield from _first_engine(startup, model, inputs, parallel)
    else:
        yield from _pool(startup, model, inputs, parallel)


def capacity(
    pool: vllm.Pool,
    blocks: tuple[int, int] | None,
    tokens: str | None,
    concurrency: str | None,
    limit: int | None,
) -> Iterator[Check]:
    """Printed tokens and concurrency beside what the least and the most blocks hold.

    Where the blocks are not known, those that print the tokens are taken for the concurrency.
    """
    if tokens is not None and blocks is not None:
        low, high = (Fraction(pool.tokens(count, limit)) for count in blocks)
        yield in_interval("capacity.tokens", tokens, low, high)
    if concurrency is None or not limit:
        return
    if tokens is not None:
        # All block counts that print these tokens; with one group there is one.
        of_tokens = _blocks_of_tokens(pool, int(tokens.replace(",", "")), limit)
        if blocks is None:
            blocks = of_tokens
        else:
            blocks = max(blocks[0], of_tokens[0]), min(blocks[1], of_tokens[1])
    if blocks is None:
        return
    if blocks[0] <= blocks[1]:
        low, high = (pool.concurrency(count, limit) for count in blocks)
        yield in_interval("concurrency", concurrency, low, high)
    else:
        yield Check("concurrency", concurrency, None, "off")


def _blocks_of_tokens(pool: vllm.Pool, tokens: int, limit: int) -> tuple[int, int]:
    guess = max(1, tokens // pool.smallest_block)
    step = len(pool.groups) + pool.blocks_for(limit)
    low, high = 0, guess * step
    while low < high:
        middle = (low + high) // 2
        if pool.tokens(middle, limit) < tokens:
            low = middle + 1
        else:
            high = middle
    last = low
    while pool.tokens(last + 1, limit) <= tokens:
        last += 1
    return low, last


def _weights(
    startup: Startup, model: CachedModel, inputs: Inputs, parallel: int
) -> Iterator[Compared | NotCompared]:
    heaviest = _extreme(startup, "weights", largest=True)
    if heaviest is None:
        return
    named = "memory.weights", heaviest, "GiB"
    quantisation = startup.settings.get("quantization", "None")
    if quantisation != "None":
        yield NotCompared(*named, f"how {quantisation} stores them is not in the log")
    elif _drafts(startup):
        yield NotCompared(*named, "those of a draft model are loaded with them")
    elif model.weights_unknown is not None:
        yield NotCompared(*named, model.weights_unknown)
    elif _count(startup, "pipeline_parallel_size") > 1:
        yield NotCompared(*named, "pipeline stages hold different tensors")
    else:
        stored = cast(Choices, _Stored(inputs.computed_dtype(model), parallel))
        try:
            size = weights(stored, cast(Shape, model), parallel).bytes
        except ShapeError as error:
            yield NotCompared(*named, str(error))
        else:
            yield Compared(same_digits("memory.weights", heaviest, Fraction(size, GIB)), "GiB")


def _capacities(startup: Startup) -> Iterator[tuple[str, str, str]]:
    """Name, digits and unit of each capacity that the start prints."""
    for name, kind, unit in (
        ("capacity.tokens", "tokens", "tokens"),
        ("blocks", "blocks", "blocks"),
        ("concurrency", "sequences", "sequences"),
    ):
        fewest = _extreme(startup, kind)
        if fewest is not None:
            yield name, fewest, unit


def _other_layers(startup: Startup) -> str | None:
    """Why the cache is of other layers than the model's, or None."""
    if _count(startup, "pipeline_parallel_size") > 1:
        return "pipeline stages hold different layers, and the cache follows the least of them"
    if _drafts(startup):
        return "layers of a draft model share the cache, and the log does not say which"
    return None


def _drafts(startup: Startup) -> bool:
    return startup.settings.get("speculative_config", "None") != "None"


def _is_first_engine(startup: Startup) -> bool:
    generation = startup.settings.get("generation")
    if generation in ("V0", "V1"):
        return generation == "V0"
    if generation is None:
        return not startup.printed.get("tokens")
    return vllm.version_of(startup.settings["engine_version"]) < _ONLY_V1_SINCE


def _pool(
    startup: Startup, model: CachedModel, inputs: Inputs, parallel: int
) -> Iterator[Compared | NotCompared]:
    layers = layers_of(model)
    settings = _settings(layers, model, inputs, parallel)
    pool = vllm.pool(layers, settings)
    if (block := _extreme(startup, "attention_block")) is not None:
        predicted = Fraction(pool.attention_block_size)
        yield Compared(same_digits("attention block", block, predicted), "tokens")
    limit = inputs.count("max_model_len")
    blocks, why = _blocks(startup, inputs, parallel, pool.blocks)
    tokens = _extreme(startup, "tokens")
    concurrency = _extreme(startup, "sequences")
    if tokens is not None and blocks is None:
        yield NotCompared("capacity.tokens", tokens, "tokens", why)
    for check in capacity(pool, blocks, tokens, concurrency, limit):
        yield Compared(check, "tokens" if check.name == "capacity.tokens" else "sequences")


def _settings(
    layers: Sequence[Layers], model: CachedModel, inputs: Inputs, parallel: int
) -> vllm.Settings:
    computed = inputs.computed_dtype(model)
    state = model.state_dtype or computed
    keeps_states = any(isinstance(each, StateLayers) for each in layers)
    caching = keeps_states and inputs.flag("prefix_caching", default=False, why="not stated")
    return vllm.Settings(
        kv_cache_dtype=inputs.cache_dtype(model),
        version=vllm.version_of(inputs.text("engine_version")),
        block_size=inputs.count("block_size", 16, DEFAULT, "block_size") or 16,
        tensor_parallel_size=parallel,
        max_num_batched_tokens=_batched_tokens(layers, inputs),
        conv_element=cache_dtype(computed).element,
        state_element=cache_dtype(state).element,
        state_mode="align" if caching else "none",
    )


def _batched_tokens(layers: Sequence[Layers], inputs: Inputs) -> int:
    """Tokens of one step, which layers with a window hold beside it; others do not ask."""
    default = vllm.DEFAULT_BATCHED_TOKENS
    if not any(isinstance(each, SlidingAttention | ChunkedAttention) for each in layers):
        return default
    why = "not stated: vllm serve's default on a large device"
    name = "max_num_batched_tokens"
    return inputs.count(name, default, why, name) or default


def _first_engine(
    startup: Startup, model: CachedModel, inputs: Inputs, parallel: int
) -> Iterator[Compared | NotCompared]:
    size = inputs.count("block_size", 16, DEFAULT, "block_size") or 16
    per_block = vllm_v0.block_bytes(layers_of(model), inputs.cache_dtype(model), size, parallel)
    blocks, why = _blocks(
        startup, inputs, parallel, lambda memory: vllm_v0.blocks(memory, per_block)
    )
    if (printed := _extreme(startup, "blocks")) is not None:
        if blocks is None:
            yield NotCompared("blocks", printed, "blocks", why)
        else:
            ends = (Fraction(blocks[0]), Fraction(blocks[1]))
            yield Compared(in_interval("blocks", printed, *ends), "blocks")
        blocks = int(printed), int(printed)
    on_host = [line["cpu"] for line in startup.printed.get("blocks", ()) if "cpu" in line]
    if on_host:
        swapped = Fraction(vllm_v0.blocks(_SWAP_SPACE, per_block))
        inputs.assume("swap_space", "4 GiB", DEFAULT)
        yield Compared(same_digits("blocks on the host", min(on_host, key=int), swapped), "blocks")
    limit = inputs.count("max_model_len")
    if (concurrency := _extreme(startup, "sequences")) is not None and blocks and limit:
        low, high = (Fraction(count * size, limit) for count in blocks)
        yield Compared(in_interval("concurrency", concurrency, low, high), "sequences")


def _blocks(
    startup: Startup, inputs: Inputs, parallel: int, of_bytes: Callable[[int], int]
) -> tuple[tuple[int, int] | None, str]:
    """The least and the most blocks that the printed memory allows, or why they are not known."""
    printed = [line["value"] for line in startup.printed.get("available", ())]
    ranks = parallel * _count(startup, "data_parallel_size")
    if not printed:
        return None, "the log does not print the memory that was available for it"
    if len(printed) < ranks:
        return None, (
            f"it follows the rank with the least memory, and {len(printed)} of {ranks} print theirs"
        )
    least = min(printed, key=Fraction)
    inputs.note("available_kv_cache_memory", f"{least} GiB", LOG)
    memory = Interval.of(least, GIB)
    return (of_bytes(int(memory.low)), of_bytes(int(memory.high))), ""


def _count(startup: Startup, name: str) -> int:
    return whole(startup.settings.get(name)) or 1


def _extreme(startup: Startup, kind: str, *, largest: bool = False) -> str | None:
    """The digits of the least, or largest, that lines of the kind print."""
    lines: Sequence[str] = [line["value"] for line in startup.printed.get(kind, ())]
    choose = max if largest else min
    return choose(lines, key=lambda digits: Fraction(digits.replace(",", "")), default=None)
