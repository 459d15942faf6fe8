"""vLLM V0: one block size for all layers, swap space counted beside the device's blocks.

Sources: vllm/worker/worker.py, vllm/worker/cache_engine.py, vllm/executor/executor_base.py; read
in 0.8.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from upheld.arithmetic.dtypes import CacheDtype
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.layouts import Layers
from upheld.arithmetic.layouts.state import StateLayers


def block_bytes(
    layers: Sequence[Layers], dtype: CacheDtype, block_size: int = 16, tensor_parallel_size: int = 1
) -> int:
    """Bytes of one block in all layers of a rank; layers in a window are sized as full ones.

    Raises:
        ShapeError: a layer with a state, which V0 keeps elsewhere.
    """
    total = Fraction(0)
    for each in layers:
        if isinstance(each, StateLayers):
            raise ShapeError("layers", "vLLM V0 sizes no state layers with the KV cache")
        total += each.layers * each.token_bytes(dtype, tensor_parallel_size)
    return int(block_size * total)


def blocks(available: int, per_block: int) -> int:
    """`# GPU blocks`, or `# CPU blocks` where `available` is the swap space."""
    return max(0, available // per_block)
