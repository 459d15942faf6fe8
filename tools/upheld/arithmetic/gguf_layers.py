"""The cached layers of a GGUF file, from its keys and what is known of its architecture."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from upheld.arithmetic.configs import CachedLayers
from upheld.arithmetic.gguf_architectures import GgufArchitecture, GgufState, StatesIn
from upheld.arithmetic.gguf_header import GgufArray
from upheld.arithmetic.gguf_keys import GgufKeys, gguf_error
from upheld.arithmetic.layouts import Layers
from upheld.arithmetic.layouts.chunked import ChunkedAttention
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention
from upheld.arithmetic.layouts.state import (
    GatedDeltaNet,
    Mamba1,
    Mamba2,
    ShortConvolution,
    StateLayers,
)


@dataclass(frozen=True, slots=True)
class GgufLayers:
    """Reads heads and layers; `blocks` counts all layers, those that only draft as well."""

    keys: GgufKeys
    known: GgufArchitecture

    def cached(self, layers: int, blocks: int) -> CachedLayers:
        """The first `layers` of all blocks, those that are alike counted together, and their order.

        Raises:
            ConfigError: a key that is missing, no count, or contradicts another.
        """
        order: list[list[Layers]] = [[] for _ in range(layers)]
        state = self._state() if self.known.state is not None else None
        heads = self.heads(blocks)
        kv_heads = self.kv_heads(blocks)
        keeps_state = self._keeps_state(layers, kv_heads, blocks)
        slides = self._slides(layers)
        own = self._layers_with_own_cache(layers)
        beside = self.known.states_in is StatesIn.BESIDE_ATTENTION
        for at in range(layers):
            if keeps_state[at] and state is not None:
                order[at].append(state)
                if not beside:
                    continue
            if at >= own:
                continue
            if not kv_heads[at]:
                if not self.known.feed_forward_layers:
                    raise gguf_error(
                        f"{self.keys.key('attention.head_count_kv')} is 0 in layer {at}, where the "
                        f"architecture {self.keys.architecture} has attention"
                    )
                continue
            order[at].append(self._attention(heads[at], kv_heads[at], slides[at]))
        counts = Counter(layout for layouts in order for layout in layouts)
        if not counts:
            raise gguf_error("no layer has a cache")
        found = sorted(counts, key=_place)
        return CachedLayers(
            tuple(replace(layout, layers=counts[layout]) for layout in found),
            tuple(tuple(map(found.index, layouts)) for layouts in order),
        )

    def heads(self, blocks: int) -> list[int]:
        """Query heads of each block."""
        default = 0 if self.known.states_in is StatesIn.ALL else None
        return self.keys.per_layer("attention.head_count", blocks, default)

    def kv_heads(self, blocks: int) -> list[int]:
        """Heads of each block whose keys and values are cached."""
        suffix = "attention.head_count_kv"
        heads = self.heads(blocks)
        if self.known.states_in is StatesIn.ALL:
            return heads
        if self.known.latent:
            self.keys.assume(
                "num_key_value_heads",
                "num_key_value_heads is head_count: a latent row expands to one for each head",
            )
            return heads
        if not self.keys.has(suffix):
            self.keys.assume(
                "num_key_value_heads",
                f"head_count_kv is head_count: {self.keys.key(suffix)} is not there, as where each "
                "head has its own keys and values",
            )
            return heads
        found = self.keys.per_layer(suffix, blocks)
        for at, (many, few) in enumerate(zip(heads, found, strict=True)):
            if few and (not many or many % few):
                raise gguf_error(
                    f"{self.keys.key(suffix)} is {few} in layer {at}, and "
                    f"{self.keys.key('attention.head_count')} is {many}, which can't share them "
                    "evenly"
                )
        return found

    def _keeps_state(self, layers: int, kv_heads: list[int], blocks: int) -> list[bool]:
        match self.known.states_in:
            case None:
                return [False] * layers
            case StatesIn.ALL | StatesIn.BESIDE_ATTENTION:
                return [True] * layers
            case StatesIn.BETWEEN:
                period = self.known.state_period or 1
                if self.keys.has("full_attention_interval"):
                    period = self.keys.count("full_attention_interval")
                else:
                    self.keys.assume(
                        "cached_layers",
                        f"one layer in {period} has full attention and the others keep a state, "
                        f"as llama.cpp has it for {self.keys.architecture}: the file does not say",
                    )
                return [bool((at + 1) % period) for at in range(layers)]
        feeds = self.keys.per_layer("feed_forward_length", blocks, 0)
        only_feeds = self.known.feed_forward_layers
        return [not kv_heads[at] and not (only_feeds and feeds[at]) for at in range(layers)]

    def _window(self) -> int:
        """Tokens of the window or chunk; 0 where there is none."""
        suffix = "attention.sliding_window"
        if self.known.chunked:
            if self.keys.has(suffix) and self.keys.count(suffix, least=0) == 0:
                return 0
        elif self.keys.has(suffix):
            return self.keys.count(suffix, least=0)
        if self.known.window is None:
            return 0
        self.keys.assume(
            "cached_layers",
            f"{'chunks are' if self.known.chunked else 'the window is'} {self.known.window:,} "
            f"tokens, as llama.cpp has it for {self.keys.architecture}: the file does not say",
        )
        return self.known.window

    def _slides(self, layers: int) -> list[bool]:
        if not self.known.may_slide or not self._window():
            return [False] * layers
        suffix = "attention.sliding_window_pattern"
        pattern = self.keys.get(suffix)
        if isinstance(pattern, GgufArray):
            if pattern.items is None or pattern.length < layers:
                raise gguf_error(
                    f"{self.keys.key(suffix)} has {pattern.length:,} items, and there are "
                    f"{layers:,} layers"
                )
            return [bool(each) for each in pattern.items[:layers]]
        if self.known.every_layer_slides:
            self.keys.assume(
                "cached_layers",
                f"every layer slides, as Transformers has it for {self.keys.architecture}: the "
                "file does not say",
            )
            return [True] * layers
        period = self.known.period or 1
        if self.keys.has(suffix):
            period = self.keys.count(suffix)
        else:
            first = ", the first of each" if self.known.full_comes_first else ""
            verb = "attend in chunks" if self.known.chunked else "slide"
            self.keys.assume(
                "cached_layers",
                f"one layer in {period} has full attention{first} and the others {verb}, as "
                f"llama.cpp has it for {self.keys.architecture}: the file does not say",
            )
        full = 0 if self.known.full_comes_first else period - 1
        return [at % period != full for at in range(layers)]

    def _layers_with_own_cache(self, layers: int) -> int:
        suffix = "attention.shared_kv_layers"
        if self.keys.has(suffix):
            shared = self.keys.count(suffix, least=0)
            if shared >= layers:
                raise gguf_error(f"{self.keys.key(suffix)} is {shared:,} of {layers:,} layers")
            return layers - shared
        own = self.known.layers_with_own_cache
        if own is None or own >= layers:
            return layers
        self.keys.assume(
            "cached_layers",
            f"layers from {own} on use the cache of an earlier one, as llama.cpp has it for "
            f"{self.keys.architecture}: the file does not say",
        )
        return own

    def _attention(self, heads: int, kv_heads: int, slides: bool) -> Layers:
        if self.known.latent:
            return self._latent(heads)
        if not slides:
            k_dim, v_dim = self.width("key_length", heads), self.width("value_length", heads)
            return FullAttention(1, kv_heads, k_dim, v_dim)
        k_dim, v_dim = (self._sliding_width(what, heads) for what in ("key_length", "value_length"))
        kind = ChunkedAttention if self.known.chunked else SlidingAttention
        window = self.known.window if self.known.chunked else self._window()
        return kind(1, kv_heads, k_dim, v_dim, window or 0)

    def _latent(self, heads: int) -> LatentAttention:
        rope = self.keys.count("rope.dimension_count")
        # Files made since llama.cpp caches the latent name the expanded widths apart.
        apart = "_mla" if self.keys.has("attention.key_length_mla") else ""
        key = self.keys.count(f"attention.key_length{apart}", least=rope + 1)
        value = self.keys.count(f"attention.value_length{apart}")
        latent = self.keys.count("attention.kv_lora_rank")
        return LatentAttention(1, latent, rope, 0, heads, key - rope, value)

    def width(self, what: str, heads: int) -> int:
        """`key_length` or `value_length`: elements of one head, of a layer with as many."""
        suffix = f"attention.{what}"
        if self.keys.has(suffix):
            return self.keys.count(suffix)
        hidden = self.keys.count("embedding_length")
        if hidden % heads:
            raise gguf_error(
                f"{self.keys.key(suffix)} is missing, and "
                f"{self.keys.key('embedding_length')} {hidden} does not divide by "
                f"{self.keys.key('attention.head_count')} {heads}"
            )
        return hidden // heads

    def _sliding_width(self, what: str, heads: int) -> int:
        """The same of a layer in a window, which may have widths of its own."""
        if self.keys.has(f"attention.{what}_swa"):
            return self.keys.count(f"attention.{what}_swa")
        return self.width(what, heads)

    def _state(self) -> StateLayers:
        if self.known.state is GgufState.CONVOLUTION:
            return ShortConvolution(
                1, self.keys.count("shortconv.l_cache"), self.keys.count("embedding_length")
            )
        self.keys.assume(
            "cached_layers", "the state is kept in the model's dtype: the file does not say"
        )
        taps, inner = self.keys.count("ssm.conv_kernel"), self.keys.count("ssm.inner_size")
        width = self.keys.count("ssm.state_size")
        if self.known.state is GgufState.MAMBA:
            return Mamba1(1, taps, inner, width)
        heads, groups = self.keys.count("ssm.time_step_rank"), self.keys.count("ssm.group_count")
        for name, many, few in (
            ("ssm.inner_size", inner, heads),
            ("ssm.time_step_rank", heads, groups),
        ):
            if many % few:
                raise gguf_error(f"{self.keys.key(name)} is {many}, which does not divide by {few}")
        if self.known.state is GgufState.MAMBA2:
            return Mamba2(1, taps, heads, inner // heads, width, groups)
        return GatedDeltaNet(1, taps, heads, groups, width, inner // heads)


_ORDER = (FullAttention, LatentAttention, SlidingAttention, ChunkedAttention)


def _place(layers: Layers) -> int:
    """Attention before states, full attention before windows, as configs/cached.py has it."""
    return _ORDER.index(type(layers)) if type(layers) in _ORDER else len(_ORDER)
