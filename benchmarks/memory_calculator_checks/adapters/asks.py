"""What a tool is asked, and how it is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

CacheGib = Callable[[int], float]
MOST_TOKENS = 2**40


class NoAnswer(Exception):
    """The tool refuses the question, or has no way to put it."""


@dataclass(frozen=True)
class Ask:
    """One question as all tools get it.

    With `memory_gib`, the least and most that a printed figure stands for, the question is how many
    tokens fit, and `limit` is the longest sequence; with `context`, how large the cache is.
    """

    id: str
    engine: str
    config: Mapping[str, Any]
    dtype: str
    tensor_parallel: int
    pipeline_parallel: int
    context_parallel: int
    context: int | None = None
    memory_gib: tuple[float, float] | None = None
    limit: int | None = None


def answer(ask: Ask, cache_gib: CacheGib) -> dict[str, Any]:
    """A tool's size in GiB, or the tokens at both ends of the memory, in each reading of it."""
    if ask.context is not None:
        return {"gib": cache_gib(ask.context)}
    assert ask.memory_gib is not None
    readings = [[longest(cache_gib, memory) for memory in ask.memory_gib]]
    if ask.limit is not None:
        full = cache_gib(ask.limit)
        readings.append([int(memory / full * ask.limit) for memory in ask.memory_gib])
    return {"tokens": readings}


def longest(cache_gib: CacheGib, memory: float) -> int:
    """The longest context whose cache fits; one sequence, as the tools count by default."""
    low, high = 0, 1
    while cache_gib(high) <= memory:
        low, high = high, high * 2
        if high > MOST_TOKENS:
            raise NoAnswer("its cache does not grow with the context")
    while high - low > 1:
        middle = (low + high) // 2
        if cache_gib(middle) <= memory:
            low = middle
        else:
            high = middle
    return low
