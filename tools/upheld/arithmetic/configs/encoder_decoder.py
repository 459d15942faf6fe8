"""What a decoder that attends to an encoder caches: its own tokens, and those of the encoder.

`cached_layers` refuses these models: an engine has to know how many tokens the encoder gives, so
it asks here. Source: the configuration classes of Transformers 5.24.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from upheld.arithmetic.configs.fields import MAX_LAYERS, ConfigError, Fields, short, whole
from upheld.arithmetic.layouts.full import FullAttention


@dataclass(frozen=True, slots=True)
class EncoderDecoderLayers:
    """The cached layers of the decoder.

    `decoder` holds keys and values of its own tokens; `cross` those of the encoder's output, as
    many tokens as that has. `assumed` are sentences about what the file leaves out.
    """

    decoder: tuple[FullAttention, ...]
    cross: tuple[FullAttention, ...]
    assumed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Family:
    """How a family names its decoder's layers and heads; without `head_dim` they divide d_model."""

    layers: str
    heads: str
    layers_of_encoder: str | None = None
    head_dim: str | None = None


_BART = _Family("decoder_layers", "decoder_attention_heads")
# A missing num_decoder_layers is as many as the encoder has.
_T5 = _Family("num_decoder_layers", "num_heads", layers_of_encoder="num_layers", head_dim="d_kv")

FAMILIES: dict[str, _Family] = {
    "bart": _BART,
    "blenderbot": _BART,
    "m2m_100": _BART,
    "marian": _BART,
    "mbart": _BART,
    "mt5": _T5,
    "pegasus": _BART,
    "t5": _T5,
    "umt5": _T5,
    "whisper": _BART,
}


def encoder_decoder_layers(config: Mapping[str, Any]) -> EncoderDecoderLayers:
    """The cached layers of the encoder-decoder that a config.json describes.

    Raises:
        ConfigError: a model_type that is not known, or a width that is missing or does not go with
            the others.
    """
    model_type = config.get("model_type")
    family = FAMILIES.get(model_type) if isinstance(model_type, str) else None
    if family is None:
        raise ConfigError(
            f"the encoder-decoder {short(model_type)} is not known, and what is not known is "
            "never treated as plain attention",
            f"known: {', '.join(FAMILIES)}",
        )
    fields = Fields(config)
    heads = fields.count(family.heads)
    width = _head_dim(fields, family, heads)
    attention = FullAttention(_layers(fields, family), heads, width, width)
    return EncoderDecoderLayers((attention,), (attention,), tuple(fields.assumed))


def _layers(fields: Fields, family: _Family) -> int:
    key = family.layers
    if not fields.has(key) and family.layers_of_encoder is not None:
        fields.assume(f"{key} is {family.layers_of_encoder}: the file does not say")
        key = family.layers_of_encoder
    return whole(key, fields.count(key), 1, MAX_LAYERS)


def _head_dim(fields: Fields, family: _Family, heads: int) -> int:
    if family.head_dim is not None:
        return fields.count(family.head_dim)
    width = fields.count("d_model")
    if width % heads:
        raise ConfigError(
            f"d_model {width} does not divide by {family.heads} {heads}", "one of the two is wrong"
        )
    return width // heads
