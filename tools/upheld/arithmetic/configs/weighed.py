"""The facts that a model's weights depend on, from the language part of its config.json."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from upheld.arithmetic.configs.families import FAMILIES, tied_by_default
from upheld.arithmetic.configs.fields import ConfigError, Fields, short
from upheld.arithmetic.configs.weight_families import WEIGHT_FAMILIES, WeightFamily

_EXPERT_COUNTS = ("num_experts", "num_local_experts", "n_routed_experts")
_SIZES_OF_TOWERS = frozenset({
    "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "patch_size",
})  # fmt: skip
_COUNTS = (
    "num_hidden_layers", "num_attention_heads", "hidden_size", "intermediate_size", "vocab_size",
    "max_position_embeddings",
)  # fmt: skip
# Extra prediction layers are not among these: an engine loads them only to draft with.
_CHANGES_WEIGHTS = re.compile(
    r"expert|(^|_)moe|lora_rank|(^|_)ssm|mamba|conv_kernel|linear_(num|key|value)|per_layer"
    r"|^(vision|audio)_config$|^(attention_bias|mlp_bias)$"
)
_OF_EXPERTS = frozenset({
    *_EXPERT_COUNTS, "n_shared_experts", "num_experts_per_tok", "num_experts_per_token",
    "moe_intermediate_size", "shared_expert_intermediate_size", "moe_layer_freq",
})  # fmt: skip
_OF_PROJECTORS = ("spatial_merge_size", "multimodal_projector_bias")
_OF_TOWERS = frozenset({
    "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "num_channels",
    "image_size", "patch_size", "merge_kernel_size", "init_pos_emb_height", "init_pos_emb_width",
    *_OF_PROJECTORS,
})  # fmt: skip
_LATENT_COUNTS = ("kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
_GATED_DELTA_COUNTS = (
    "full_attention_interval", "linear_num_value_heads", "linear_num_key_heads",
    "linear_key_head_dim", "linear_value_head_dim", "linear_conv_kernel_dim",
)  # fmt: skip
# Values that say which layers have experts, where each layer after the dense ones does.
_ALL_LAYERS = {"decoder_sparse_step": (1,), "mlp_only_layers": ([],), "moe_layer_freq": (1,)}


def weights_of(
    config: Mapping[str, Any], part: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """The facts of the whole model, its vision tower included, and what was assumed.

    Args:
        config: the fields of the config.json.
        part: those of its language model.

    Raises:
        ConfigError: a part, a field or a model_type whose weights are not known.
    """
    facts, assumed = weight_facts(part, str(part.get("model_type")))
    _refuse_unread({**config, **part}, str(part.get("model_type")))
    if config.get("vision_config"):
        facts["vision"] = _vision(config)
        if not facts["vision"].keys() >= _SIZES_OF_TOWERS:
            assumed.append(
                "sizes that vision_config leaves out are the defaults of its configuration class"
            )
    return facts, assumed


def _refuse_unread(values: Mapping[str, Any], model_type: str) -> None:
    """Refuses a field that changes weights and that the family does not read."""
    known = WEIGHT_FAMILIES[model_type]
    read = {*known.switches, "vision_config"}
    if known.experts:
        read |= _OF_EXPERTS
    if known.gated_delta:
        read |= {*_GATED_DELTA_COUNTS}
    if known.implied.get("attention") == "latent":
        read |= {"kv_lora_rank", "q_lora_rank"}
    for key, value in values.items():
        changes = _CHANGES_WEIGHTS.search(key) and value not in (None, False, 0, "", [], {})
        if changes and key not in read:
            raise ConfigError(
                f"{short(key)} is not known of the weights of model_type {model_type}",
                f"take {short(key)} out if the model does not use it",
            )


def _vision(config: Mapping[str, Any]) -> dict[str, Any]:
    """vision_config with what projectors need beside it; see weights.towers.tower."""
    vision = config["vision_config"]
    if not isinstance(vision, Mapping):
        raise ConfigError(f"vision_config is {short(vision)}", "vision_config wants an object")
    facts = {name: config[name] for name in _OF_PROJECTORS if name in config}
    facts |= {key: value for key, value in vision.items() if key in _OF_TOWERS}
    return facts | {"model_type": config.get("model_type")}


def weight_facts(part: Mapping[str, Any], model_type: str) -> tuple[dict[str, Any], list[str]]:
    """The facts of weights.structure.Structure, and sentences about what the file leaves out.

    Args:
        part: the fields of the language model; see language.language_part.
        model_type: of that part.

    Raises:
        ConfigError: the tensors of the model_type are not known, or a field does not work.
    """
    known = WEIGHT_FAMILIES.get(model_type)
    if known is None:
        raise ConfigError(
            f"the tensors of the model_type {short(model_type)} are not known",
            f"known: {', '.join(sorted(WEIGHT_FAMILIES))}",
        )
    fields = model_fields(part, model_type, [])
    facts: dict[str, Any] = {name: fields.count(name) for name in _COUNTS}
    facts |= _heads(fields, model_type, facts)
    facts |= {"attention": "full", "qkv_bias": False, "qk_norm": False}
    facts["tie_word_embeddings"] = tied_embeddings(fields, model_type)
    facts |= _rotary(fields, known)
    for switch, names in known.switches.items():
        facts |= dict.fromkeys(names, fields.flag(switch))
    facts |= known.implied
    if facts["attention"] == "latent":
        facts |= {name: fields.count(name) for name in _LATENT_COUNTS}
        facts["q_lora_rank"] = fields.count_or_none("q_lora_rank") or 0
    if known.gated_delta:
        facts |= {name: fields.count(name) for name in _GATED_DELTA_COUNTS}
    facts |= _experts(fields, known)
    return facts, fields.assumed


def model_fields(part: Mapping[str, Any], model_type: str, assumed: list[str]) -> Fields:
    """The fields of a language model, with all names and defaults of its family."""
    cached, weighed = FAMILIES.get(model_type), WEIGHT_FAMILIES.get(model_type)
    names = {**(cached.names if cached else {}), **(weighed.names if weighed else {})}
    defaults = {**(weighed.defaults if weighed else {}), **(cached.defaults if cached else {})}
    return Fields(part, names, defaults, assumed)


def _heads(fields: Fields, model_type: str, facts: Mapping[str, Any]) -> dict[str, int]:
    heads, hidden = facts["num_attention_heads"], facts["hidden_size"]
    kv_heads = fields.count_or_none("num_key_value_heads")
    if kv_heads is None:
        if not FAMILIES[model_type].kv_heads_as_heads:
            # Refuses it, as the family has no default.
            return {"num_key_value_heads": fields.count("num_key_value_heads")}
        kv_heads = heads
        fields.assume(f"num_key_value_heads is num_attention_heads, {heads}: the file does not say")
    head_dim = fields.count_or_none("head_dim")
    if head_dim is None:
        head_dim = hidden // heads
        # The heads of latent attention have widths of their own, and no tensor has this one.
        if WEIGHT_FAMILIES[model_type].implied.get("attention") != "latent":
            fields.assume(
                f"head_dim is hidden_size / num_attention_heads, {hidden} / {heads} = {head_dim}: "
                "the file does not say"
            )
    return {"num_key_value_heads": kv_heads, "head_dim": head_dim}


def tied_embeddings(fields: Fields, model_type: str) -> bool:
    """Whether the output head is the embedding; what was taken from the family is noted.

    Raises:
        ConfigError: neither the file says nor the family.
    """
    name = "tie_word_embeddings"
    if fields.has(name):
        return fields.flag(name)
    default = tied_by_default(model_type)
    if default is None:
        raise ConfigError(f"{name} is missing", f"add {name} as the model's code has it")
    fields.assume(f"{name} is {str(default).lower()}: the file leaves it to Transformers' default")
    return default


def _rotary(fields: Fields, known: WeightFamily) -> dict[str, Any]:
    scaling = fields.get("rope_scaling") or fields.get("rope_parameters")
    if isinstance(scaling, Mapping) and isinstance(scaling.get("full_attention"), Mapping):
        scaling = scaling["full_attention"]
    factor = fields.get("partial_rotary_factor")
    if factor is None and isinstance(scaling, Mapping):
        factor = scaling.get("partial_rotary_factor")
    return {
        "rope_scaling": scaling,
        "partial_rotary_factor": known.partial_rotary_factor if factor is None else factor,
        "global_rotary_every": _global_every(fields, known.global_rotary_every),
    }


def _global_every(fields: Fields, default: int) -> int:
    stated = fields.count_or_none("sliding_window_pattern")
    return (stated or default) if default else 0


def _experts(fields: Fields, known: WeightFamily) -> dict[str, int | bool]:
    if not known.experts:
        return {}
    stated = next((name for name in _EXPERT_COUNTS if fields.has(name)), None)
    if stated is None:
        raise ConfigError(
            f"{', '.join(_EXPERT_COUNTS)} are missing", "add the one that the model has"
        )
    for name, plain in _ALL_LAYERS.items():
        if fields.has(name) and fields.get(name) not in plain:
            raise ConfigError(
                f"{name} is {short(fields.get(name))}, so some layers have no experts",
                "their weights are not known",
            )
    width = "intermediate_size" if known.experts_are_whole_layers else "moe_intermediate_size"
    inner = fields.count(width)
    shared = fields.count_or_none("shared_expert_intermediate_size")
    if shared is None:
        shared = (fields.count_or_none("n_shared_experts") or 0) * inner
    dense = "first_k_dense_replace"
    has_dense = fields.has(dense) or dense in fields.defaults
    return {
        "num_experts": fields.count(stated),
        "moe_intermediate_size": inner,
        "shared_expert_intermediate_size": shared,
        "first_k_dense_replace": fields.count(dense, least=0) if has_dense else 0,
        "router_bias": fields.get("topk_method") == "noaux_tc",
    }
