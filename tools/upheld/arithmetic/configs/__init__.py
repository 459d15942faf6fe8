"""A model's config.json (Transformers' format) → its cached layers, from the file's own facts.

`families` says what is known of each model_type; each other module is one kind of fact.
"""

from __future__ import annotations

from upheld.arithmetic.configs.cached import CachedLayers, cached_layers
from upheld.arithmetic.configs.encoder_decoder import (
    EncoderDecoderLayers,
    encoder_decoder_layers,
)
from upheld.arithmetic.configs.fields import MAX_COUNT, ConfigError
from upheld.arithmetic.configs.language import language_part

__all__ = [
    "MAX_COUNT",
    "CachedLayers",
    "ConfigError",
    "EncoderDecoderLayers",
    "cached_layers",
    "encoder_decoder_layers",
    "language_part",
]
