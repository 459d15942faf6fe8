"""LMDeploy's TurboMind: blocks of `cache_block_seq_len` tokens; MB here is 2^20 bytes.

A quantised cache keeps a scale and a zero point, 4 bytes together, for each token, layer, head,
K and V. Source: the block manager's start-up lines, as quoted in public reports.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from upheld.arithmetic.dtypes import CacheDtype
from upheld.arithmetic.engines.budgets import ShareOfFree
from upheld.arithmetic.engines.engine import Engine
from upheld.arithmetic.engines.plan import Start
from upheld.arithmetic.engines.uniform import UniformPlan, only, uniform_plan
from upheld.arithmetic.layouts import Layers
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


_QUANTISED = {dtype.name: dtype for policy, dtype in QUANT_POLICIES.items() if policy}


def turbomind_plan(layers: Sequence[Layers], start: Start) -> UniformPlan:
    """Blocks of `cache_block_seq_len` tokens in layers of full attention.

    Raises:
        ShapeError: layers of another kind, whose blocks are not known.
    """
    dtype = _QUANTISED.get(start.kv_cache_dtype.name, start.kv_cache_dtype)
    return uniform_plan(only((FullAttention,), layers, "LMDeploy"), start, dtype)


LMDEPLOY = Engine(
    name="lmdeploy",
    title="LMDeploy",
    kv_cache_dtypes=("bf16", "fp16", "int8", "int4"),
    budget=ShareOfFree(),
    share="cache_max_entry_count",
    default_share=Fraction(8, 10),
    plan=turbomind_plan,
    block="cache_block_seq_len",
    default_block_size=64,
)
