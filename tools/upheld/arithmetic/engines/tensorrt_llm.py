"""TensorRT-LLM: blocks of tokens from a share of the free memory, rounded up.

Source: the KV cache manager's start-up lines, as quoted in public reports.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from upheld.arithmetic.dtypes import CacheDtype
from upheld.arithmetic.engines.budgets import ShareOfFree
from upheld.arithmetic.engines.engine import Engine
from upheld.arithmetic.engines.plan import Start
from upheld.arithmetic.engines.uniform import UniformPlan, of_one_token, only
from upheld.arithmetic.layouts import Layers
from upheld.arithmetic.layouts.full import FullAttention


def token_bytes(layers: Sequence[FullAttention], dtype: CacheDtype, tp: int = 1) -> Fraction:
    """Bytes of one token in all layers of a rank."""
    return sum((each.layers * each.token_bytes(dtype, tp) for each in layers), Fraction(0))


def blocks(available: Fraction, free_gpu_memory_fraction: Fraction, per_block: Fraction) -> int:
    """`Number of blocks in KV cache primary pool`: it rounds up."""
    wanted = available * free_gpu_memory_fraction / per_block
    return -(-wanted.numerator // wanted.denominator)


@dataclass(frozen=True)
class RoundedUpPlan(UniformPlan):
    """Blocks of which the last one may go beyond what is available."""

    def blocks(self, available: int) -> int:
        """`Number of blocks in KV cache primary pool`, all of the available bytes being its own."""
        return blocks(Fraction(max(0, available)), Fraction(1), Fraction(self.block_bytes))


def rounded_up_plan(layers: Sequence[Layers], start: Start) -> RoundedUpPlan:
    """Blocks of `tokens_per_block` tokens in layers of full attention.

    Raises:
        ShapeError: layers of another kind, whose blocks are not known.
    """
    kept = only((FullAttention,), layers, "TensorRT-LLM")
    size, formula = of_one_token(kept, start.kv_cache_dtype, start.tensor_parallel)
    block = int(start.block_size * size)
    return RoundedUpPlan(kept, start.block_size, block, int(size), formula)


def stage_sizes(layers: int, pipeline_parallel_size: int) -> list[int]:
    """Layers of each pipeline stage; the first ones have one more where it does not divide.

    Source: tensorrt_llm/mapping.py, pp_layers (torch.tensor_split), as published in 2025.
    """
    least, extra = divmod(layers, pipeline_parallel_size)
    return [least + 1] * extra + [least] * (pipeline_parallel_size - extra)


TENSORRT_LLM = Engine(
    name="tensorrt-llm",
    title="TensorRT-LLM",
    kv_cache_dtypes=("fp32", "bf16", "fp16", "fp8", "int8"),
    budget=ShareOfFree(),
    share="free_gpu_memory_fraction",
    default_share=Fraction(9, 10),
    plan=rounded_up_plan,
    block="tokens_per_block",
    default_block_size=32,
    stages=stage_sizes,
)
