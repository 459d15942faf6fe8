"""A model from the header of its GGUF file: the shape, the cached layers, and what is stored.

Every fact is a key or a tensor of the file; what llama.cpp has in its code instead stands in
gguf_architectures, and is told as assumed. An architecture, or a fact that changes a cache, that
is not known is refused: it is never treated as plain attention.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from upheld.arithmetic.checkpoint_files import CheckpointError
from upheld.arithmetic.checkpoints import Checkpoint, stored_in
from upheld.arithmetic.config_json import ConfigModel, ConfigShape
from upheld.arithmetic.configs import ConfigError
from upheld.arithmetic.configs.fields import MAX_LAYERS
from upheld.arithmetic.gguf_architectures import ARCHITECTURES
from upheld.arithmetic.gguf_header import GgufArray, GgufHeader, read_gguf_header
from upheld.arithmetic.gguf_keys import GgufKeys, gguf_error
from upheld.arithmetic.gguf_layers import GgufLayers
from upheld.arithmetic.gguf_unread import refuse_unread
from upheld.arithmetic.gguf_which_layers import EXPANDED_KEY
from upheld.arithmetic.layouts import Layers
from upheld.arithmetic.layouts.full import FullAttention
from upheld.records.shorten import shorten

_SIXTEEN_BITS = {"F16": "fp16", "BF16": "bf16"}

# All tensors of a dense decoder whose weights follow from its shape; layers count from blk.0.
_DENSE = frozenset({
    "token_embd.weight", "output_norm.weight", "output.weight", "rope_freqs.weight",
    "blk.attn_norm.weight", "blk.ffn_norm.weight", "blk.attn_output.weight",
    "blk.attn_q.weight", "blk.attn_k.weight", "blk.attn_v.weight",
    "blk.attn_q.bias", "blk.attn_k.bias", "blk.attn_v.bias",
    "blk.attn_q_norm.weight", "blk.attn_k_norm.weight",
    "blk.ffn_gate.weight", "blk.ffn_up.weight", "blk.ffn_down.weight",
})  # fmt: skip
_NEEDED_OF_DENSE = frozenset({
    "token_embd.weight", "output_norm.weight", "blk.attn_norm.weight", "blk.ffn_norm.weight",
    "blk.attn_q.weight", "blk.attn_k.weight", "blk.attn_v.weight", "blk.attn_output.weight",
    "blk.ffn_gate.weight", "blk.ffn_up.weight", "blk.ffn_down.weight",
})  # fmt: skip
_BLOCK = re.compile(r"^blk\.(\d{1,6})\.")


@dataclass(frozen=True, slots=True)
class GgufModel:
    """The model in a GGUF file.

    `facts` are the fields of a model record that the file gives, by name; heads and their width
    are missing where no layer has attention. `name` is general.name. `model` is a ConfigShape
    where the weights follow from the shape, as for a config.json. `unstated` are the fields whose
    value is not the file's own, as `model.assumed` says.
    """

    model: ConfigModel
    facts: Mapping[str, Any]
    stored: Checkpoint
    name: str | None
    unstated: frozenset[str]


def read_gguf_model(file: Path, origin: str = "the GGUF file") -> GgufModel:
    """The model that the header of the file describes; `origin` names the file in the result.

    Raises:
        ConfigError: not a GGUF file, an architecture or attention that is not known, or a key
            that is missing, no count, or contradicts another or a tensor.
    """
    try:
        header = read_gguf_header(file)
    except CheckpointError as error:
        raise ConfigError(str(error), error.help) from None
    return gguf_model_of(header, origin)


def gguf_model_of(header: GgufHeader, origin: str = "the GGUF file") -> GgufModel:
    """The model that the header describes.

    Raises:
        ConfigError: see read_gguf_model.
    """
    name = header.keys.get("general.architecture")
    if not isinstance(name, str) or name not in ARCHITECTURES:
        said = "missing" if name is None else f"{shorten(str(name))!r}, which is not known"
        raise ConfigError(
            f"general.architecture is {said}, and what is not known is never treated as plain "
            "attention",
            f"known: {', '.join(sorted(ARCHITECTURES))}",
        )
    if header.keys.get("split.count") not in (None, 0, 1):
        raise ConfigError(
            "it is one of several parts, and says nothing of the others",
            "join them first, as gguf-split --merge does",
        )
    keys = GgufKeys(header, name)
    return _Reading(keys, GgufLayers(keys, ARCHITECTURES[name])).model(origin)


@dataclass(frozen=True, slots=True)
class _Reading:
    keys: GgufKeys
    layers: GgufLayers

    def model(self, origin: str) -> GgufModel:
        refuse_unread(self.keys, self.layers.known)
        blocks = self.keys.count("block_count", most=MAX_LAYERS)
        drafts = self.keys.count_or("nextn_predict_layers", 0, least=0)
        if drafts >= blocks:
            raise gguf_error(f"{self.keys.key('nextn_predict_layers')} is {drafts}", "too many")
        layers = blocks - drafts
        if drafts:
            self.keys.assume(
                "num_hidden_layers",
                f"the {drafts} of {self.keys.key('nextn_predict_layers')} are not counted: they "
                "cache only where they draft",
            )
        cached = self.layers.cached(layers, blocks)
        facts = self._facts(layers, blocks)
        self._check_tensors(facts, layers, blocks)
        stored = stored_in(self.keys.header.tensors.values())
        computes_in = self._dtype()
        unstated = frozenset(self.keys.assumed.values())
        common: dict[str, Any] = {
            "architecture": self.keys.architecture,
            "cached": replace(cached, assumed=tuple(self.keys.assumed)),
            "max_position_embeddings": self.keys.count("context_length"),
            "torch_dtype": computes_in,
            "quantised": computes_in is None,
            "quantised_cache": None,
            "origin": origin,
            "assumed": tuple(self.keys.assumed),
            "origins": dict.fromkeys(unstated, f"assumed in part: not all is in {origin}"),
        }
        reason = self._weights_unknown(cached.layers, facts)
        model = (
            ConfigModel(**common, weights_unknown=reason)
            if reason is not None
            else ConfigShape(**common, **facts, **self._dense_flags())
        )
        called = self.keys.header.keys.get("general.name")
        return GgufModel(
            model,
            facts,
            stored,
            called if isinstance(called, str) else None,
            unstated,
        )

    def _facts(self, layers: int, blocks: int) -> dict[str, Any]:
        facts: dict[str, Any] = {"num_hidden_layers": layers}
        heads = max(self.layers.heads(blocks)[:layers])
        if heads:
            facts["num_attention_heads"] = heads
            facts["num_key_value_heads"] = max(self.layers.kv_heads(blocks)[:layers])
            facts["head_dim"] = self._head_dim(heads)
        facts["hidden_size"] = self.keys.count("embedding_length")
        feeds = self._feed_forward(blocks)
        if feeds:
            facts["intermediate_size"] = feeds
        facts["vocab_size"] = self._vocabulary()
        facts["tie_word_embeddings"] = "output.weight" not in self.keys.header.tensors
        return facts

    def _head_dim(self, heads: int) -> int:
        if self.keys.says(EXPANDED_KEY):
            return self.keys.count(EXPANDED_KEY)
        return self.layers.width("key_length", heads)

    def _feed_forward(self, blocks: int) -> int:
        widths = set(self.keys.per_layer("feed_forward_length", blocks, 0)) - {0}
        if len(widths) > 1:
            self.keys.assume(
                "intermediate_size",
                f"intermediate_size is {max(widths)}, the widest of "
                f"{self.keys.key('feed_forward_length')}",
            )
        if widths:
            return max(widths)
        experts = self.keys.count_or("expert_feed_forward_length", 0)
        if experts:
            self.keys.assume(
                "intermediate_size",
                f"intermediate_size is {experts}, that of one expert: the file has no other",
            )
        return experts

    def _vocabulary(self) -> int:
        embedding = self.keys.header.tensors.get("token_embd.weight")
        if embedding is None or len(embedding.shape) != 2:
            raise gguf_error(
                "token_embd.weight is missing, or no matrix", "give the file of a whole model"
            )
        return embedding.shape[1]

    def _check_tensors(self, facts: Mapping[str, Any], layers: int, blocks: int) -> None:
        """Refuses tensors whose shape contradicts a key."""
        named = {int(m[1]) for each in self.keys.header.tensors if (m := _BLOCK.match(each))}
        if named != set(range(blocks)):
            raise gguf_error(
                f"its tensors are of {len(named):,} layers, and {self.keys.key('block_count')} is "
                f"{blocks:,}"
            )
        tokens = self.keys.header.keys.get("tokenizer.ggml.tokens")
        if isinstance(tokens, GgufArray) and tokens.length not in (0, facts["vocab_size"]):
            raise gguf_error(
                f"token_embd.weight has {facts['vocab_size']:,} rows, and tokenizer.ggml.tokens "
                f"has {tokens.length:,} items"
            )
        wanted = {"token_embd.weight": ("embedding_length", 0, facts["hidden_size"])}
        if not self.layers.known.latent:
            wanted |= self._attention_widths(layers, blocks)
        for name, (fields, axis, size) in wanted.items():
            tensor = self.keys.header.tensors.get(name)
            if tensor is None:
                continue
            found = tensor.shape[axis] if axis < len(tensor.shape) else 1
            if found != size:
                raise gguf_error(
                    f"{name} is {found:,} wide, and {self.keys.key(fields)} asks for {size:,}"
                )

    def _attention_widths(self, layers: int, blocks: int) -> dict[str, tuple[str, int, int]]:
        """Of tensors by name: the keys that a dimension follows from, which, and its size."""
        heads, kv_heads = self.layers.heads(blocks), self.layers.kv_heads(blocks)
        slides = self.layers.which.slide(layers)
        return {
            f"blk.{at}.attn_{tensor}.weight": (
                f"attention.head_count_kv × {what}",
                1,
                kv_heads[at] * self.layers.width(what, heads[at], slides[at]),
            )
            for at in range(layers)
            for tensor, what in (("k", "key_length"), ("v", "value_length"))
            if kv_heads[at]
        }

    def _dtype(self) -> str | None:
        """The 16-bit dtype of the tensors, or fp32 where all are that; None: quantised, or both."""
        stored = {tensor.dtype for tensor in self.keys.header.tensors.values()}
        if stored == {"F32"}:
            return "fp32"
        # Norms and small tensors stay in fp32 beside matrices of 16 bits.
        (dtype, *others) = stored - {"F32"}
        return None if others else _SIXTEEN_BITS.get(dtype)

    def _weights_unknown(self, cached: tuple[Layers, ...], facts: Mapping[str, Any]) -> str | None:
        parts = {_BLOCK.sub("blk.", name) for name in self.keys.header.tensors}
        plain = all(type(each) is FullAttention for each in cached) and len(cached) == 1
        complete = "head_dim" in facts and "intermediate_size" in facts
        known_parts = _NEEDED_OF_DENSE <= parts <= _DENSE
        if plain and complete and known_parts and self._is_by_the_book(facts):
            return None
        return (
            f"the weights of {self.keys.architecture} are not worked out from its shape; the file "
            "itself says what they take"
        )

    def _is_by_the_book(self, facts: Mapping[str, Any]) -> bool:
        """Whether norms are by head, and the rotary embedding is whole and not scaled."""
        norm = self.keys.header.tensors.get("blk.0.attn_k_norm.weight")
        return (
            (norm is None or norm.shape == (facts["head_dim"],))
            and self.keys.get("rope.scaling.type") in (None, "none")
            and self.keys.count_or("rope.dimension_count", 0) in (0, facts["head_dim"])
        )

    def _dense_flags(self) -> dict[str, Any]:
        return {
            "qkv_bias": "blk.0.attn_k.bias" in self.keys.header.tensors,
            "qk_norm": "blk.0.attn_k_norm.weight" in self.keys.header.tensors,
        }
