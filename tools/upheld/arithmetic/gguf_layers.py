"""The cached layers of a GGUF file, from its keys and what is known of its architecture."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from upheld.arithmetic.configs import CachedLayers
from upheld.arithmetic.gguf_architectures import (
    GgufArchitecture,
    GgufState,
    IndexerIn,
    StatesIn,
)
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
        state = self._state(blocks) if self.known.state is not None else None
        heads = self.heads(blocks)
        kv_heads = self.kv_heads(blocks)
        feeds = self._only_feeds_forward(blocks)
        keeps_state = self._keeps_state(layers, kv_heads, feeds)
        slides = self.slides(layers)
        own = self._layers_with_own_cache(layers)
        index_dims = self._index_dims(layers)
        beside = self.known.states_in is StatesIn.BESIDE_ATTENTION
        for at in range(layers):
            if keeps_state[at] and state is not None:
                order[at].append(state)
                if not beside:
                    continue
            if at >= own or feeds[at]:
                continue
            if not kv_heads[at]:
                if not self.known.feed_forward_layers:
                    raise gguf_error(
                        f"{self.keys.key('attention.head_count_kv')} is 0 in layer {at}, where the "
                        f"architecture {self.keys.architecture} has attention"
                    )
                continue
            layout = self._attention(heads[at], kv_heads[at], slides[at])
            if index_dims[at] and isinstance(layout, LatentAttention):
                layout = replace(layout, index_dim=index_dims[at])
            order[at].append(layout)
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
        if self.known.states_in is StatesIn.ALL:
            return [0] * blocks
        return self.keys.per_layer("attention.head_count", blocks)

    def kv_heads(self, blocks: int) -> list[int]:
        """Heads of each block whose keys and values are cached, or expand from a latent row."""
        suffix = "attention.head_count_kv"
        heads = self.heads(blocks)
        if self.known.states_in is StatesIn.ALL:
            return heads
        if self.caches_latents:
            self.keys.assume(
                "num_key_value_heads",
                "num_key_value_heads is head_count: a latent row expands to one for each head",
            )
            attends = self.keys.per_layer(suffix, blocks, 1)
            if max(attends) > 1:
                raise gguf_error(f"{self.keys.key(suffix)} is {max(attends)}, and a latent is one")
            return [many if few else 0 for many, few in zip(heads, attends, strict=True)]
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

    @property
    def caches_latents(self) -> bool:
        """Whether latent rows are cached, and not the keys and values that they expand to.

        llama.cpp caches a latent where the file names the expanded widths apart.
        """
        return self.known.latent and self.keys.says(_EXPANDED_KEY)

    def _only_feeds_forward(self, blocks: int) -> list[bool]:
        if not self.known.one_part_a_layer:
            return [False] * blocks
        return [bool(width) for width in self.keys.per_layer("feed_forward_length", blocks, 0)]

    def _keeps_state(self, layers: int, kv_heads: list[int], feeds: list[bool]) -> list[bool]:
        match self.known.states_in:
            case None:
                return [False] * layers
            case StatesIn.ALL | StatesIn.BESIDE_ATTENTION:
                return [True] * layers
            case StatesIn.BETWEEN:
                return self._keeps_state_between(layers)
        return [not kv_heads[at] and not feeds[at] for at in range(layers)]

    def _keeps_state_between(self, layers: int) -> list[bool]:
        suffix = "attention.recurrent_layers"
        if isinstance(self.keys.get(suffix), GgufArray):
            return self._flags(suffix, layers)
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

    def _flags(self, suffix: str, layers: int) -> list[bool]:
        """Of each layer, whether the list of the file has it so."""
        found = self.keys.get(suffix)
        if not isinstance(found, GgufArray) or found.items is None or found.length < layers:
            length = found.length if isinstance(found, GgufArray) else 0
            raise gguf_error(
                f"{self.keys.key(suffix)} has {length:,} items, and there are {layers:,} layers"
            )
        return [bool(each) for each in found.items[:layers]]

    def _window(self) -> int:
        """Tokens of the window or chunk; 0 where there is none."""
        suffix = "attention.sliding_window"
        if self.keys.has(suffix):
            return self.keys.count(suffix, least=0)
        if self.known.window is None:
            return 0
        self.keys.assume(
            "cached_layers",
            f"{'chunks are' if self.known.chunked else 'the window is'} {self.known.window:,} "
            f"tokens, as llama.cpp has it for {self.keys.architecture}: the file does not say",
        )
        return self.known.window

    def _may_slide(self, layers: int) -> bool:
        of_that_many = self.known.slides_with_layers in (None, layers)
        if self.known.may_slide and of_that_many:
            return True
        if self.keys.says("attention.sliding_window"):
            self.keys.assume(
                "cached_layers",
                f"no layer slides, as llama.cpp has it for {self.keys.architecture}"
                f"{'' if of_that_many else f' of {layers:,} layers'}: it leaves "
                f"{self.keys.key('attention.sliding_window')} out",
            )
        return False

    def slides(self, layers: int) -> list[bool]:
        """Of each layer, whether it attends within a window or a chunk."""
        if not self._may_slide(layers) or not self._window():
            return [False] * layers
        suffix = "attention.sliding_window_pattern"
        if isinstance(self.keys.get(suffix), GgufArray):
            return self._flags(suffix, layers)
        if self.known.every_layer_slides:
            self.keys.assume(
                "cached_layers",
                "every layer that attends slides, as llama.cpp has it for "
                f"{self.keys.architecture}: the file does not say",
            )
            return [True] * layers
        period = self.known.period or 1
        if self.known.pattern_in_file or self.keys.has(suffix):
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
        if self.caches_latents:
            return self._latent(heads)
        if self.known.latent:
            self.keys.assume(
                "cached_layers",
                "the keys and values that a latent row expands to are cached, as llama.cpp has it "
                f"where there is no {self.keys.key(_EXPANDED_KEY)}",
            )
        k_dim, v_dim = (self.width(f"{of}_length", heads, slides) for of in ("key", "value"))
        if not slides:
            return FullAttention(1, kv_heads, k_dim, v_dim)
        kind = ChunkedAttention if self.known.chunked else SlidingAttention
        return kind(1, kv_heads, k_dim, v_dim, self._window())

    def _index_dims(self, layers: int) -> list[int]:
        """Of each layer, the width of the key that its indexer caches; 0 where it has none."""
        if self.known.indexer is None:
            return [0] * layers
        width = self.keys.count("attention.indexer.key_length")
        # An indexer stands beside latent rows, whose expanded widths are named apart.
        self.keys.count(_EXPANDED_KEY)
        if self.known.indexer is IndexerIn.ALL:
            return [width] * layers
        suffix = "attention.indexer.types"
        if isinstance(self.keys.get(suffix), GgufArray):
            return [width * own for own in self._flags(suffix, layers)]
        if self.keys.has(suffix):
            return [width * self.keys.count(suffix, least=0, most=1)] * layers
        if self.keys.count("context_length") >= GLM_5_2_CONTEXT:
            raise gguf_error(
                f"{self.keys.key(suffix)} is missing: in models of {GLM_5_2_CONTEXT:,} tokens, "
                "not every layer has an indexer of its own"
            )
        self.keys.assume(
            "cached_layers",
            f"every layer has an indexer of its own, as llama.cpp has it for "
            f"{self.keys.architecture} of fewer than {GLM_5_2_CONTEXT:,} tokens: the file does "
            "not say",
        )
        return [width] * layers

    def _latent(self, heads: int) -> LatentAttention:
        latent = self.keys.count("attention.kv_lora_rank")
        rope = self.keys.count("attention.key_length", least=latent) - latent
        key = self.keys.count(_EXPANDED_KEY, least=rope + 1)
        value = self.keys.count("attention.value_length_mla")
        return LatentAttention(1, latent, rope, 0, heads, key - rope, value)

    def width(self, what: str, heads: int, slides: bool = False) -> int:
        """`key_length` or `value_length`: elements of one head, of a layer with as many.

        A layer in a window may have widths of its own.
        """
        suffix = f"attention.{what}"
        if slides and self.keys.has(f"{suffix}_swa"):
            return self.keys.count(f"{suffix}_swa")
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

    def _state(self, blocks: int) -> StateLayers:
        if self.known.state is GgufState.CONVOLUTION:
            return ShortConvolution(
                1, self.keys.count("shortconv.l_cache"), self.keys.count("embedding_length")
            )
        self.keys.assume(
            "cached_layers", "the state is kept in the model's dtype: the file does not say"
        )
        taps = self.keys.count("ssm.conv_kernel")
        if self.known.state is GgufState.KIMI_DELTA:
            # llama.cpp takes the heads of the first layer for those of every state.
            heads, width = self.heads(blocks)[0], self.keys.count("kda.head_dim")
            return GatedDeltaNet(1, taps, heads, heads, width, width)
        inner = self.keys.count("ssm.inner_size")
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


# From GLM 5.2 on, layers share indexers.
GLM_5_2_CONTEXT = 1_048_576
_EXPANDED_KEY = "attention.key_length_mla"
_ORDER = (FullAttention, LatentAttention, SlidingAttention, ChunkedAttention)


def _place(layers: Layers) -> int:
    """Attention before states, full attention before windows, as configs/cached.py has it."""
    return _ORDER.index(type(layers)) if type(layers) in _ORDER else len(_ORDER)
