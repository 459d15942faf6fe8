"""The cached layers of each pipeline stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from upheld.arithmetic.cache import layers_of
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.facts import CachedModel
from upheld.arithmetic.layouts import Layers


def layer_order(model: CachedModel) -> tuple[tuple[int, ...], ...]:
    """Of each layer of the decoder, which of the cached layers it is, by index.

    A model of one kind of layers has no other order; one of several kinds says it itself.

    Raises:
        ShapeError: a model of several kinds that does not say it.
    """
    stated: tuple[tuple[int, ...], ...] = getattr(model, "layer_order", ())
    if stated:
        return stated
    layers = layers_of(model)
    if len(layers) == 1 and layers[0].layers == getattr(model, "num_hidden_layers", None):
        return ((0,),) * layers[0].layers
    raise ShapeError(
        "pipeline_parallel",
        "stages need the order of the layers, which a list of their kinds does not say; "
        "the model's config.json does",
    )


def layers_by_stage(model: CachedModel, sizes: Sequence[int]) -> list[tuple[Layers, ...]]:
    """The cached layers of each stage, for stages of `sizes` layers of the decoder.

    Raises:
        ShapeError: see layer_order.
    """
    layers, order = layers_of(model), layer_order(model)
    stages = []
    start = 0
    for size in sizes:
        held = Counter(index for kinds in order[start : start + size] for index in kinds)
        stages.append(tuple(replace(layers[at], layers=held[at]) for at in sorted(held)))
        start += size
    return stages
