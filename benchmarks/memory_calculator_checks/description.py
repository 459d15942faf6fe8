"""A model's shape as the config.json that the other tools read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# Facts that a cache does not depend on, for shapes that do not hold them: tools insist on them.
STAND_INS = {"vocab_size": 32_000, "intermediate_size": 8_192}
NOT_CONFIG = {"source", "kv_layers", "parameters", "has_vision_config"}
LAYER_TYPES = {
    "full": "full_attention",
    "mla": "full_attention",
    "sliding": "sliding_attention",
    "chunked": "chunked_attention",
    "chunked_local": "chunked_attention",
    "gdn": "linear_attention",
    "mamba2": "mamba",
    "shortconv": "conv",
}


def config_of(
    shape: Mapping[str, Any], assumed: Mapping[str, Any], model_type: str | None
) -> dict[str, Any]:
    """What the shape holds, under the names of a published configuration.

    Args:
        shape: An entry of shapes.yaml.
        assumed: What the report says of the start beside its arguments: layers of a drafter are
            added, and windows are left out where the engine was told to keep all layers full.
        model_type: What the published configuration calls itself, where the shape does not say.

    Returns:
        A flat configuration of the text model, without nulls.
    """
    kinds = _kinds(shape["kv_layers"], assumed)
    first = next(each for each in kinds if each["kind"] in ("full", "mla"))
    config = {name: value for name, value in shape.items() if name not in NOT_CONFIG}
    config |= {"model_type": shape.get("model_type") or model_type or "llama"}
    config["num_hidden_layers"] += assumed.get("extra_full_layers", 0)
    config["num_hidden_layers"] += assumed.get("extra_sliding_layers", 0)
    for each in kinds:
        config |= _facts(each)
    if first["kind"] == "full":
        config.setdefault("num_key_value_heads", first["kv_heads"])
        config.setdefault("head_dim", first["k_dim"])
    _fill_in(config)
    if len(kinds) > 1 or assumed.get("all_layers_full"):
        config["layer_types"] = _layer_types(kinds, config["num_hidden_layers"])
        # Nemotron-H's own name for the same list.
        config["layers_block_type"] = [
            each.replace("full_attention", "attention") for each in config["layer_types"]
        ]
    return config


def _kinds(
    layers: Sequence[Mapping[str, Any]], assumed: Mapping[str, Any]
) -> list[Mapping[str, Any]]:
    kinds = [dict(each) for each in layers]
    full = next(each for each in kinds if each["kind"] in ("full", "mla"))
    full["layers"] += assumed.get("extra_full_layers", 0)
    if more := assumed.get("extra_sliding_layers", 0):
        window = assumed.get("extra_sliding_window", 2048)
        kinds.append({**full, "kind": "sliding", "layers": more, "window": window})
    if assumed.get("all_layers_full"):
        for each in kinds:
            if "window" in each:
                each["kind"] = "full"
                del each["window"]
    return kinds


def _facts(each: Mapping[str, Any]) -> dict[str, Any]:
    """What one kind of layers adds to a configuration."""
    match each["kind"]:
        case "sliding":
            # Where widths differ, the plain names are those of the sliding layers.
            return {
                "sliding_window": each["window"],
                "num_key_value_heads": each["kv_heads"],
                "head_dim": each["k_dim"],
            }
        case "chunked" | "chunked_local":
            return {"attention_chunk_size": each["window"]}
        case "full":
            return {
                "num_global_key_value_heads": each["kv_heads"],
                "global_head_dim": each["k_dim"],
            }
        case "mla":
            facts = {"kv_lora_rank": each["latent"], "qk_rope_head_dim": each["rope"]}
            if width := each.get("dsa_index_dim"):
                facts |= {"index_head_dim": width, "index_n_heads": 1}
                facts["indexer_types"] = ["full"] * each["layers"]
            return facts
        case "gdn":
            return {
                "linear_num_value_heads": each["v_heads"],
                "linear_num_key_heads": each["k_heads"],
                "linear_key_head_dim": each["k_dim"],
                "linear_value_head_dim": each["v_dim"],
                "linear_conv_kernel_dim": each["conv_kernel"],
            }
        case "mamba2":
            return {
                "mamba_num_heads": each["heads"],
                "mamba_head_dim": each["head_dim"],
                "ssm_state_size": each["state"],
                "conv_kernel": each["conv_kernel"],
                "n_groups": each["n_groups"],
            }
        case _:
            return {}


def _fill_in(config: dict[str, Any]) -> None:
    """Heads and widths that agree with each other, where the shape holds only some of them."""
    heads = config.setdefault("num_attention_heads", config.get("num_key_value_heads", 1))
    config.setdefault("num_key_value_heads", heads)
    width = config.get("head_dim") or config.get("kv_lora_rank")
    config.setdefault("hidden_size", heads * width)
    for name, value in STAND_INS.items():
        config.setdefault(name, value)


def _layer_types(kinds: Sequence[Mapping[str, Any]], total: int) -> list[str]:
    """Counts matter, the order does not; layers that cache nothing of their own come last."""
    types = [LAYER_TYPES[each["kind"]] for each in kinds for _ in range(each["layers"])]
    return types + [types[-1]] * (total - len(types))
