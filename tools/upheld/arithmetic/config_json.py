"""A model from the bytes of its config.json: its cached layers, and its weights' shape if dense.

The cache is worked out for every family of `configs`. Weights are worked out for the few dense
architectures here; of any other the model says why they are not. What is not known is never
treated as plain attention. Source: the configuration classes of Transformers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from upheld.arithmetic.configs import CachedLayers, cached_layers, language_part
from upheld.arithmetic.configs.fields import ConfigError, Fields, short
from upheld.arithmetic.dtypes import OF_TORCH
from upheld.arithmetic.layouts import Layers
from upheld.arithmetic.layouts.full import FullAttention
from upheld.corpus.strict_json import JsonRefusedError, parse

MAX_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Architecture:
    """What a dense architecture implies that its config.json does not say.

    `head_dim_by_division` and `kv_heads_as_heads` say what a missing field means; where they are
    False, Transformers has some other default, so the field must be there.
    """

    model_type: str
    qkv_bias: bool = False
    qk_norm: bool = False
    head_dim_by_division: bool = True
    kv_heads_as_heads: bool = False


ARCHITECTURES: dict[str, Architecture] = {
    "LlamaForCausalLM": Architecture("llama", kv_heads_as_heads=True),
    "MistralForCausalLM": Architecture("mistral"),
    "Qwen2ForCausalLM": Architecture("qwen2", qkv_bias=True),
    "Qwen3ForCausalLM": Architecture("qwen3", qk_norm=True, head_dim_by_division=False),
}

# Fields of experts, extra prediction layers, other towers and biases: weights that are not counted.
_CHANGES_WEIGHTS = re.compile(
    r"expert|(^|_)moe|lora_rank|nextn|(^|_)mtp|(^|_)ssm|mamba|conv_kernel|linear_(num|key|value)"
    r"|per_layer|^(vision|audio)_config$|^(attention_bias|mlp_bias)$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigModel:
    """A model as its config.json gives it, of whatever family.

    `cached` is what it caches. `torch_dtype` is a key of dtypes.WEIGHT_BYTES, or None where the
    file does not say. `quantised` says that the file describes stored weights of another dtype;
    `quantised_cache` names the field in which it does so of the cache, or is None.
    `assumed` are sentences about what the file leaves out. `weights_unknown` is why its weights
    can't be worked out from the file; None in a ConfigShape, of which they can.
    """

    architecture: str
    cached: CachedLayers
    max_position_embeddings: int | None
    torch_dtype: str | None
    quantised: bool
    quantised_cache: str | None
    origin: str
    assumed: tuple[str, ...] = ()
    weights_unknown: str | None = None
    origins: Mapping[str, str] = field(default_factory=dict)

    @property
    def attention(self) -> str:
        """The cached layers are listed; a dense decoder may have full attention in all."""
        return "listed"

    @property
    def cached_layers(self) -> tuple[Layers, ...]:
        """The layers with a cache."""
        return self.cached.layers

    @property
    def layer_order(self) -> tuple[tuple[int, ...], ...]:
        """Of each layer of the decoder, which of `cached_layers` it is."""
        return self.cached.order

    @property
    def sharing_layers(self) -> int:
        """Layers that use the cache of another layer, which are not among the cached ones."""
        return self.cached.sharing

    @property
    def state_dtype(self) -> str | None:
        """The dtype of recurrent states, or None: as the model's."""
        return self.cached.state_dtype


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigShape(ConfigModel):
    """A dense decoder, whose weights follow from its shape; see facts.Shape for the fields."""

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
    rope_scaling: Mapping[str, Any] | None = None
    partial_rotary_factor: Any = None
    parameters: int | None = None

    @property
    def attention(self) -> str:
        """`full`, or `listed` where some layers have a window."""
        plain = all(type(each) is FullAttention for each in self.cached.layers)
        return "full" if plain else "listed"


def read_config(data: bytes, origin: str = "config.json") -> ConfigModel:
    """The model in the bytes of a config.json; `origin` names the file in the result.

    Raises:
        ConfigError: not a plain JSON object, a model or attention that is not known, or a field
            that is missing, no count, or contradicts another.
    """
    return model_of(load_config(data), origin)


def model_of(config: dict[str, Any], origin: str = "config.json") -> ConfigModel:
    """The model that the fields of a config.json describe; `origin` names the file in the result.

    Raises:
        ConfigError: see read_config, but for the JSON.
    """
    name = _architecture(config)
    part = language_part(config)
    cached = cached_layers(config)
    fields = Fields(part)
    common: dict[str, Any] = {
        "architecture": name,
        "cached": cached,
        "max_position_embeddings": fields.count_or_none("max_position_embeddings"),
        "torch_dtype": _dtype(part) or _dtype(config),
        "quantised": bool(config.get("quantization_config") or part.get("quantization_config")),
        "quantised_cache": _quantised_cache(config) or _quantised_cache(part),
        "origin": origin,
    }
    unknown = _weights_unknown(config, name)
    if unknown is not None:
        return ConfigModel(**common, assumed=cached.assumed, weights_unknown=unknown)
    shape = _dense_shape(fields, name, origin)
    assumed = dict.fromkeys((*cached.assumed, *fields.assumed))
    return ConfigShape(**common, **shape, assumed=tuple(assumed))


