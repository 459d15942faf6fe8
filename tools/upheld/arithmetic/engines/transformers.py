"""Hugging Face Transformers: the bytes of a cache object after a prompt and some decoded tokens.

Nothing is padded to blocks: a cache holds one tensor of keys and one of values a layer, for the
whole batch. Three figures come of it, see CacheBytes. Sources: src/transformers/cache_utils.py and
the models' own files, read in 4.57.6 and in releases of 5.0 to 5.24, and measured in 5.8.1 and
5.24.0; optimum-quanto 0.2.7 (tensor/grouped.py, tensor/packed.py) and hqq 0.2.8 (core/quantize.py,
core/bitpack.py) for quantised caches.

    run = Run(batch=2, prompt=20, decoded=5, element=Fraction(2))
    dynamic_cache(layers, run).tensors
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.layouts import Layers, TokenLayers
from upheld.arithmetic.layouts.chunked import ChunkedAttention
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention
from upheld.arithmetic.layouts.state import StateLayers

DEFAULT_VERSION = (5, 24)
OLDEST_VERSION = (4, 57)
WINDOW_COUNTERS_SINCE = (5, 0)
STATIC_COUNTERS_SINCE = (5, 4)
# Before it each model with states had a cache class of its own.
STATES_SINCE = (5, 5)
# Up to here recurrent states were kept in the model's dtype; the next two were not read closely.
STATES_IN_MODEL_DTYPE_TO = (5, 12)
STATES_IN_FP32_SINCE = (5, 15)
# Before it keys and values of latent attention were expanded, and cached so.
LATENT_SINCE = (5, 15)
FP8_SINCE = (5, 21)
# With fewer tokens versions differ in when they quantise again.
LEAST_RESIDUAL = 2

STATE_ELEMENT = Fraction(4)
COUNTER = 8
FP8_SCALE = 4
_QUANTO_BITS = (2, 4)
_HQQ_BITS = (1, 2, 3, 4, 8)
_BITS_OF_A_BYTE = 8
# hqq packs ten elements of 3 bits into a word of 4 bytes.
_HQQ_THREE_BITS = 3
_HQQ_THREE_BITS_A_WORD = 10
_HQQ_WORD = 4


@dataclass(frozen=True, slots=True)
class CacheBytes:
    """Bytes of a cache.

    `tensors` are the elements that the cache's tensors show: keys, values, states, packed
    elements and their scales. `storage` is the memory that is kept for them, which is more where a
    tensor is a view of a larger one. `counters` are whole numbers beside them, of 8 bytes each.
    """

    tensors: int = 0
    storage: int = 0
    counters: int = 0

    def __add__(self, other: CacheBytes) -> CacheBytes:
        """Both together."""
        return CacheBytes(
            self.tensors + other.tensors,
            self.storage + other.storage,
            self.counters + other.counters,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What went through the model: `prompt` tokens at once, then `decoded` tokens one by one.

    All `batch` sequences are of one length, padding included. `element` is the size of an element
    of the model's activations, in bytes.
    """

    batch: int
    prompt: int
    decoded: int = 0
    element: Fraction
    version: tuple[int, int] = DEFAULT_VERSION

    @property
    def tokens(self) -> int:
        """Tokens of one sequence that the model has read."""
        return self.prompt + self.decoded


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantisation:
    """The settings of a QuantizedCache with groups; its defaults are those of Transformers.

    An axis is 0 or -1 for quanto, 0 or 1 for hqq.
    """

    backend: Literal["quanto", "hqq"]
    nbits: int = 4
    axis_key: int = 0
    axis_value: int = 0
    q_group_size: int = 64
    residual_length: int = 128


def dynamic_cache(layers: Sequence[Layers], run: Run) -> CacheBytes:
    """A DynamicCache that knows the model's config, as `generate` makes one by default.

    Raises:
        ShapeError: a version, or states in a version, of which the cache is not known.
    """
    return _sum(_dynamic(each, run) for each in _as_cached(layers, run.version))


def static_cache(layers: Sequence[Layers], run: Run, max_cache_len: int) -> CacheBytes:
    """A StaticCache of `max_cache_len` tokens, once it is in use.

    Raises:
        ShapeError: the run is longer; or a version, or states in a version, of which the cache is
            not known.
    """
    if run.tokens > max_cache_len:
        raise ShapeError("max_cache_len", f"{max_cache_len:,} is less than {run.tokens:,} tokens")
    return _sum(_static(each, run, max_cache_len) for each in _as_cached(layers, run.version))


