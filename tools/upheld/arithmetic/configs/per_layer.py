"""Layers that a config.json sets apart: `per_layer_config`, fields of a layer by its number.

Source: HeterogeneousConfigMixin of Transformers 5.24, which saves Gemma 4's wider heads this way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from upheld.arithmetic.configs.fields import ConfigError, Fields, short

# What a layer may have of its own; another fact could change a cache in ways that are not known.
_KNOWN = ("head_dim", "num_key_value_heads")


def fields_by_layer(fields: Fields, layers: int) -> list[Fields]:
    """The fields of each layer, first to last: `fields` itself where nothing is set apart.

    Raises:
        ConfigError: no object of layers that the model has, or a fact that is not known there.
    """
    found = [fields] * layers
    stated = fields.get("per_layer_config")
    if stated is None:
        return found
    if not isinstance(stated, Mapping):
        raise ConfigError(
            f"per_layer_config is {short(stated)}", "per_layer_config wants an object by layer"
        )
    names = {str(at): at for at in range(layers)}
    for name, own in stated.items():
        if name not in names or not isinstance(own, Mapping):
            raise ConfigError(
                f"per_layer_config[{short(name)}] is {short(own)}",
                f"it wants an object for one of the layers 0 to {layers - 1:,}",
            )
        unknown = [key for key in own if key not in _KNOWN]
        if unknown:
            raise ConfigError(
                f"per_layer_config[{short(name)}] has {short(unknown[0])}, which is not known of "
                "one layer, and what is not known is never treated as plain attention",
                f"known: {', '.join(_KNOWN)}",
            )
        found[names[name]] = replace(fields, values={**fields.values, **own})
    return found
