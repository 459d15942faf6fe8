"""LMDeploy's log beside arithmetic: the size of a block, and the tokens that all blocks hold."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from upheld.arithmetic.cache import layers_of
from upheld.arithmetic.engines import lmdeploy
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.facts import CachedModel
from upheld.arithmetic.layouts.full import FullAttention
from upheld.judge.beside.figures import MIB, same_digits
from upheld.judge.beside.inputs import LOG, Inputs
from upheld.judge.beside.results import Compared, NotCompared
from upheld.measured.reading import Startup
from upheld.records.shorten import shorten

DEFAULT = "LMDeploy's default"
_DEFAULT_BLOCK = 64
_POLICIES = {str(policy): policy for policy in lmdeploy.QUANT_POLICIES}


def compare(
    startup: Startup, model: CachedModel, inputs: Inputs
) -> Iterator[Compared | NotCompared]:
    """TurboMind's figures; the counts that the PyTorch engine prints follow from nothing."""
    block = _first(startup, "block")
    counts = [line["value"] for line in startup.printed.get("blocks", ())]
    if block is None:
        if counts:
            why = "the PyTorch engine prints neither the bytes of a block nor the free memory"
            yield NotCompared("blocks", min(counts, key=int), "blocks", why)
        return
    length = (
        inputs.count("block_size", _DEFAULT_BLOCK, DEFAULT, "cache_block_seq_len") or _DEFAULT_BLOCK
    )
    parallel = inputs.count("tensor_parallel", 1, DEFAULT) or 1
    said = startup.settings.get("quant_policy")
    policy = _POLICIES.get(said or "0")
    if policy is None:
        raise ShapeError("quant_policy", f"{shorten(said or '')!r} is not known")
    if said is None:
        inputs.assume("quant_policy", policy, DEFAULT)
    else:
        inputs.note("quant_policy", policy, LOG)
    layers = [each for each in layers_of(model) if isinstance(each, FullAttention)]
    if len(layers) != len(layers_of(model)):
        raise ShapeError(
            "layers", "arithmetic for LMDeploy knows layers with keys and values alone"
        )
    size = Fraction(lmdeploy.block_bytes(layers, length, policy, parallel), MIB)
    # Before 0.7 the size was cut to whole MiB, not rounded.
    shown = size if "." in block else Fraction(int(size))
    yield Compared(same_digits(f"block of {length:,} tokens", block, shown), "MiB")
    if (truncated := _first(startup, "truncated")) is not None and counts:
        predicted = Fraction(min(counts, key=int)) * length
        yield Compared(same_digits("context limit, truncated", truncated, predicted), "tokens")


def _first(startup: Startup, kind: str) -> str | None:
    lines = startup.printed.get(kind, ())
    return lines[0]["value"] if lines else None