def quantised_cache(layers: Sequence[Layers], run: Run, quantisation: Quantisation) -> CacheBytes:
    """A QuantizedCache: the last tokens as they are, the others in groups of few bits.

    Raises:
        ShapeError: layers other than full attention, settings that the backend does not have, or
            elements that don't divide into groups or bytes, which Transformers refuses as well.
    """
    if quantisation.residual_length < LEAST_RESIDUAL:
        raise ShapeError("residual_length", f"it is less than {LEAST_RESIDUAL}")
    return _sum(_quantised(each, run, quantisation) for each in _all_full(layers))


def fp8_cache(layers: Sequence[Layers], run: Run) -> CacheBytes:
    """A QuantizedCache of the `fp8` backend: a byte an element, one fp32 scale a tensor.

    Raises:
        ShapeError: layers other than full attention, or a version without that backend.
    """
    if run.version < FP8_SINCE:
        raise ShapeError("backend", f"fp8 is known from {_name(FP8_SINCE)} on alone")
    total = CacheBytes()
    for each in _all_full(layers):
        elements = run.batch * run.tokens * each.kv_heads * (each.k_dim + each.v_dim)
        held = each.layers * (elements + 2 * FP8_SCALE)
        total += CacheBytes(held, held)
    return total


def cross_cache(layers: Sequence[FullAttention], run: Run, encoder_tokens: int) -> CacheBytes:
    """The half of an EncoderDecoderCache that holds keys and values of the encoder's output."""
    held = sum(each.layers * _row(each, run.element) for each in layers)
    bytes_held = int(run.batch * encoder_tokens * held)
    return CacheBytes(bytes_held, bytes_held)


def _sum(parts: Iterable[CacheBytes]) -> CacheBytes:
    return sum(parts, CacheBytes())


def _as_cached(layers: Sequence[Layers], version: tuple[int, int]) -> list[Layers]:
    """The layers as that version caches them.

    Raises:
        ShapeError: a version older than those that were read.
    """
    if version < OLDEST_VERSION:
        raise ShapeError("engine_version", f"caches before {_name(OLDEST_VERSION)} are not known")
    if version >= LATENT_SINCE:
        return list(layers)
    return [each.expanded() if isinstance(each, LatentAttention) else each for each in layers]


def _name(version: tuple[int, int]) -> str:
    return f"Transformers {version[0]}.{version[1]}"


def _row(layers: TokenLayers, element: Fraction) -> Fraction:
    """Bytes of one token of one sequence in one layer; an indexer's key is an element as any."""
    if isinstance(layers, LatentAttention):
        return (layers.width + layers.index_dim) * element
    return layers.kv_heads * (layers.k_dim + layers.v_dim) * element


def _window(layers: Layers) -> int | None:
    """What a layer looks back on; a chunk is cached as a window of its length."""
    if isinstance(layers, SlidingAttention):
        return layers.window
    return layers.chunk if isinstance(layers, ChunkedAttention) else None


def _dynamic(layers: Layers, run: Run) -> CacheBytes:
    if isinstance(layers, StateLayers):
        return _state(layers, run)
    window = _window(layers)
    shown = kept = run.tokens
    if window is not None:
        shown = _within(window, run.tokens)
        # What is shown is a view of what the last step read: the cache before it, and its tokens.
        before = _within(window, run.tokens - 1) if run.decoded else 0
        kept = before + (1 if run.decoded else run.prompt)
    each = run.batch * layers.layers * _row(layers, run.element)
    counted = window is not None and run.version >= WINDOW_COUNTERS_SINCE
    counters = COUNTER * layers.layers if counted else 0
    return CacheBytes(int(shown * each), int(kept * each), counters)


def _within(window: int, tokens: int) -> int:
    """DynamicSlidingWindowLayer keeps `[-window + 1:]`, which is everything for a window of 1."""
    return min(tokens, window - 1) if window > 1 else tokens


def _static(layers: Layers, run: Run, max_cache_len: int) -> CacheBytes:
    if isinstance(layers, StateLayers):
        return _state(layers, run)
    window = _window(layers)
    cells = max_cache_len if window is None else min(window, max_cache_len)
    held = int(cells * run.batch * layers.layers * _row(layers, run.element))
    indexed = isinstance(layers, LatentAttention) and layers.index_dim > 0
    counters = (2 if indexed else 1) * layers.layers if run.version >= STATIC_COUNTERS_SINCE else 0
    return CacheBytes(held, held, COUNTER * counters)