def _dense_shape(fields: Fields, name: str, origin: str) -> dict[str, Any]:
    known = ARCHITECTURES[name]
    origins: dict[str, str] = {}

    def assume(field_name: str, sentence: str) -> None:
        origins[field_name] = f"assumed: not in {origin}"
        fields.assume(sentence)

    heads = fields.count("num_attention_heads")
    hidden = fields.count("hidden_size")

    kv_heads = heads
    if fields.has("num_key_value_heads") or not known.kv_heads_as_heads:
        kv_heads = fields.count("num_key_value_heads")
    else:
        assume(
            "num_key_value_heads",
            f"num_key_value_heads is num_attention_heads, {heads}: the file does not say",
        )

    if fields.has("head_dim") or not known.head_dim_by_division:
        head_dim = fields.count("head_dim")
    else:
        head_dim = hidden // heads
        assume(
            "head_dim",
            f"head_dim is hidden_size / num_attention_heads, {hidden} / {heads} = {head_dim}: "
            "the file does not say",
        )

    tied = fields.flag("tie_word_embeddings")
    if not fields.has("tie_word_embeddings"):
        assume("tie_word_embeddings", "tie_word_embeddings is false: the file does not say")
    for implied, value in (("qkv_bias", known.qkv_bias), ("qk_norm", known.qk_norm)):
        if value:
            origins[implied] = f"the architecture {name}"
    return {
        "num_hidden_layers": fields.count("num_hidden_layers"),
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "head_dim": head_dim,
        "hidden_size": hidden,
        "intermediate_size": fields.count("intermediate_size"),
        "vocab_size": fields.count("vocab_size"),
        "tie_word_embeddings": tied,
        "qkv_bias": known.qkv_bias,
        "qk_norm": known.qk_norm,
        # Newer files say `rope_parameters`, older ones `rope_scaling`.
        "rope_scaling": fields.get("rope_scaling") or fields.get("rope_parameters"),
        "partial_rotary_factor": fields.get("partial_rotary_factor"),
        "origins": origins,
    }


def load_config(data: bytes) -> dict[str, Any]:
    """The fields in the bytes of a config.json, as they stand.

    Raises:
        ConfigError: not one plain JSON object.
    """
    mend = "give the config.json that is published with the model"
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise ConfigError("it is not UTF-8 text", mend) from None
    try:
        documents = parse(text)
    except JsonRefusedError as error:
        line = text.count("\n", 0, error.offset) + 1
        column = error.offset - text.rfind("\n", 0, error.offset)
        raise ConfigError(f"line {line}, column {column}: {error.message}", error.help) from None
    if len(documents) != 1 or not isinstance(documents[0].value, dict):
        raise ConfigError("it is not one JSON object", mend)
    return documents[0].value


def _architecture(config: dict[str, Any]) -> str:
    names = config.get("architectures")
    if not isinstance(names, list) or len(names) != 1 or not isinstance(names[0], str):
        raise ConfigError(
            "architectures does not name one architecture",
            "add architectures as the model publishes it, such as LlamaForCausalLM",
        )
    name: str = names[0]
    known = ARCHITECTURES.get(name)
    model_type = config.get("model_type")
    if known is not None and model_type not in (None, known.model_type):
        raise ConfigError(
            f"model_type {short(model_type)} does not go with the architecture {name}",
            f"that architecture has model_type {known.model_type!r}",
        )
    return name


def _weights_unknown(config: dict[str, Any], name: str) -> str | None:
    if name not in ARCHITECTURES:
        return (
            f"the weights of {short(name)} are not worked out from its shape; "
            f"those of {', '.join(ARCHITECTURES)} are"
        )
    if language_part(config) is not config:
        return "the weights of a model with several parts are not worked out from its shape"
    for key, value in config.items():
        if _CHANGES_WEIGHTS.search(key) and value not in (None, False, 0, "", [], {}):
            return (
                f"{short(key)} says that the model is not a plain dense decoder, and the weights "
                "of those alone are worked out from their shape"
            )
    return None


def _quantised_cache(config: Mapping[str, Any]) -> str | None:
    """The field that asks for a quantised cache: ModelOpt's, or that of compressed-tensors."""
    stated = config.get("quantization_config")
    if not isinstance(stated, Mapping):
        return None
    return next(
        (key for key in ("kv_cache_quant_algo", "kv_cache_scheme") if stated.get(key)), None
    )


def _dtype(config: Mapping[str, Any]) -> str | None:
    # Newer files say `dtype`, older ones `torch_dtype`.
    stated = {key: config[key] for key in ("torch_dtype", "dtype") if config.get(key) is not None}
    for key, value in stated.items():
        if not isinstance(value, str) or value not in OF_TORCH:
            raise ConfigError(
                f"{key} is {short(value)}", f"{key} wants one of {', '.join(OF_TORCH)}"
            )
    if len(set(stated.values())) > 1:
        raise ConfigError("torch_dtype and dtype differ", "keep the one that is right")
    return OF_TORCH[next(iter(stated.values()))] if stated else None
