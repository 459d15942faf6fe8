"""Facts that change a cache, and which rule reads each.

One that no rule of the family reads is refused: what is not known is never treated as plain
attention.
"""

from __future__ import annotations

from upheld.arithmetic.configs.families import Family, Trait
from upheld.arithmetic.configs.fields import ConfigError, Fields, short

_SIGNS: dict[str, tuple[Trait, ...]] = {
    "kv_lora_rank": (Trait.LATENT,),
    "index_head_dim": (Trait.INDEXER,),
    "index_topk": (Trait.INDEXER,),
    "use_sliding_window": (Trait.WINDOW,),
    "sliding_window_pattern": (Trait.WINDOW,),
    "_sliding_window_pattern": (Trait.WINDOW,),
    "attention_chunk_size": (Trait.CHUNKS,),
    "global_head_dim": (Trait.GLOBAL_HEADS,),
    "num_global_key_value_heads": (Trait.GLOBAL_HEADS,),
    "num_kv_shared_layers": (Trait.SHARED,),
    "full_attention_interval": (Trait.GATED_DELTA,),
    "linear_num_value_heads": (Trait.GATED_DELTA,),
    "linear_attn_config": (Trait.KIMI_DELTA,),
    "hybrid_override_pattern": (Trait.MAMBA2,),
    "mamba_num_heads": (Trait.MAMBA2,),
    "mamba_n_heads": (Trait.MAMBA2,),
    "mamba_d_state": (Trait.MAMBA2, Trait.MAMBA1),
    "ssm_state_size": (Trait.MAMBA2,),
    "state_size": (Trait.MAMBA2, Trait.MAMBA1),
    "attn_layer_indices": (Trait.MAMBA2,),
    "attn_layer_period": (Trait.MAMBA1,),
    "conv_L_cache": (Trait.CONVOLUTION,),
    "full_attn_idxs": (Trait.CONVOLUTION,),
    "block_configs": (Trait.BLOCKS,),
    "attn_type_list": (Trait.ATTENTION_LIST,),
    "multi_query": (Trait.MULTI_QUERY,),
    "new_decoder_architecture": (Trait.MULTI_QUERY,),
    # Caches shared across layers or compressed, heads that differ by layer.
    "use_cla": (),
    "compress_ratios": (),
    "swa_num_key_value_heads": (),
    "swa_head_dim": (),
    "per_layer_config": (Trait.GLOBAL_HEADS,),
    "num_key_value_heads_per_layer": (),
}


def refuse_unread(fields: Fields, family: Family, model_type: str) -> None:
    """Refuses a fact that the family has no rule for.

    Raises:
        ConfigError: there is one.
    """
    if fields.get("use_bidirectional_attention") in (True, "all"):
        raise ConfigError(
            "use_bidirectional_attention says that the model is an encoder",
            "the decoders of its family are known; an encoder has no cache",
        )
    windowed = family.traits & {Trait.WINDOW}
    if not windowed and fields.has("sliding_window") and not _is_off(fields):
        raise ConfigError(
            f"it has a sliding window of {short(fields.get('sliding_window'))}, which model_type "
            f"{model_type} is not known to have, and it is never treated as plain attention",
            "where the window is off, the file says sliding_window: null",
        )
    for key, traits in _SIGNS.items():
        if fields.get(key) in (None, False, 0, "", [], {}) or family.traits & set(traits):
            continue
        raise ConfigError(
            f"{key} is {short(fields.get(key))}, which is not known of model_type {model_type}, "
            "and what is not known is never treated as plain attention",
            f"take {key} out if the model does not use it",
        )


def _is_off(fields: Fields) -> bool:
    return fields.has("use_sliding_window") and not fields.flag("use_sliding_window")
