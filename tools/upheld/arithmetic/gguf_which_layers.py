"""Which layers of a GGUF file slide, keep a state, or own an indexer or a cache.

The file's own lists and periods come first; what llama.cpp has in its code is told as assumed.
"""

from __future__ import annotations

from dataclasses import dataclass

from upheld.arithmetic.gguf_architectures import GgufArchitecture, IndexerIn, StatesIn
from upheld.arithmetic.gguf_header import GgufArray
from upheld.arithmetic.gguf_keys import GgufKeys, gguf_error

# Expanded widths of a latent have a name of their own where llama.cpp caches the latent.
EXPANDED_KEY = "attention.key_length_mla"
# From GLM 5.2 on, layers share indexers.
GLM_5_2_CONTEXT = 1_048_576


@dataclass(frozen=True, slots=True)
class WhichLayers:
    """Answers for each of the first `layers` layers."""

    keys: GgufKeys
    known: GgufArchitecture

    def slide(self, layers: int) -> list[bool]:
        """Of each layer, whether it attends within a window or a chunk."""
        if not self._may_slide(layers) or not self.window():
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

    def window(self) -> int:
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

    def only_feed_forward(self, blocks: int) -> list[bool]:
        """Of each of all blocks, whether it is a feed-forward network and nothing else."""
        if not self.known.one_part_a_layer:
            return [False] * blocks
        return [bool(width) for width in self.keys.per_layer("feed_forward_length", blocks, 0)]

    def keep_state(self, layers: int, kv_heads: list[int], feeds: list[bool]) -> list[bool]:
        """Of each layer, whether it keeps a state."""
        match self.known.states_in:
            case None:
                return [False] * layers
            case StatesIn.ALL | StatesIn.BESIDE_ATTENTION:
                return [True] * layers
            case StatesIn.BETWEEN:
                return self._keep_state_between(layers)
        return [not kv_heads[at] and not feeds[at] for at in range(layers)]

    def _keep_state_between(self, layers: int) -> list[bool]:
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

    def with_own_cache(self, layers: int) -> int:
        """How many, from the first, have a cache; the others use that of an earlier one."""
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

    def index_dims(self, layers: int) -> list[int]:
        """Of each layer, the width of the key that its indexer caches; 0 where it has none."""
        if self.known.indexer is None:
            return [0] * layers
        width = self.keys.count("attention.indexer.key_length")
        # An indexer stands beside latent rows, whose expanded widths are named apart.
        self.keys.count(EXPANDED_KEY)
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
            "every layer has an indexer of its own, as llama.cpp has it for "
            f"{self.keys.architecture} of fewer than {GLM_5_2_CONTEXT:,} tokens: the file does "
            "not say",
        )
        return [width] * layers

    def _flags(self, suffix: str, layers: int) -> list[bool]:
        """Of each layer, whether the list of the file has it so."""
        found = self.keys.get(suffix)
        if not isinstance(found, GgufArray) or found.items is None or found.length < layers:
            length = found.length if isinstance(found, GgufArray) else 0
            raise gguf_error(
                f"{self.keys.key(suffix)} has {length:,} items, and there are {layers:,} layers"
            )
        return [bool(each) for each in found.items[:layers]]
