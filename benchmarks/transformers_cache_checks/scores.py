"""The measured bytes against the arithmetic, from the model's config.json on.

A row is exact where all three figures are the same, to the byte; or where the library refused a
shape for quantisation and the arithmetic refuses it too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from upheld.arithmetic.config_json import read_config
from upheld.arithmetic.configs import ConfigError, encoder_decoder_layers
from upheld.arithmetic.dtypes import cache_dtype
from upheld.arithmetic.engines import transformers
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.layouts import Layers
from upheld.arithmetic.layouts.full import FullAttention

FIGURES = ("tensors", "storage", "counters")

Perturb = Callable[[Layers], Layers]
PERTURBATIONS: dict[str, Perturb] = {
    "layers": lambda each: replace(each, layers=each.layers + 1),
    "kv-heads": lambda each: (
        replace(each, kv_heads=each.kv_heads + 1) if isinstance(each, FullAttention) else each
    ),
}


def score(measurement: Mapping[str, Any], perturb: str | None = None) -> list[dict[str, Any]]:
    """Each row with what the arithmetic says of it, and whether the two are the same."""
    change = PERTURBATIONS[perturb] if perturb else None
    version = _version(measurement["versions"]["transformers"])
    return [
        _scored(row, measurement["models"][row["model"]], version, change)
        for row in measurement["rows"]
    ]


def _version(text: str) -> tuple[int, int]:
    major, minor, *_ = text.split(".")
    return int(major), int(minor)


def _scored(
    row: Mapping[str, Any],
    model: Mapping[str, Any],
    version: tuple[int, int],
    change: Perturb | None,
) -> dict[str, Any]:
    scored = {**row, "group": model["group"], "predicted": None}
    try:
        predicted = _predicted(row, model["config"], version, change)
    except (ConfigError, ShapeError) as error:
        exact = "refused" in row and isinstance(error, ShapeError)
        return scored | {"reason": str(error), "exact": exact}
    scored["predicted"] = {name: getattr(predicted, name) for name in FIGURES}
    return scored | {"exact": scored["predicted"] == row.get("measured")}


def _predicted(
    row: Mapping[str, Any],
    config: Mapping[str, Any],
    version: tuple[int, int],
    change: Perturb | None,
) -> transformers.CacheBytes:
    own, cross = _layers(config)
    if change is not None:
        own, cross = [change(each) for each in own], [change(each) for each in cross]
    run = transformers.Run(
        batch=row["batch"],
        prompt=row["prompt"],
        decoded=row["decoded"],
        element=cache_dtype(row["dtype"]).element,
        version=version,
    )
    encoded = transformers.cross_cache(cross, run, row.get("encoder_tokens", 0))
    return _cache(own, run, row) + encoded


def _layers(config: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    if config.get("is_encoder_decoder"):
        found = encoder_decoder_layers(config)
        return list(found.decoder), list(found.cross)
    return list(read_config(json.dumps(config).encode()).cached.layers), []


def _cache(
    layers: list[Any], run: transformers.Run, row: Mapping[str, Any]
) -> transformers.CacheBytes:
    match row["implementation"]:
        case "static":
            return transformers.static_cache(layers, run, row["max_cache_len"])
        case "quantised" if row["backend"] == "fp8":
            return transformers.fp8_cache(layers, run)
        case "quantised":
            names = transformers.Quantisation.__dataclass_fields__
            settings = {name: row[name] for name in names if name in row}
            return transformers.quantised_cache(layers, run, transformers.Quantisation(**settings))
        case _:
            return transformers.dynamic_cache(layers, run)
