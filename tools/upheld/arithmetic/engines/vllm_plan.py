"""vLLM's V1 pool as a plan: blocks of one pool of pages, shared by groups of layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from upheld.arithmetic.cache import name_of, token_formula
from upheld.arithmetic.engines.budgets import ShareOfDevice
from upheld.arithmetic.engines.engine import Engine
from upheld.arithmetic.engines.plan import CachePlan, Need, Start
from upheld.arithmetic.engines.uniform import UniformPlan, only, uniform_plan
from upheld.arithmetic.engines.vllm import (
    Group,
    Pool,
    Settings,
    default_batched_tokens,
    pool,
    stage_sizes,
    token_bytes,
    version_of,
)
from upheld.arithmetic.layouts import Layers
from upheld.arithmetic.layouts.chunked import ChunkedAttention
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention
from upheld.arithmetic.layouts.state import StateLayers
from upheld.records.units import count


@dataclass(frozen=True)
class PooledPlan(CachePlan):
    """The pool; `formula` is the sum of one token."""

    pool: Pool
    formula: str

    @property
    def choices(self) -> tuple[str, ...]:
        """What counts only where layers slide, attend in chunks or keep a state."""
        names = ["engine_version"] if len(self.layouts) > 1 else []
        if any(isinstance(each, StateLayers) for each in self.layouts):
            names.append("prefix_caching")
        if any(isinstance(each, SlidingAttention | ChunkedAttention) for each in self.layouts):
            names.append("max_num_batched_tokens")
        return tuple(names)

    def block_tokens(self, max_model_len: int) -> int:
        """Of attention; without any, a block is all that one sequence keeps."""
        return self.pool.block_tokens(max_model_len)

    def blocks(self, available: int) -> int:
        """`num_gpu_blocks`."""
        return self.pool.blocks(available)

    def blocks_for(self, tokens: int) -> int:
        """Over all groups."""
        return self.pool.blocks_for(tokens)

    def tokens(self, blocks: int, max_model_len: int) -> int:
        """`GPU KV cache size`."""
        return self.pool.tokens(blocks, max_model_len)

    def tokens_words(self, blocks: int, max_model_len: int) -> str:
        """By version, from the concurrency or from the groups."""
        if self.pool.tokens_from_concurrency:
            return (
                f"as this version derives them: ÷ {self.blocks_for(max_model_len):,} blocks a "
                f"sequence × {max_model_len:,} tokens a sequence"
            )
        groups = len(self.pool.groups)
        shared = f"÷ {groups} groups of layers, " if groups > 1 else ""
        ranks = self.pool.settings.decode_context_parallel_size
        copies = f" × {count(ranks, 'rank')} of context parallel" if ranks > 1 else ""
        return f"{shared}× {self.block_tokens(max_model_len)} tokens a block{copies}"

    def concurrency(self, blocks: int, max_model_len: int) -> Fraction:
        """`Maximum concurrency`."""
        return self.pool.concurrency(blocks, max_model_len)

    def needs(self, sequences: int, tokens: int) -> Sequence[Need]:
        """Whole blocks, in each group."""
        # Layers of one kind that differ in width have blocks of different sizes.
        by_kind: dict[tuple[str, int], list[Group]] = {}
        for group in self.pool.groups:
            blocks = group.blocks_for(tokens, self.pool.settings)
            by_kind.setdefault((name_of(group.layout), blocks), []).append(group)
        return [
            Need(
                groups[0].layout,
                sequences * blocks * len(groups) * self.block_bytes,
                f"{count(sequences, 'sequence')} × {count(blocks, 'block')} × {self._of(groups)}",
            )
            for (_, blocks), groups in by_kind.items()
        ]

    def _of(self, groups: Sequence[Group]) -> str:
        if len(self.pool.groups) > 1 or not self.token_bytes:
            return (
                f"{count(len(groups), 'group')} of {count(self.pool.group_size, 'layer')} × "
                f"{self.pool.page_bytes:,} B a page"
            )
        return f"{count(groups[0].block_size, 'token')} × {self.formula}"


def pooled_plan(layers: Sequence[Layers], start: Start) -> PooledPlan:
    """The pool that vLLM lays these layers out in.

    Raises:
        ShapeError: see vllm.pool.
    """
    settings = Settings(
        kv_cache_dtype=start.kv_cache_dtype,
        version=version_of(start.engine_version),
        block_size=start.block_size,
        tensor_parallel_size=start.tensor_parallel,
        decode_context_parallel_size=start.decode_context_parallel,
        max_num_batched_tokens=start.max_num_batched_tokens,
        conv_element=start.conv_element,
        state_element=start.state_element or start.conv_element,
        state_mode="align" if start.prefix_caching else "none",
    )
    found = pool(layers, settings)
    formulas = [
        token_formula(each, settings.kv_cache_dtype, settings.tensor_parallel_size)
        for each in layers
        if not isinstance(each, StateLayers)
    ]
    return PooledPlan(
        layouts=tuple(group.layout for group in found.groups),
        block_size=found.smallest_block,
        block_bytes=found.page_bytes * found.group_size,
        token_bytes=int(sum(each.layers * token_bytes(each, settings) for each in layers)),
        pool=found,
        formula=formulas[0] if len(formulas) == 1 else f"({' + '.join(formulas)})",
    )


def _v0_plan(layers: Sequence[Layers], start: Start) -> UniformPlan:
    # V0 sizes layers in a window as full ones, and keeps no states with the cache.
    kinds = (FullAttention, SlidingAttention, ChunkedAttention, LatentAttention)
    return uniform_plan(only(kinds, layers, "vLLM V0"), start, start.kv_cache_dtype)


V1 = Engine(
    name="vllm",
    title="vLLM",
    # vllm/config/cache.py, CacheDType; fp32 is that of a model which is loaded so.
    kv_cache_dtypes=(
        "fp32",
        "bf16",
        "fp16",
        "fp8",
        "int8_per_token_head",
        "fp8_per_token_head",
        "int4_per_token_head",
    ),
    budget=ShareOfDevice(),
    share="gpu_memory_utilization",
    default_share=Fraction(9, 10),
    plan=pooled_plan,
    block="block_size",
    default_block_size=16,
    stages=stage_sizes,
    decode_context_parallel=True,
    counts_allocations=True,
    default_batched_tokens=lambda memory, version: default_batched_tokens(
        memory, version_of(version)
    ),
)
V0 = replace(
    V1,
    kv_cache_dtypes=("fp32", "bf16", "fp16", "fp8"),
    plan=_v0_plan,
    decode_context_parallel=False,
)
# V1 is the default from here on.
V1_SINCE = (0, 8)


def vllm_of(engine_version: str | None) -> Engine:
    """V0 before V1 was the default, or V1.

    Raises:
        ShapeError: a version that says nothing.
    """
    return V0 if version_of(engine_version) < V1_SINCE else V1
