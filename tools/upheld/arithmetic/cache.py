"""The cached layers of a model, and the words for what each leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from upheld.arithmetic.dtypes import CacheDtype
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.facts import CachedModel, Shape, fact_inputs
from upheld.arithmetic.layouts import Layers, TokenLayers
from upheld.arithmetic.layouts.chunked import ChunkedAttention
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.layouts.latent import FP8_SPARSE_LATENT_BYTES, LatentAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention
from upheld.arithmetic.layouts.state import (
    GatedDeltaNet,
    Mamba1,
    Mamba2,
    ShortConvolution,
)
from upheld.arithmetic.terms import Input
from upheld.records.units import count

# What a model record lists, by kind, in the words of records/model.py.
KINDS: dict[str, Callable[[Any], Layers]] = {
    "full": lambda it: FullAttention(it.layers, it.kv_heads, it.k_dim, it.v_dim),
    "sliding": lambda it: SlidingAttention(it.layers, it.kv_heads, it.k_dim, it.v_dim, it.window),
    "chunked": lambda it: ChunkedAttention(it.layers, it.kv_heads, it.k_dim, it.v_dim, it.window),
    "latent": lambda it: LatentAttention(it.layers, it.latent, it.rope, it.index_dim or 0),
    "gated_delta_net": lambda it: GatedDeltaNet(
        it.layers, it.conv_kernel, it.v_heads, it.k_heads, it.k_dim, it.v_dim
    ),
    "mamba2": lambda it: Mamba2(
        it.layers, it.conv_kernel, it.heads, it.head_dim, it.state, it.groups
    ),
    "mamba": lambda it: Mamba1(it.layers, it.conv_kernel, it.channels, it.state),
    "short_convolution": lambda it: ShortConvolution(it.layers, it.conv_kernel, it.channels),
}


def layers_of(model: CachedModel) -> tuple[Layers, ...]:
    """The cached layers: full attention in all layers, or those that the model lists.

    Raises:
        ShapeError: a kind of attention that is not known; it is never taken for a plain one.
    """
    if model.attention == "full":
        shape = cast(Shape, model)
        return (
            FullAttention(
                shape.num_hidden_layers, shape.num_key_value_heads, shape.head_dim, shape.head_dim
            ),
        )
    if model.attention != "listed":
        raise ShapeError("attention", f"{model.attention!r} is not known; known: full, listed")
    return tuple(
        part if isinstance(part, Layers) else KINDS[part.kind](part) for part in model.cached_layers
    )


def inputs_of(model: CachedModel) -> tuple[Input, ...]:
    """The facts of the model that its cached layers come from."""
    if model.attention == "full":
        return fact_inputs(model, "num_hidden_layers", "num_key_value_heads", "head_dim")
    listed = ", ".join(f"{each.layers} {name_of(each)}" for each in layers_of(model))
    origin = model.origins.get("cached_layers", model.origin)
    return (Input("cached_layers", listed, origin, given=True),)


def token_formula(layers: TokenLayers, dtype: CacheDtype, tensor_parallel: int) -> str:
    """How many bytes one token takes in these layers, as a product."""
    if isinstance(layers, LatentAttention):
        return f"{layers.layers:,} layers × {_latent_formula(layers, dtype)}"
    heads = count(layers.kv_heads_on_rank(tensor_parallel), "KV head")
    widths = f"{layers.k_dim:,} × 2 (K and V)"
    if layers.k_dim != layers.v_dim:
        widths = f"({layers.k_dim:,} K + {layers.v_dim:,} V)"
    return f"{layers.layers:,} layers × {heads} × {widths} × {dtype.element} B"


def _latent_formula(layers: LatentAttention, dtype: CacheDtype) -> str:
    row = f"({layers.latent} + {layers.rope}) × {dtype.element} B"
    if not layers.index_dim:
        return row
    if dtype.name == "fp8":
        row = f"{FP8_SPARSE_LATENT_BYTES} B"
    return f"({row} + {layers.indexer_bytes} B of the indexer)"


def name_of(layers: Layers) -> str:
    """The name of a kind of layer, as it stands in a ledger."""
    return next(name for kind, name in _NAMES if isinstance(layers, kind))


# Sliding and chunked attention are full attention as well, so they are asked first.
_NAMES: tuple[tuple[type, str], ...] = (
    (SlidingAttention, "sliding_attention"),
    (ChunkedAttention, "chunked_attention"),
    (FullAttention, "full_attention"),
    (LatentAttention, "latent_attention"),
    (GatedDeltaNet, "gated_delta_net"),
    (Mamba2, "mamba2"),
    (Mamba1, "mamba"),
    (ShortConvolution, "short_convolution"),
)
