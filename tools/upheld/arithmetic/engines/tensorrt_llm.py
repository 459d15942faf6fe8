"""TensorRT-LLM: blocks of tokens from a share of the free memory, rounded up.

Source: the KV cache manager's start-up lines, as quoted in public reports.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from upheld.arithmetic.dtypes import CacheDtype
from upheld.arithmetic.layouts.full import FullAttention


def token_bytes(layers: Sequence[FullAttention], dtype: CacheDtype, tp: int = 1) -> Fraction:
    """Bytes of one token in all layers of a rank."""
    return sum((each.layers * each.token_bytes(dtype, tp) for each in layers), Fraction(0))


def blocks(available: Fraction, free_gpu_memory_fraction: Fraction, per_block: Fraction) -> int:
    """`Number of blocks in KV cache primary pool`: it rounds up."""
    wanted = available * free_gpu_memory_fraction / per_block
    return -(-wanted.numerator // wanted.denominator)
