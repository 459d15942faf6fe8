"""llama.cpp: the caches that a context allots, from a model's layers and the context's settings.

Sources: build b11434 (0.6.0-dev), src/llama-context.cpp (the constructor of `llama_context`,
`llama_init_from_model`), src/llama-model.cpp (`create_memory`), src/llama-kv-cache.cpp,
src/llama-kv-cache-iswa.cpp, src/llama-kv-cache-dsa.cpp and src/llama-memory-recurrent.cpp. Held
against what that build prints: docs/llama-cpp-caches.md. Older builds pad otherwise; `llama_cpp`
has what public logs of them show. The caches of RWKV are not known here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from upheld.arithmetic.dtypes import CacheDtype, cache_dtype
from upheld.arithmetic.engines.llama_cpp import PADDING, padded, recurrent_bytes
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.layouts import Layers
from upheld.arithmetic.layouts.chunked import ChunkedAttention
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention
from upheld.arithmetic.layouts.state import StateLayers

MOST_SEQUENCES = 256
GGML_BLOCK = 32
HALF = cache_dtype("f16")
_BLOCK_DTYPES = frozenset(("q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl"))


@dataclass(frozen=True, slots=True)
class Context:
    """The settings of a context that its caches depend on.

    `n_seq` is `--parallel`, `unified` is `--kv-unified`: where neither is given, llama-server has
    4 sequences in one cache. `snapshots` is what speculative decoding keeps of a recurrent state
    to go back to (`rs_seq` in the log). `padding` is what cells are rounded up to: 256 in this
    build, 1 in one of early 2024. The other defaults are llama-server's.

    Raises:
        ShapeError: a number is out of range, or flash attention is off with quantised values.
    """

    n_ctx: int
    n_seq: int = 1
    n_batch: int = 2048
    n_ubatch: int = 512
    unified: bool = False
    swa_full: bool = False
    flash_attention: bool = True
    k_type: CacheDtype = HALF
    v_type: CacheDtype = HALF
    snapshots: int = 0
    padding: int = PADDING

    def __post_init__(self) -> None:
        for name in ("n_ctx", "n_seq", "n_batch", "n_ubatch", "padding"):
            if getattr(self, name) < 1:
                raise ShapeError(name, f"{getattr(self, name)} is not 1 or more")
        if self.snapshots < 0:
            raise ShapeError("snapshots", f"{self.snapshots} is below 0")
        if self.n_seq > MOST_SEQUENCES:
            raise ShapeError("n_seq", f"{self.n_seq} is more than the {MOST_SEQUENCES} it takes")
        if self.v_type.name in _BLOCK_DTYPES and not self.flash_attention:
            raise ShapeError(
                "v_type", f"{self.v_type.name} values need flash attention, which is off"
            )

    @property
    def streams(self) -> int:
        """Caches that lie side by side: one for all sequences, or one for each."""
        return 1 if self.unified else self.n_seq

    @property
    def cells(self) -> int:
        """Tokens that one stream of the cache of full attention holds (`n_ctx_seq`)."""
        return self._padded(self._padded(self.n_ctx) // self.streams)

    @property
    def tokens(self) -> int:
        """Tokens that all streams hold: what `n_ctx` becomes."""
        return self.cells * self.streams

    @property
    def batch(self) -> int:
        """Tokens that are computed at once at most: what `n_ubatch` becomes."""
        return min(self.n_ctx, self.n_batch, self.n_ubatch)

    def window_cells(self, window: int) -> int:
        """Tokens that one stream of the cache of layers in a window holds."""
        if self.swa_full:
            return self.cells
        sequences = self.n_seq if self.unified else 1
        return self._padded(min(self.cells, window * sequences + self.batch))

    def _padded(self, cells: int) -> int:
        return padded(cells, self.padding)


@dataclass(frozen=True, slots=True)
class TokenCache:
    """Keys and values of `layers` layers: `cells` tokens in each of `streams`; sizes in bytes."""

    layers: int
    cells: int
    streams: int
    k_bytes: int
    v_bytes: int


@dataclass(frozen=True, slots=True)
class StateCache:
    """Recurrent states of `cells` sequences: R, the convolution's columns, and S; bytes."""

    cells: int
    r_bytes: int
    s_bytes: int


@dataclass(frozen=True, slots=True)
class Caches:
    """All caches of a context; all but `full` are None where the model has no such layer.

    `full` is None where no layer attends; beside `sliding` it may hold no layer. `indexer` has the
    keys of a sparse indexer, which has no values.
    """

    full: TokenCache | None
    indexer: TokenCache | None
    sliding: TokenCache | None
    state: StateCache | None

    @property
    def bytes(self) -> int:
        """Bytes of all of them."""
        tokens = sum(
            each.k_bytes + each.v_bytes
            for each in (self.full, self.indexer, self.sliding)
            if each is not None
        )
        return tokens + (self.state.r_bytes + self.state.s_bytes if self.state else 0)


