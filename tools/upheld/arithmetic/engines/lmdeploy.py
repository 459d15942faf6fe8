"""LMDeploy's TurboMind: blocks of `cache_block_seq_len` tokens; MB here is 2^20 bytes.

A quantised cache keeps a scale and a zero point, 4 bytes together, for each token, layer, head,
K and V. Source: the block manager's start-up lines, as quoted in public reports.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from upheld.arithmetic.dtypes import CacheDtype
from upheld.arithmetic.layouts.full import FullAttention

SCALE_AND_ZERO = 4
QUANT_POLICIES: dict[int, CacheDtype] = {
    0: CacheDtype("fp16", Fraction(2)),
    4: CacheDtype("int4", Fraction(1, 2), SCALE_AND_ZERO),
    8: CacheDtype("int8", Fraction(1), SCALE_AND_ZERO),
}


def block_bytes(
    layers: Sequence[FullAttention], cache_block_seq_len: int, quant_policy: int = 0, tp: int = 1
) -> int:
    """Bytes of one block in all layers of a rank."""
    dtype = QUANT_POLICIES[quant_policy]
    token = sum((each.layers * each.token_bytes(dtype, tp) for each in layers), Fraction(0))
    return int(cache_block_seq_len * token)
