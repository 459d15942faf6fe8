"""A model from the bytes of its config.json: its cached layers, and its weights' shape if dense.

The cache is worked out for every family of `configs`. Weights are worked out for the dense
architectures here, which a record can hold too, and for the families of `configs.weight_families`;
of any other the model says why they are not. What is not known is never treated as plain attention.
Source: the configuration classes of Transformers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from upheld.arithmetic.configs import CachedLayers, cached_layers, language_part
from upheld.arithmetic.configs.fields import ConfigError, Fields, short
from upheld.arithmetic.configs.weighed import weights_of
from upheld.arithmetic.configs.weight_families import WEIGHT_FAMILIES
from upheld.arithmetic.dtypes import OF_TORCH
from upheld.arithmetic.layouts import Layers
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.weights.quantisation import Format, of_quantization_config
from upheld.corpus.strict_json import JsonRefusedError, parse

MAX_BYTES = 1024 * 1024
# vLLM's config/model.py (_find_dtype, _resolve_auto_dtype; read in 0.19.0): where neither the file
# nor the tensors say, the first dtype that the device supports, bfloat16 on those of today.
_ASSUMED_DTYPE = (
    "torch_dtype is bfloat16: the file does not say, and vLLM takes 16 bits where nothing does"
)


@dataclass(frozen=True, slots=True)
class Architecture:
    """What a dense architecture implies that its config.json does not say.

    `head_dim` is Transformers' default for a missing one, where that is not the hidden width over
    the heads. `kv_heads_as_heads` says what missing KV heads mean; where it is False, Transformers
    has some other default, so the field must be there.
    """

    model_type: str
    qkv_bias: bool = False
    qk_norm: bool = False
    head_dim: int | None = None
    kv_heads_as_heads: bool = False


ARCHITECTURES: dict[str, Architecture] = {
    "LlamaForCausalLM": Architecture("llama", kv_heads_as_heads=True),
    "MistralForCausalLM": Architecture("mistral"),
    "Qwen2ForCausalLM": Architecture("qwen2", qkv_bias=True),
    "Qwen3ForCausalLM": Architecture("qwen3", qk_norm=True, head_dim=128),
}

# Fields of experts, extra prediction layers, other towers and biases: no plain dense decoder.
_CHANGES_WEIGHTS = re.compile(
    r"expert|(^|_)moe|lora_rank|nextn|(^|_)mtp|(^|_)ssm|mamba|conv_kernel|linear_(num|key|value)"
    r"|per_layer|^(vision|audio)_config$|^(attention_bias|mlp_bias)$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigModel:
    """A model as its config.json gives it, of whatever family.

    `cached` is what it caches. `torch_dtype` is a key of dtypes.WEIGHT_BYTES, or None where a file
    of quantised tensors does not say; `dtype_is_assumed` where a config.json does not. `quantised`
    says that the file describes stored weights of another dtype; `quantised_cache` names the field
    in which it does so of the cache, or is None.
    `assumed` are sentences about what the file leaves out. `weight_facts` are what its weights
    depend on, by the names of weights.structure.Structure; None in a ConfigShape, which has them
    itself. `weights_unknown` is why the weights can't be worked out from the file, or None.
    `stored` is how its linear layers are stored, where the file says that they are quantised in a
    way that is known; `stored_unknown` says why it is not known.
    """

    architecture: str
    cached: CachedLayers
    max_position_embeddings: int | None
    torch_dtype: str | None
    quantised: bool
    quantised_cache: str | None
    origin: str
    assumed: tuple[str, ...] = ()
    weight_facts: Mapping[str, Any] | None = None
    weights_unknown: str | None = None
    stored: Format | None = None
    stored_unknown: str | None = None
    dtype_is_assumed: bool = False
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
    def dtype_origin(self) -> str:
        """Where torch_dtype came from."""
        return (
            f"assumed: not in {self.origin}"
            if self.dtype_is_assumed
            else (f"torch_dtype of {self.origin}")
        )

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
    modules_to_not_convert: tuple[str, ...] = ()

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
    dtype = _dtype(part) or _dtype(config)
    general = cached.assumed if dtype else (*cached.assumed, _ASSUMED_DTYPE)
    common: dict[str, Any] = {
        "architecture": name,
        "cached": cached,
        "max_position_embeddings": fields.count_or_none("max_position_embeddings"),
        "torch_dtype": dtype or "bf16",
        "dtype_is_assumed": dtype is None,
        "quantised": bool(config.get("quantization_config") or part.get("quantization_config")),
        "quantised_cache": _quantised_cache(config) or _quantised_cache(part),
        "origin": origin,
    }
    stored, common["stored_unknown"] = _stored(config, part)
    common["stored"] = stored
    kept = {"modules_to_not_convert": stored.kept} if stored else {}
    if _is_dense(config, name):
        shape = _dense_shape(fields, name, origin) | kept
        assumed = (*general, *fields.assumed)
        return ConfigShape(**common, **shape, assumed=tuple(dict.fromkeys(assumed)))
    try:
        facts, assumed_of_weights = weights_of(config, part)
    except ConfigError as error:
        return ConfigModel(**common, assumed=general, weights_unknown=str(error))
    common["max_position_embeddings"] = facts["max_position_embeddings"]
    assumed = (*general, *assumed_of_weights)
    return ConfigModel(
        **common,
        weight_facts=facts | kept,
        assumed=tuple(dict.fromkeys(assumed)),
        origins=_origins_of_weights(part, assumed_of_weights, origin),
    )


def _origins_of_weights(
    part: Mapping[str, Any], assumed: Sequence[str], origin: str
) -> dict[str, str]:
    """Where those facts come from that the file does not state: sentences begin with their name."""
    model_type = str(part["model_type"])
    implied = dict.fromkeys(WEIGHT_FAMILIES[model_type].implied, f"the model_type {model_type}")
    names = (sentence.partition(" is ")[0] for sentence in assumed)
    return implied | dict.fromkeys(names, f"assumed: not in {origin}")


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

    if fields.has("head_dim"):
        head_dim = fields.count("head_dim")
    elif known.head_dim:
        head_dim = known.head_dim
        assume("head_dim", f"head_dim is {head_dim}: the file leaves it to Transformers' default")
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


def _is_dense(config: dict[str, Any], name: str) -> bool:
    return (
        name in ARCHITECTURES
        and language_part(config) is config
        and not any(
            _CHANGES_WEIGHTS.search(key) and value not in (None, False, 0, "", [], {})
            for key, value in config.items()
        )
    )


def _stored(config: Mapping[str, Any], part: Mapping[str, Any]) -> tuple[Format | None, str | None]:
    try:
        return of_quantization_config(config) or of_quantization_config(part), None
    except ConfigError as error:
        return None, str(error)


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
