"""TensorRT-LLM's log beside arithmetic: the blocks that its memory allows, and what they take."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from upheld.arithmetic.cache import layers_of
from upheld.arithmetic.engines import tensorrt_llm
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.facts import CachedModel
from upheld.arithmetic.layouts.full import FullAttention
from upheld.judge.beside.figures import GIB, Interval, in_interval, same_digits
from upheld.judge.beside.inputs import LOG, Inputs
from upheld.judge.beside.results import Compared, NotCompared
from upheld.measured.reading import Startup

DEFAULT = "TensorRT-LLM's default"
DEFAULT_SHARE = "0.9"


def compare(
    startup: Startup, model: CachedModel, inputs: Inputs
) -> Iterator[Compared | NotCompared]:
    """Each figure of the last pool that the arithmetic of TensorRT-LLM predicts."""
    if (weights := _last(startup, "weights")) is not None:
        why = "there is no arithmetic for how TensorRT-LLM stores them"
        yield NotCompared("memory.weights", weights, "GiB", why)
    ranks = inputs.count("device_count") or 1
    assumed = "not stated: every rank of the log holds a part of each layer"
    parallel = inputs.count("tensor_parallel", ranks, assumed) or ranks
    layers = [each for each in layers_of(model) if type(each) is FullAttention]
    if len(layers) != len(layers_of(model)):
        raise ShapeError("layers", "arithmetic for TensorRT-LLM knows full attention alone")
    token = tensorrt_llm.token_bytes(layers, inputs.cache_dtype(model), parallel)
    size = _last(startup, "block_size")
    blocks = _least(startup, "blocks", ranks) or _least(startup, "blocks", ranks, "primary")
    if size is not None:
        inputs.note("block_size", int(size), LOG)
    if blocks is not None and size is not None:
        yield from _blocks(startup, inputs, ranks, blocks, token * int(size))
    tokens = _last(startup, "allocated", "tokens") or _last(startup, "tokens")
    if tokens is None:
        return
    if blocks is not None and size is not None:
        predicted = Fraction(blocks) * int(size)
        yield Compared(same_digits("capacity.tokens", tokens, predicted), "tokens")
    of = f"pool of {int(tokens):,} tokens"
    if (gib := _last(startup, "allocated", "gib")) is not None:
        yield Compared(same_digits(of, gib, int(tokens) * token / GIB), "GiB")
    if (exact := _last(startup, "allocated_bytes")) is not None:
        yield Compared(same_digits(of, exact, int(tokens) * token), "B")


def _blocks(
    startup: Startup, inputs: Inputs, ranks: int, printed: str, per_block: Fraction
) -> Iterator[Compared | NotCompared]:
    """From the exact budget where it is printed, else from the rounded memory and its share."""
    if (budget := _least(startup, "budget", ranks)) is not None:
        inputs.note("kv_cache_budget", f"{int(budget):,} B", LOG)
        predicted = tensorrt_llm.blocks(Fraction(budget), Fraction(1), per_block)
        yield Compared(same_digits("blocks", printed, Fraction(predicted)), "blocks")
        return
    available = _least(startup, "available", ranks)
    if available is None:
        why = "the log does not print the memory of every rank that was available for them"
        yield NotCompared("blocks", printed, "blocks", why)
        return
    inputs.note("available_memory", f"{available} GiB", LOG)
    share = _last(startup, "share")
    if share is None:
        inputs.assume("free_gpu_memory_fraction", DEFAULT_SHARE, DEFAULT)
    else:
        inputs.note("free_gpu_memory_fraction", share, LOG)
    memory = Interval.of(available, GIB)
    low, high = (
        Fraction(tensorrt_llm.blocks(end, Fraction(share or DEFAULT_SHARE), per_block))
        for end in (memory.low, memory.high)
    )
    yield Compared(in_interval("blocks", printed, low, high), "blocks")


def _last(startup: Startup, kind: str, name: str = "value") -> str | None:
    """The digits on the last line of the kind that has them."""
    found = [line[name] for line in startup.printed.get(kind, ()) if name in line]
    return found[-1] if found else None


def _least(startup: Startup, kind: str, ranks: int, name: str = "value") -> str | None:
    """The least on the last line of every rank, which all ranks follow; None where one lacks it."""
    found = [line[name] for line in startup.printed.get(kind, ()) if name in line]
    return min(found[-ranks:], key=Fraction) if len(found) >= ranks else None
