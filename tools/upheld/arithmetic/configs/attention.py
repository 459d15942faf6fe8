"""How wide a layer's keys and values are: heads, groups of heads, or one latent row."""

from __future__ import annotations

from collections.abc import Mapping

from upheld.arithmetic.configs.families import Family, Trait
from upheld.arithmetic.configs.fields import ConfigError, Fields, whole
from upheld.arithmetic.configs.kinds import Kind
from upheld.arithmetic.layouts import TokenLayers
from upheld.arithmetic.layouts.chunked import ChunkedAttention
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention


def attention_layout(kind: Kind, fields: Fields, family: Family, layer: int) -> TokenLayers:
    """The cache of one layer with attention.

    Gemma 4 uses its keys as values in some layers (attention_k_eq_v) and caches both even so; its
    wider heads are global_head_dim, or set apart by layer in `fields` already.

    Raises:
        ConfigError: a width is missing, or does not go with the others.
    """
    if Trait.LATENT in family.traits:
        return _latent(fields, family)
    if (
        kind is Kind.FULL
        and Trait.GLOBAL_HEADS in family.traits
        and not fields.has("per_layer_config")
    ):
        width = fields.count("global_head_dim")
        # Transformers' Gemma 4: the other count of heads goes with the shared projection alone.
        other = fields.flag("attention_k_eq_v") and fields.has("num_global_key_value_heads")
        heads = (
            _divide(
                "num_global_key_value_heads", fields.count("num_global_key_value_heads"), fields
            )
            if other
            else _kv_heads(fields, family)
        )
        return FullAttention(1, heads, width, width)
    width = _head_dim(fields)
    own = _kv_heads_of_block(fields, layer)
    heads = _kv_heads(fields, family) if own is None else own
    if kind is Kind.SLIDING:
        return SlidingAttention(1, heads, width, width, fields.count("sliding_window"))
    if kind is Kind.CHUNKED:
        return ChunkedAttention(1, heads, width, width, fields.count("attention_chunk_size"))
    return FullAttention(1, heads, width, width)


def _latent(fields: Fields, family: Family) -> LatentAttention:
    index = 0
    if Trait.INDEXER in family.traits:
        index = fields.count("index_head_dim")
        if (fields.get("index_topk_freq") or 1) != 1 or fields.has("index_topk_pattern"):
            fields.assume(
                "every layer caches the indexer's key: the file has layers that reuse the choice "
                "of another, and engines may leave theirs out"
            )
    return LatentAttention(
        1,
        fields.count("kv_lora_rank"),
        fields.count("qk_rope_head_dim"),
        index,
        fields.count_or_none("num_attention_heads") or 0,
        fields.count_or_none("qk_nope_head_dim") or 0,
        fields.count_or_none("v_head_dim") or 0,
    )


def _head_dim(fields: Fields) -> int:
    if fields.has("head_dim") or "head_dim" in fields.defaults:
        return fields.count("head_dim")
    heads, hidden = fields.count("num_attention_heads"), fields.count("hidden_size")
    if hidden % heads:
        raise ConfigError(
            f"head_dim is missing, and hidden_size {hidden} does not divide by "
            f"num_attention_heads {heads}",
            "add head_dim as the model's code has it",
        )
    fields.assume(
        f"head_dim is hidden_size / num_attention_heads, {hidden} / {heads} = {hidden // heads}: "
        "the file does not say"
    )
    return hidden // heads


def _kv_heads(fields: Fields, family: Family) -> int:
    if fields.has("multi_query_attention") and not fields.flag("multi_query_attention"):
        raise ConfigError(
            "multi_query_attention is false, which is not known of this model_type",
            "those with multi_query_attention: true are known",
        )
    if Trait.MULTI_QUERY in family.traits and not fields.flag("new_decoder_architecture"):
        if not fields.has("multi_query"):
            fields.assume("multi_query is true: the file leaves it to Transformers' default")
        if fields.flag("multi_query", default=True):
            return 1
    if (
        fields.has("num_key_value_heads")
        or "num_key_value_heads" in fields.defaults
        or not family.kv_heads_as_heads
    ):
        heads = fields.count("num_key_value_heads")
        return _divide("num_key_value_heads", heads, fields)
    heads = fields.count("num_attention_heads")
    fields.assume(f"num_key_value_heads is num_attention_heads, {heads}: the file does not say")
    return heads


def _divide(key: str, kv_heads: int, fields: Fields) -> int:
    heads = fields.count("num_attention_heads")
    if heads % kv_heads:
        raise ConfigError(
            f"{key} is {kv_heads} and num_attention_heads is {heads}, "
            "which can't share them evenly",
            "one of the two is wrong",
        )
    return kv_heads


def _kv_heads_of_block(fields: Fields, layer: int) -> int | None:
    """Nemotron's block_configs say for each layer how many heads share a KV head."""
    if not fields.has("block_configs"):
        return None
    attention: Mapping[str, object] = fields.get("block_configs")[layer]["attention"]
    heads = fields.count("num_attention_heads")
    key = f"block_configs[{layer}].attention.n_heads_in_group"
    group = whole(key, attention.get("n_heads_in_group"))
    if heads % group:
        raise ConfigError(
            f"{key} is {group} and num_attention_heads is {heads}, which does not divide",
            "one of the two is wrong",
        )
    return heads // group
