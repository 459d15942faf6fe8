"""The cached layers of a GGUF file, from its keys and what is known of its architecture."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from upheld.arithmetic.configs import CachedLayers
from upheld.arithmetic.gguf_architectures import GgufArchitecture, GgufState, StatesIn
from upheld.arithmetic.gguf_keys import GgufKeys, gguf_error
from upheld.arithmetic.gguf_which_layers import EXPANDED_KEY, WhichLayers
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
        heads, kv_heads = self.heads(blocks), self.kv_heads(blocks)
        feeds = self.which.only_feed_forward(blocks)
        keeps_state = self.which.keep_state(layers, kv_heads, feeds)
        slides = self.which.slide(layers)
        own = self.which.with_own_cache(layers)
        index_dims = self.which.index_dims(layers)
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
            order[at].append(
                self._latent(heads[at], index_dims[at])
                if self.caches_latents
                else self._attention(heads[at], kv_heads[at], slides[at])
            )
        counts = Counter(layout for layouts in order for layout in layouts)
        if not counts:
            raise gguf_error("no layer has a cache")
        found = sorted(counts, key=_place)
        return CachedLayers(
            tuple(replace(layout, layers=counts[layout]) for layout in found),
            tuple(tuple(map(found.index, layouts)) for layouts in order),
            state_dtype="float32" if self.known.state is GgufState.KIMI_DELTA else None,
            sharing=layers - own,
        )

    @property
    def which(self) -> WhichLayers:
        """Which layers slide, keep a state, or have a cache of their own."""
        return WhichLayers(self.keys, self.known)

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
        return self.known.latent and self.keys.says(EXPANDED_KEY)

    def _attention(self, heads: int, kv_heads: int, slides: bool) -> Layers:
        if self.known.latent:
            self.keys.assume(
                "cached_layers",
                "the keys and values that a latent row expands to are cached, as llama.cpp has it "
                f"where there is no {self.keys.key(EXPANDED_KEY)}",
            )
        k_dim, v_dim = (self.width(f"{of}_length", heads, slides) for of in ("key", "value"))
        if not slides:
            return FullAttention(1, kv_heads, k_dim, v_dim)
        kind = ChunkedAttention if self.known.chunked else SlidingAttention
        return kind(1, kv_heads, k_dim, v_dim, self.which.window())

    def _latent(self, heads: int, index_dim: int) -> LatentAttention:
        latent = self.keys.count("attention.kv_lora_rank")
        rope = self.keys.count("attention.key_length", least=latent) - latent
        key = self.keys.count(EXPANDED_KEY, least=rope + 1)
        value = self.keys.count("attention.value_length_mla")
        return LatentAttention(1, latent, rope, index_dim, heads, key - rope, value)

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
        taps = self.keys.count("ssm.conv_kernel")
        if self.known.state is GgufState.KIMI_DELTA:
            self.keys.assume(
                "state_dtype", "the state is kept in float32, as engines do: the file does not say"
            )
            # llama.cpp takes the heads of the first layer for those of every state.
            heads, width = self.heads(blocks)[0], self.keys.count("kda.head_dim")
            if not heads:
                raise gguf_error(f"{self.keys.key('attention.head_count')} is 0 in the first layer")
            return GatedDeltaNet(1, taps, heads, heads, width, width)
        self.keys.assume(
            "cached_layers", "the state is kept in the model's dtype: the file does not say"
        )
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


_ORDER = (FullAttention, LatentAttention, SlidingAttention, ChunkedAttention)


def _place(layers: Layers) -> int:
    """Attention before states, full attention before windows, as configs/cached.py has it."""
    return _ORDER.index(type(layers)) if type(layers) in _ORDER else len(_ORDER)
