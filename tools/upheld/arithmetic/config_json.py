"""A model's shape from its config.json, for the few architectures that are known here.

A file that says anything else, or anything more about attention or experts, is refused: what is
not known is never treated as plain attention. Source: the configuration classes of Transformers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from upheld.arithmetic.dtypes import OF_TORCH
from upheld.corpus.strict_json import JsonRefusedError, parse

MAX_BYTES = 1024 * 1024
MAX_COUNT = 10**9


class ConfigError(ValueError):
    """The file does not give a shape that is known; `help` says how to go on."""

    def __init__(self, message: str, help_text: str) -> None:
        super().__init__(message)
        self.help = help_text


@dataclass(frozen=True, slots=True)
class Architecture:
    """What an architecture implies that its config.json does not say.

    `head_dim_by_division` and `kv_heads_as_heads` say what a missing field means; where they are
    False, Transformers has some other default, so the field must be there. A sliding window is on
    by a switch of its own, or wherever `sliding_window`, by default `window_by_default`, is set.
    """

    model_type: str
    qkv_bias: bool = False
    qk_norm: bool = False
    head_dim_by_division: bool = True
    kv_heads_as_heads: bool = False
    window_is_a_switch: bool = False
    window_by_default: int | None = None


ARCHITECTURES: dict[str, Architecture] = {
    "LlamaForCausalLM": Architecture("llama", kv_heads_as_heads=True),
    "MistralForCausalLM": Architecture("mistral", window_by_default=4096),
    "Qwen2ForCausalLM": Architecture("qwen2", qkv_bias=True, window_is_a_switch=True),
    "Qwen3ForCausalLM": Architecture(
        "qwen3", qk_norm=True, head_dim_by_division=False, window_is_a_switch=True
    ),
}

# Fields of experts, latent attention, extra prediction layers, state spaces and uneven layers.
_CHANGES_MEMORY = re.compile(
    r"expert|(^|_)moe|lora_rank|nextn|(^|_)mtp|(^|_)ssm|mamba|conv_kernel|linear_(num|key|value)"
    r"|attention_chunk|cross_attention|block_configs|per_layer|^(text|vision|audio)_config$"
    r"|^(attention_bias|mlp_bias)$"
)


@dataclass(frozen=True, slots=True)
class ConfigShape:
    """A dense decoder as its config.json gives it; see facts.Shape for the fields.

    `torch_dtype` is a key of dtypes.WEIGHT_BYTES, or None where the file does not say.
    `quantised` says that the file describes stored weights of another dtype. `assumed` are
    sentences about what the file leaves out.
    """

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
    architecture: str
    max_position_embeddings: int | None
    torch_dtype: str | None
    quantised: bool
    origin: str
    origins: Mapping[str, str] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()
    parameters: int | None = None
    attention: str = "full"
    cached_layers: tuple[Any, ...] = ()
    state_dtype: str | None = None


def read_config(data: bytes, origin: str = "config.json") -> ConfigShape:
    """The shape in the bytes of a config.json; `origin` names the file in the result.

    Raises:
        ConfigError: not a plain JSON object, an architecture or attention that is not known, or
            a field that is missing or no count.
    """
    config = _load(data)
    name, known = _architecture(config)
    _refuse_what_is_not_plain(config, known)

    origins: dict[str, str] = {}
    assumed: list[str] = []

    def assume(field_name: str, sentence: str) -> None:
        origins[field_name] = f"assumed: not in {origin}"
        assumed.append(sentence)

    heads = _count(config, "num_attention_heads")
    hidden = _count(config, "hidden_size")

    kv_heads = heads
    if config.get("num_key_value_heads") is not None or not known.kv_heads_as_heads:
        kv_heads = _count(config, "num_key_value_heads")
    else:
        assume(
            "num_key_value_heads",
            f"num_key_value_heads is num_attention_heads, {heads}: the file does not say",
        )

    if config.get("head_dim") is not None or not known.head_dim_by_division:
        head_dim = _count(config, "head_dim")
    elif hidden % heads:
        raise ConfigError(
            f"head_dim is missing, and hidden_size {hidden} does not divide by "
            f"num_attention_heads {heads}",
            "add head_dim as the model's code has it",
        )
    else:
        head_dim = hidden // heads
        assume(
            "head_dim",
            f"head_dim is hidden_size / num_attention_heads, {hidden} / {heads} = {head_dim}: "
            "the file does not say",
        )

    tied = False
    if config.get("tie_word_embeddings") is not None:
        tied = _flag(config, "tie_word_embeddings")
    else:
        assume("tie_word_embeddings", "tie_word_embeddings is false: the file does not say")
    for implied, value in (("qkv_bias", known.qkv_bias), ("qk_norm", known.qk_norm)):
        if value:
            origins[implied] = f"the architecture {name}"

    positions = config.get("max_position_embeddings")
    return ConfigShape(
        num_hidden_layers=_count(config, "num_hidden_layers"),
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        head_dim=head_dim,
        hidden_size=hidden,
        intermediate_size=_count(config, "intermediate_size"),
        vocab_size=_count(config, "vocab_size"),
        tie_word_embeddings=tied,
        qkv_bias=known.qkv_bias,
        qk_norm=known.qk_norm,
        architecture=name,
        max_position_embeddings=(
            None if positions is None else _count(config, "max_position_embeddings")
        ),
        torch_dtype=_dtype(config),
        quantised=bool(config.get("quantization_config")),
        origin=origin,
        origins=origins,
        assumed=tuple(assumed),
    )


def _load(data: bytes) -> dict[str, Any]:
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


def _architecture(config: dict[str, Any]) -> tuple[str, Architecture]:
    names = config.get("architectures")
    if not isinstance(names, list) or len(names) != 1 or not isinstance(names[0], str):
        raise ConfigError(
            "architectures does not name one architecture",
            f"known: {', '.join(ARCHITECTURES)}",
        )
    known = ARCHITECTURES.get(names[0])
    if known is None:
        raise ConfigError(
            f"the architecture {_short(names[0])} is not known, "
            "and what is not known is never treated as plain attention",
            f"known: {', '.join(ARCHITECTURES)}",
        )
    model_type = config.get("model_type", known.model_type)
    if model_type != known.model_type:
        raise ConfigError(
            f"model_type {_short(model_type)} does not go with the architecture {names[0]}",
            f"that architecture has model_type {known.model_type!r}",
        )
    return names[0], known


def _refuse_what_is_not_plain(config: dict[str, Any], known: Architecture) -> None:
    layer_types = config.get("layer_types")
    if known.window_is_a_switch:
        slides = config.get("use_sliding_window", False) is not False
    else:
        slides = config.get("sliding_window", known.window_by_default) is not None
    if slides:
        raise ConfigError(
            "it has a sliding window, stated or by default, which is not known here "
            "and is never treated as plain attention",
            "only full attention is worked out so far; where the window is off, the file says "
            + ("use_sliding_window: false" if known.window_is_a_switch else "sliding_window: null"),
        )
    if layer_types is not None and (
        not isinstance(layer_types, list) or any(kind != "full_attention" for kind in layer_types)
    ):
        raise ConfigError(
            "layer_types has layers of other kinds than full_attention, "
            "which are never treated as plain attention",
            "only full attention is worked out so far",
        )
    for key, value in config.items():
        if _CHANGES_MEMORY.search(key) and value not in (None, False, 0, "", [], {}):
            raise ConfigError(
                f"{_short(key)} says that the model is not a plain dense decoder, "
                "and what is not known is never treated as one",
                "only dense decoders with full attention are worked out so far",
            )


def _count(config: dict[str, Any], key: str) -> int:
    value = config.get(key)
    if value is None:
        raise ConfigError(f"{key} is missing", f"add {key} as the model's code has it")
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MAX_COUNT:
        raise ConfigError(
            f"{key} is {_short(value)}", f"{key} wants a whole number from 1 to {MAX_COUNT:,}"
        )
    return value


def _flag(config: dict[str, Any], key: str) -> bool:
    value = config[key]
    if not isinstance(value, bool):
        raise ConfigError(f"{key} is {_short(value)}", f"{key} wants true or false")
    return value


def _dtype(config: dict[str, Any]) -> str | None:
    # Newer files say `dtype`, older ones `torch_dtype`.
    stated = {key: config[key] for key in ("torch_dtype", "dtype") if config.get(key) is not None}
    for key, value in stated.items():
        if not isinstance(value, str) or value not in OF_TORCH:
            raise ConfigError(
                f"{key} is {_short(value)}", f"{key} wants one of {', '.join(OF_TORCH)}"
            )
    if len(set(stated.values())) > 1:
        raise ConfigError("torch_dtype and dtype differ", "keep the one that is right")
    return OF_TORCH[next(iter(stated.values()))] if stated else None


def _short(value: object) -> str:
    shown = str(value) if isinstance(value, Decimal) else repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "…"
