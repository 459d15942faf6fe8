"""llama.cpp, and Ollama on top of it, as engines: whole sequences, each with cells of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

from upheld.arithmetic.cache import token_formula
from upheld.arithmetic.dtypes import CacheDtype
from upheld.arithmetic.engines.budgets import ShareOfDevice
from upheld.arithmetic.engines.engine import Engine
from upheld.arithmetic.engines.llama_cpp import PADDING, ollama_sliding_cells
from upheld.arithmetic.engines.llama_cpp_caches import Context, TokenCache, caches
from upheld.arithmetic.engines.plan import Need, Start
from upheld.arithmetic.engines.whole import WholeSequences
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.layouts import Layers, TokenLayers
from upheld.arithmetic.layouts.chunked import ChunkedAttention
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention
from upheld.arithmetic.layouts.state import StateLayers
from upheld.records.units import count

# `num_batch` of Ollama, unless it is told otherwise.
BATCH = 512

_IN_A_WINDOW = (SlidingAttention, ChunkedAttention)

P = TypeVar("P", bound="SlotPlan")


@dataclass(frozen=True)
class SlotPlan(WholeSequences):
    """Slots of llama-server, `--parallel` of them, with K and V in `dtype`."""

    dtype: CacheDtype

    def needs(self, sequences: int, tokens: int) -> Sequence[Need]:
        """The cells of each slot, and its states."""
        found = caches(self.layouts, self._context(sequences, tokens))
        full = [each for each in self.attention if not isinstance(each, _IN_A_WINDOW)]
        needs = [
            self._need([each for each in kept if each is not None], layers)
            for kept, layers in (
                ((found.full, found.indexer), full),
                ((found.sliding,), self.windowed),
            )
            if layers
        ]
        if found.state is not None:
            state = next(each for each in self.layouts if isinstance(each, StateLayers))
            size = found.state.r_bytes + found.state.s_bytes
            needs.append(Need(state, size, f"{count(sequences, 'sequence')}, states in fp32"))
        return needs

    @property
    def attention(self) -> list[TokenLayers]:
        """The layers that are not states alone."""
        return [each for each in self.layouts if not isinstance(each, StateLayers)]

    @property
    def windowed(self) -> list[TokenLayers]:
        """Those of them that look back over a window or a chunk."""
        return [each for each in self.attention if isinstance(each, _IN_A_WINDOW)]

    def _context(self, sequences: int, tokens: int) -> Context:
        return Context(
            n_ctx=sequences * tokens,
            n_seq=sequences,
            k_type=self.dtype,
            v_type=self.dtype,
            padding=self.block_size,
        )

    def _need(self, kept: Sequence[TokenCache], layers: Sequence[TokenLayers]) -> Need:
        words = " + ".join(_formula(each, self.dtype) for each in layers)
        formula = f"{count(kept[0].streams, 'slot')} × {count(kept[0].cells, 'cell')} × "
        formula += words if len(layers) == 1 else f"({words})"
        return Need(layers[0], sum(each.k_bytes + each.v_bytes for each in kept), formula)


def _formula(layers: TokenLayers, dtype: CacheDtype) -> str:
    """What one token takes; an indexer's key is of the dtype of keys."""
    if not isinstance(layers, LatentAttention) or not layers.index_dim:
        return token_formula(layers, dtype, 1)
    widths = f"{layers.latent} + {layers.rope} + {layers.index_dim} of the indexer"
    return f"{layers.layers:,} layers × ({widths}) × {dtype.element} B"


def _bytes(layers: TokenLayers, dtype: CacheDtype) -> Fraction:
    """Bytes of one token in all these layers."""
    row = layers.token_bytes(dtype)
    if isinstance(layers, LatentAttention):
        row += dtype.head_bytes(layers.index_dim)
    return layers.layers * row


@dataclass(frozen=True)
class OllamaPlan(SlotPlan):
    """Ollama's own engine: layers in a window have as many cells however small the window is."""

    def needs(self, sequences: int, tokens: int) -> Sequence[Need]:
        """The cells of each sequence; those of a window are bounded by Ollama."""
        needs = []
        for need in super().needs(sequences, tokens):
            if not isinstance(need.layout, _IN_A_WINDOW):
                needs.append(need)
                continue
            cells = ollama_sliding_cells(sequences, BATCH)
            size = sum(each.layers * each.token_bytes(self.dtype) for each in self.windowed)
            words = " + ".join(token_formula(each, self.dtype, 1) for each in self.windowed)
            needs.append(Need(need.layout, int(cells * size), f"{count(cells, 'cell')} × {words}"))
        return needs


def slot_plan(layers: Sequence[Layers], start: Start) -> SlotPlan:
    """The caches of llama-server with `--parallel` slots that do not share their cells.

    Raises:
        ShapeError: a row that the dtype's blocks do not divide, or windows that differ.
    """
    return _plan(SlotPlan, layers, start)


def ollama_plan(layers: Sequence[Layers], start: Start) -> OllamaPlan:
    """The caches of Ollama with `OLLAMA_NUM_PARALLEL` sequences.

    Raises:
        ShapeError: see slot_plan; or layers with a state.
    """
    if any(isinstance(each, StateLayers) for each in layers):
        raise ShapeError("engine", "how Ollama caches states is not known")
    return _plan(OllamaPlan, layers, start)


def _plan(kind: type[P], layers: Sequence[Layers], start: Start) -> P:
    if start.tensor_parallel > 1:
        raise ShapeError("tensor_parallel", "layers are shared out whole: say pipeline_parallel")
    kept = tuple(each for each in layers if each.layers)
    if not kept:
        raise ShapeError("layers", "no layer has a cache")
    dtype = start.kv_cache_dtype
    attention = [each for each in kept if not isinstance(each, StateLayers)]
    token = int(sum(_bytes(each, dtype) for each in attention))
    return kind(
        layouts=kept,
        block_size=start.block_size,
        block_bytes=start.block_size * token,
        token_bytes=token,
        max_num_seqs=start.max_num_seqs,
        dtype=dtype,
    )


def stage_sizes(layers: int, pipeline_parallel_size: int) -> list[int]:
    """Layers of each of several equal devices; the output counts as one more layer.

    Source: src/llama-model.cpp, load_tensors (`--split-mode layer`), read in b11434.
    """
    devices = [at * pipeline_parallel_size // (layers + 1) for at in range(layers)]
    return [devices.count(device) for device in range(pipeline_parallel_size)]


LLAMA_CPP = Engine(
    name="llama.cpp",
    title="llama.cpp",
    kv_cache_dtypes=(
        "fp32", "fp16", "bf16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl",
    ),
    budget=ShareOfDevice(),
    share="the share of memory",
    default_share=None,
    plan=slot_plan,
    block="what cells are padded to",
    default_block_size=PADDING,
    stages=stage_sizes,
    default_kv_cache_dtype="fp16",
)  # fmt: skip
OLLAMA = replace(
    LLAMA_CPP,
    name="ollama",
    title="Ollama",
    kv_cache_dtypes=("fp16", "q8_0", "q4_0"),
    plan=ollama_plan,
)
