"""llama.cpp, ik_llama.cpp, and Ollama on top of llama.cpp: cells, streams and recurrent states.

Sources: src/llama-kv-cache*.cpp and src/llama-memory-recurrent.cpp, as quoted in public reports.
MiB here is 2^20 bytes, printed with two decimals. What a present build allots for given settings:
`llama_cpp_caches`.
"""

from __future__ import annotations

from fractions import Fraction

from upheld.arithmetic.dtypes import CacheDtype
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention
from upheld.arithmetic.layouts.state import StateLayers

PADDING = 256
STATE_ELEMENT = Fraction(4)
OLLAMA_WINDOW = 4096


def padded(cells: int, to: int = PADDING) -> int:
    """Cells rounded up to a multiple of `to`."""
    return -(-cells // to) * to


def full_cells(n_ctx: int, n_seq: int = 1, streams: int = 1) -> int:
    """Cells of one stream of the cache of full attention: each sequence's share is padded."""
    return n_seq * padded(-(-n_ctx // n_seq)) // streams


def sliding_cells(layers: SlidingAttention, n_ctx: int, n_seq: int, n_ubatch: int) -> int:
    """Cells of the cache of layers in a window, with `--swa-full` off."""
    return padded(min(n_ctx, layers.window * n_seq + n_ubatch))


def ollama_sliding_cells(n_seq: int, batch: int) -> int:
    """The same in Ollama's own engine, for models whose code asks for 4,096 (Gemma 3, gpt-oss)."""
    return n_seq * OLLAMA_WINDOW + batch


def key_and_value_bytes(
    layers: FullAttention, cells: int, k_type: CacheDtype, v_type: CacheDtype, streams: int = 1
) -> tuple[int, int]:
    """Bytes of K and of V: cells, in each stream, of all cached layers."""
    return (
        int(cells * streams * layers.layers * layers.key_bytes(k_type)),
        int(cells * streams * layers.layers * layers.value_bytes(v_type)),
    )


def latent_bytes(layers: LatentAttention, cells: int, k_type: CacheDtype, streams: int = 1) -> int:
    """One row a token, and no V: mainline since V is a view of K, ik_llama.cpp with -mla 2 or 3."""
    return int(cells * streams * layers.layers * layers.token_bytes(k_type))


def latent_key_and_value_bytes(
    layers: LatentAttention, cells: int, k_type: CacheDtype, v_type: CacheDtype
) -> tuple[int, int]:
    """Mainline early in 2025: the row as K, and the latent once more as V."""
    return (
        latent_bytes(layers, cells, k_type),
        int(cells * layers.layers * v_type.head_bytes(layers.latent)),
    )


def recurrent_bytes(layers: StateLayers, cells: int, rs_seq: int = 0) -> tuple[int, int]:
    """Bytes of R, the convolution's columns, and S, the state: fp32, per sequence and snapshot."""
    per_element = cells * (rs_seq + 1) * layers.layers * STATE_ELEMENT
    return int(per_element * layers.conv_elements()), int(per_element * layers.state_elements())
