"""An engine: how it names things, what it takes by default, and how it plans its cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from upheld.arithmetic.engines.budgets import Budget
from upheld.arithmetic.engines.plan import CachePlan, Start
from upheld.arithmetic.layouts import Layers


@dataclass(frozen=True, slots=True)
class Engine:
    """One engine, in some range of its versions.

    `name` is what a deployment calls it and `title` what it calls itself. `share` is its own name
    of the memory fraction, and `default_share` is None where it works one out. `block` is its name
    of the block size, None where it has no blocks to size. `stages` gives the layers of each
    pipeline stage, from the number of layers and of stages; it and `decode_context_parallel` are
    absent where the engine can't. `counts_allocations` says that it prints weights as PyTorch's
    allocator counts them. `default_kv_cache_dtype` is None where the cache is kept in the dtype
    that the model computes in. `default_batched_tokens` are the tokens of a step, from the bytes
    of the device and the version, where the cache depends on them.
    """

    name: str
    title: str
    kv_cache_dtypes: tuple[str, ...]
    budget: Budget
    share: str
    default_share: Fraction | None
    plan: Callable[[Sequence[Layers], Start], CachePlan]
    block: str | None = None
    default_block_size: int = 1
    stages: Callable[[int, int], list[int]] | None = None
    decode_context_parallel: bool = False
    counts_allocations: bool = False
    default_kv_cache_dtype: str | None = None
    default_batched_tokens: Callable[[Fraction, str | None], int] | None = None