def _state(layers: StateLayers, run: Run) -> CacheBytes:
    """All taps of the convolution in the model's dtype, and the recurrent state."""
    conv = layers.conv_kernel * layers.channels() * run.element
    recurrent = layers.state_elements() * _state_element(run)
    held = int(run.batch * layers.layers * (conv + recurrent))
    return CacheBytes(held, held)


def _state_element(run: Run) -> Fraction:
    if run.version >= STATES_IN_FP32_SINCE:
        return STATE_ELEMENT
    if STATES_SINCE <= run.version <= STATES_IN_MODEL_DTYPE_TO:
        return run.element
    raise ShapeError(
        "layers",
        f"states of {_name(run.version)} are not known; those of {_name(STATES_SINCE)} to "
        f"{_name(STATES_IN_MODEL_DTYPE_TO)} and from {_name(STATES_IN_FP32_SINCE)} on are",
    )


def _all_full(layers: Sequence[Layers]) -> list[FullAttention]:
    full = [each for each in layers if type(each) is FullAttention]
    if len(full) != len(layers):
        raise ShapeError("layers", "a QuantizedCache takes full attention in every layer alone")
    return full


def _quantised(layers: FullAttention, run: Run, how: Quantisation) -> CacheBytes:
    residual = run.decoded % how.residual_length
    heads = run.batch * layers.kv_heads
    held = residual * heads * (layers.k_dim + layers.v_dim) * run.element
    for width, axis in ((layers.k_dim, how.axis_key), (layers.v_dim, how.axis_value)):
        # The prompt is quantised at once, then all that is there each time that residual_length
        # tokens have come. Two of these lengths that divide show that those between them do.
        for tokens in sorted({run.prompt, _first_again(run, how), run.tokens - residual}):
            elements = tokens * heads * width
            packed = _packed(elements, run.batch, width, axis, how)
        held += packed + 2 * elements // how.q_group_size * run.element
    total = int(layers.layers * held)
    return CacheBytes(total, total)


def _first_again(run: Run, how: Quantisation) -> int:
    """Tokens that are quantised when it is done for the second time; the prompt, if it is not."""
    period = how.residual_length
    return run.prompt + (period if run.decoded >= period else 0)


def _packed(elements: int, batch: int, width: int, axis: int, how: Quantisation) -> int:
    if how.backend == "quanto":
        return _quanto_bytes(elements, batch if axis == 0 else width, axis, how)
    return _hqq_bytes(elements, axis, how)


def _quanto_bytes(elements: int, preserved: int, axis: int, how: Quantisation) -> int:
    """Packed bytes of one tensor: grouped rows are packed into the bytes of the first ones."""
    _choose("nbits", how.nbits, _QUANTO_BITS)
    _choose("axis", axis, (0, -1))
    _divide("q_group_size", elements // preserved, how.q_group_size)
    rows, columns = _grouped(elements, how.q_group_size, groups_first=axis == 0)
    return -(-rows * how.nbits // _BITS_OF_A_BYTE) * columns


def _hqq_bytes(elements: int, axis: int, how: Quantisation) -> int:
    """Packed bytes of one tensor; rows that don't fill a byte can't be packed, but for 3 bits."""
    _choose("nbits", how.nbits, _HQQ_BITS)
    _choose("axis", axis, (0, 1))
    _divide("q_group_size", elements, how.q_group_size)
    rows, columns = _grouped(elements, how.q_group_size, groups_first=axis == 1)
    if how.nbits == _HQQ_THREE_BITS:
        return -(-rows // _HQQ_THREE_BITS_A_WORD) * _HQQ_WORD * columns
    _divide("nbits", rows, _BITS_OF_A_BYTE // how.nbits)
    return rows * how.nbits // _BITS_OF_A_BYTE * columns


def _grouped(elements: int, group: int, *, groups_first: bool) -> tuple[int, int]:
    """Rows and columns of a tensor whose elements stand in groups."""
    groups = elements // group
    return (groups, group) if groups_first else (group, groups)


def _choose(field: str, value: int, known: tuple[int, ...]) -> None:
    if value not in known:
        raise ShapeError(field, f"{value} is none of {', '.join(map(str, known))}")


def _divide(field: str, size: int, parts: int) -> None:
    if not size or size % parts:
        raise ShapeError(field, f"{size:,} elements or rows don't divide by {parts}")
