"""What weights depend on beyond facts.Shape: experts, latent attention, biases, the rotary table.

A model says these with attributes of the names below; one that it does not have means the plain
decoder's value. Only `max_position_embeddings` has no such value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.facts import Shape
from upheld.arithmetic.terms import Input
from upheld.records.units import Quantity

ATTENTIONS = ("full", "latent")
# Bounds what a hostile file can make arithmetic work through; far above any model.
MAX_COUNT = 10**9


@dataclass(frozen=True, slots=True)
class Structure:
    """A decoder's facts. Names are those of config.json where it has them.

    `num_experts` is also called num_local_experts or n_routed_experts there, and
    `shared_expert_intermediate_size` is that of all shared experts together
    (n_shared_experts × moe_intermediate_size for DeepSeek). The first `first_k_dense_replace`
    layers are dense. `router_bias` is the fp32 e_score_correction_bias. `norms_per_layer` is 2,
    or 4 for Gemma 2, or 1 where attention and feed-forward part share one (Phi-2); `norm_bias`
    says that they are LayerNorm with a bias. `gated_mlp` says that there is a gate beside the up
    projection. `rope_scaling` is config.json's, a mapping; where `global_rotary_every` is N, all
    but every Nth layer have a rotary table of their own, which is not scaled (Gemma 3). `vision`
    is vision_config with what a projector needs beside it; see towers.tower.
    Where `full_attention_interval` is N, all but every Nth layer are gated delta nets, of the
    `linear_` widths; `attention_gate` says that queries have a gate beside them.
    `modules_to_not_convert` stay at 16 bits where weights are quantised; see kept.keep.
    """

    attention: str
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    hidden_size: int
    intermediate_size: int
    vocab_size: int
    tie_word_embeddings: bool
    qkv_bias: bool
    qk_norm: bool
    max_position_embeddings: int | None = None
    partial_rotary_factor: Fraction = Fraction(1)
    rope_scaling: Mapping[str, Any] | None = None
    o_bias: bool = False
    mlp_bias: bool = False
    norm_bias: bool = False
    lm_head_bias: bool = False
    gated_mlp: bool = True
    norms_per_layer: int = 2
    num_experts: int = 0
    moe_intermediate_size: int = 0
    shared_expert_intermediate_size: int = 0
    shared_expert_gate: bool = False
    router_bias: bool = False
    first_k_dense_replace: int = 0
    q_lora_rank: int = 0
    kv_lora_rank: int = 0
    qk_nope_head_dim: int = 0
    qk_rope_head_dim: int = 0
    v_head_dim: int = 0
    has_vision_config: bool = False
    vision: Mapping[str, Any] | None = None
    global_rotary_every: int = 0
    attention_gate: bool = False
    full_attention_interval: int = 0
    linear_num_value_heads: int = 0
    linear_num_key_heads: int = 0
    linear_key_head_dim: int = 0
    linear_value_head_dim: int = 0
    linear_conv_kernel_dim: int = 0
    modules_to_not_convert: tuple[str, ...] = ()

    @classmethod
    def of(cls, model: Shape) -> Structure:
        """The facts that the model states, checked.

        Raises:
            ShapeError: one of them does not work.
        """
        stated = {}
        for field in fields(cls):
            value = stated_fact(model, field.name)
            if value is not None:
                stated[field.name] = _plain(field.name, value)
        if stated["attention"] == "listed":
            # Windows bound what is cached and change no tensor.
            stated["attention"] = "full"
        found = cls(**stated)
        _check(found)
        return found


def stated_fact(model: Shape, name: str) -> Any:
    """What the model says of a field: among its `weight_facts`, where it has those, or itself."""
    facts = getattr(model, "weight_facts", None)
    return getattr(model, name, None) if facts is None else facts.get(name)


def known_inputs(model: Shape, *names: str) -> tuple[Input, ...]:
    """Those of the fields that the model states, as facts."""
    stated = {name: stated_fact(model, name) for name in names}
    return tuple(
        Input(
            name,
            _words(value) if isinstance(value, Mapping) else _exact(value),
            model.origins.get(name, model.origin),
            given=True,
        )
        for name, value in stated.items()
        if value is not None
    )


def _exact(value: Any) -> int | str | Fraction:
    if isinstance(value, Quantity):
        value = value.base
    if isinstance(value, Fraction) and value.denominator == 1:
        return int(value)
    exact: int | str | Fraction = value
    return exact


def _words(mapping: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in sorted(mapping.items()))


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, Quantity):
        value = value.base
        if value.denominator != 1:
            raise ShapeError(name, "wants a whole number")
        return int(value)
    if name == "partial_rotary_factor":
        return fraction(name, value)
    return value


def fraction(name: str, value: Any) -> Fraction:
    """A number of config.json, exact as it is written.

    Raises:
        ShapeError: it is no number, or far out of any use.
    """
    text = str(value)
    try:
        if len(text) > 32 or "e" in text.casefold():
            raise ValueError
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ShapeError(name, "wants a plain number") from None


_AT_LEAST_ONE = (
    "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim",
    "hidden_size", "intermediate_size", "vocab_size", "norms_per_layer",
)  # fmt: skip
_AT_LEAST_NOUGHT = (
    "max_position_embeddings", "num_experts", "moe_intermediate_size",
    "shared_expert_intermediate_size", "first_k_dense_replace", "q_lora_rank", "kv_lora_rank",
    "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim", "global_rotary_every",
    "full_attention_interval",
)  # fmt: skip
_LINEAR = (
    "linear_num_value_heads", "linear_num_key_heads", "linear_key_head_dim",
    "linear_value_head_dim", "linear_conv_kernel_dim",
)  # fmt: skip


def _check(model: Structure) -> None:
    if model.attention not in ATTENTIONS:
        known = ", ".join(ATTENTIONS)
        raise ShapeError("attention", f"{model.attention!r} is not known; known: {known}")
    if model.has_vision_config and model.vision is None:
        raise ShapeError("has_vision_config", "the weights of a vision tower are not known")
    for least, names in ((1, _AT_LEAST_ONE), (0, _AT_LEAST_NOUGHT)):
        for name in names:
            value = getattr(model, name)
            if value is not None and not least <= value <= MAX_COUNT:
                raise ShapeError(name, f"wants at least {least} and at most {MAX_COUNT:,}")
    for name in ("rope_scaling", "vision"):
        if not isinstance(getattr(model, name), Mapping | None):
            raise ShapeError(name, "wants a mapping, as config.json has it")
    if not 0 < model.partial_rotary_factor <= 1:
        raise ShapeError("partial_rotary_factor", "wants more than 0 and at most 1")
    if model.num_attention_heads % model.num_key_value_heads:
        raise ShapeError(
            "num_key_value_heads",
            f"{model.num_attention_heads} attention heads can't share "
            f"{model.num_key_value_heads} KV heads evenly",
        )
    if model.num_experts and not model.moe_intermediate_size:
        raise ShapeError("moe_intermediate_size", "a model with experts needs it")
    for name in ("moe_intermediate_size", "shared_expert_intermediate_size"):
        if getattr(model, name) and not model.num_experts:
            raise ShapeError("num_experts", f"a model with {name} needs it")
    if model.full_attention_interval:
        for name in _LINEAR:
            if not 1 <= getattr(model, name) <= MAX_COUNT:
                raise ShapeError(name, "a model with full_attention_interval needs it")
    if model.attention == "latent":
        for name in ("kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"):
            if not getattr(model, name):
                raise ShapeError(name, "latent attention needs it")
    elif model.kv_lora_rank:
        raise ShapeError("attention", "a model with kv_lora_rank has latent attention")