def caches(layers: Sequence[Layers], context: Context) -> Caches:
    """What llama.cpp allots for these layers; a layer with attention and a state is in both.

    A layer without attention in a model without states (DeciLM) is one of full attention with 0
    KV heads: it has its place in the cache, and values where flash attention is off.

    Raises:
        ShapeError: a dtype can't store the layers' widths, or windows differ between layers.
    """
    windowed = [each for each in layers if isinstance(each, SlidingAttention | ChunkedAttention)]
    full = [
        each
        for each in layers
        if isinstance(each, FullAttention | LatentAttention) and each not in windowed
    ]
    states = [each for each in layers if isinstance(each, StateLayers)]
    widest = max((_value_width(each) for each in (*full, *windowed)), default=0)
    window_cells = context.window_cells(_window(windowed)) if windowed else 0
    return Caches(
        _token_cache(full, context, context.cells, widest) if full or windowed else None,
        _indexer_cache(full, context),
        _token_cache(windowed, context, window_cells, widest) if windowed else None,
        _state_cache(states, context) if states else None,
    )


def _window(layers: Sequence[SlidingAttention | ChunkedAttention]) -> int:
    windows = {each.window if isinstance(each, SlidingAttention) else each.chunk for each in layers}
    if len(windows) > 1:
        raise ShapeError("sliding_window", "llama.cpp has one window for all layers that slide")
    return windows.pop()


def _token_cache(
    layers: Sequence[FullAttention | LatentAttention], context: Context, cells: int, widest: int
) -> TokenCache:
    rows = cells * context.streams
    k_bytes = v_bytes = 0
    for each in layers:
        k_bytes += rows * each.layers * _row_bytes(_key_width(each), context.k_type, "k_type")
        width = _value_width(each)
        if not context.flash_attention and not isinstance(each, LatentAttention):
            # Values lie transposed then, and all layers take as much as the widest.
            width = widest
        v_bytes += rows * each.layers * _row_bytes(width, context.v_type, "v_type")
        _check_dtypes(each, context)
    return TokenCache(sum(each.layers for each in layers), cells, context.streams, k_bytes, v_bytes)


def _indexer_cache(
    layers: Sequence[FullAttention | LatentAttention], context: Context
) -> TokenCache | None:
    """One key a token, of the dtype of keys: kv_lid of llama_kv_cache_dsa."""
    indexed = [each for each in layers if isinstance(each, LatentAttention) and each.index_dim]
    if not indexed:
        return None
    rows = context.cells * context.streams
    k_bytes = sum(
        rows * each.layers * _row_bytes(each.index_dim, context.k_type, "k_type")
        for each in indexed
    )
    count = sum(each.layers for each in indexed)
    return TokenCache(count, context.cells, context.streams, k_bytes, 0)


def _key_width(layers: FullAttention | LatentAttention) -> int:
    """Elements of one token's keys in one layer; a latent stands for keys and values."""
    return layers.width if isinstance(layers, LatentAttention) else layers.kv_heads * layers.k_dim


def _value_width(layers: FullAttention | LatentAttention) -> int:
    return 0 if isinstance(layers, LatentAttention) else layers.kv_heads * layers.v_dim


def _row_bytes(width: int, dtype: CacheDtype, name: str) -> int:
    if dtype.name in _BLOCK_DTYPES and width % GGML_BLOCK:
        raise ShapeError(name, f"{dtype.name} has blocks of {GGML_BLOCK}, and a row has {width}")
    return int(dtype.head_bytes(width))


def _check_dtypes(layers: FullAttention | LatentAttention, context: Context) -> None:
    if isinstance(layers, LatentAttention):
        if context.k_type != context.v_type:
            raise ShapeError("v_type", "a latent is keys and values at once: give both one dtype")
        return
    if not context.flash_attention:
        return
    for name, dtype, width in (
        ("k_type", context.k_type, layers.k_dim),
        ("v_type", context.v_type, layers.v_dim),
    ):
        if dtype.name in _BLOCK_DTYPES and width % GGML_BLOCK:
            raise ShapeError(
                name, f"{dtype.name} has blocks of {GGML_BLOCK}, and a head has {width} elements"
            )


def _state_cache(layers: Sequence[StateLayers], context: Context) -> StateCache:
    r_bytes = s_bytes = 0
    for each in layers:
        r, s = recurrent_bytes(each, context.n_seq, context.snapshots)
        r_bytes, s_bytes = r_bytes + r, s_bytes + s
    return StateCache(context.n_seq, r_bytes, s_bytes)
