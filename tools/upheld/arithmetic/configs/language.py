"""Which part of a config.json is the language model, whose cache is asked for.

Multimodal models keep it in a config of its own; their towers for images and sound have no cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from upheld.arithmetic.configs.fields import ConfigError, short

# Transformers' own models, InternVL and its kin, DeepSeek-VL2.
_PARTS = ("text_config", "llm_config", "language_config")


def language_part(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The nested config of the language model, or the config itself where nothing is nested.

    Raises:
        ConfigError: more than one, or one that is no object.
    """
    found = [key for key in _PARTS if config.get(key) is not None]
    if not found:
        return config
    if len(found) > 1:
        raise ConfigError(
            f"it has {' and '.join(found)}, and only one can be the language model",
            "keep the one that is right",
        )
    part = config[found[0]]
    if not isinstance(part, Mapping):
        raise ConfigError(f"{found[0]} is {short(part)}", f"{found[0]} wants an object")
    return part
