"""SGLang: pools of token rows, one a kind of layer, and a pool of state slots.

Sources: sglang/srt/model_executor/model_runner.py, sglang/srt/mem_cache/memory_pool.py; read in
0.4.6 and 0.5.6.
"""

from __future__ import annotations

from fractions import Fraction

from upheld.arithmetic.dtypes import CacheDtype
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.arithmetic.layouts.state import StateLayers


def key_and_value_bytes(
    layers: FullAttention, tokens: int, dtype: CacheDtype, tp: int = 1, page_size: int = 1
) -> tuple[int, int]:
    """`K size` and `V size` of a pool: one page of rows more than its tokens."""
    rows = tokens + page_size
    return (
        int(rows * layers.layers * layers.key_bytes(dtype, tp)),
        int(rows * layers.layers * layers.value_bytes(dtype, tp)),
    )


def latent_bytes(
    layers: LatentAttention, tokens: int, dtype: CacheDtype, page_size: int = 1
) -> int:
    """`KV size` of a latent pool, which every rank holds whole."""
    return int((tokens + page_size) * layers.layers * layers.sparse_token_bytes(dtype))


def state_bytes(
    layers: StateLayers,
    slots: int,
    tp: int = 1,
    conv_element: Fraction = Fraction(2),
    state_element: Fraction = Fraction(4),
) -> tuple[int, int]:
    """Bytes of the convolution's and the state's pool: one slot more than sequences."""
    per_layer = (slots + 1) * layers.layers
    return (
        int(per_layer * layers.conv_elements(tp) * conv_element),
        int(per_layer * layers.state_elements(tp) * state_element),
    )


def stage_sizes(layers: int, pipeline_parallel_size: int) -> list[int]:
    """Layers of each pipeline stage; the last ones have one more where it does not divide.

    Source: sglang/srt/distributed/utils.py, get_pp_indices, read in 0.5.6.
    """
    least, extra = divmod(layers, pipeline_parallel_size)
    plain = pipeline_parallel_size - extra
    return [least] * plain + [least + 1] * extra
