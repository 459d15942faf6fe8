"""Cached layers as a model record lists them: arithmetic/cache.KINDS, the other way round."""

from __future__ import annotations

from collections.abc import Mapping

from upheld.arithmetic.layouts import Layers
from upheld.arithmetic.layouts.chunked import ChunkedAttention
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention
from upheld.arithmetic.layouts.state import GatedDeltaNet, Mamba1, Mamba2, ShortConvolution

_HEADS = {"kv_heads": "kv_heads", "k_dim": "k_dim", "v_dim": "v_dim"}

# The kind of each layout, and for each field of the record the layout's own name.
_KINDS: Mapping[type[Layers], tuple[str, Mapping[str, str]]] = {
    FullAttention: ("full", _HEADS),
    SlidingAttention: ("sliding", {**_HEADS, "window": "window"}),
    ChunkedAttention: ("chunked", {**_HEADS, "window": "chunk"}),
    LatentAttention: ("latent", {"latent": "latent", "rope": "rope", "index_dim": "index_dim"}),
    GatedDeltaNet: (
        "gated_delta_net",
        {
            "conv_kernel": "conv_kernel",
            "v_heads": "v_heads",
            "k_heads": "k_heads",
            "k_dim": "k_dim",
            "v_dim": "v_dim",
        },
    ),
    Mamba2: (
        "mamba2",
        {
            "conv_kernel": "conv_kernel",
            "heads": "heads",
            "head_dim": "head_dim",
            "state": "state",
            "groups": "n_groups",
        },
    ),
    Mamba1: ("mamba", {"conv_kernel": "conv_kernel", "channels": "d_inner", "state": "state"}),
    ShortConvolution: ("short_convolution", {"conv_kernel": "conv_kernel", "channels": "width"}),
}


def listed(layers: Layers) -> dict[str, str | int]:
    """An item of cached_layers; a width of nought, an indexer that is not there, is left out."""
    kind, names = _KINDS[type(layers)]
    item: dict[str, str | int] = {"kind": kind, "layers": layers.layers}
    for field, name in names.items():
        width: int = getattr(layers, name)
        if width:
            item[field] = width
    return item
