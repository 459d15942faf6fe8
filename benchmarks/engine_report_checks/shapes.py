"""What a report and its model's shape say, as the arithmetic takes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from engine_report_checks.predictions import NotPredicted
from upheld.arithmetic.dtypes import CacheDtype, cache_dtype
from upheld.arithmetic.layouts import Layers
from upheld.arithmetic.layouts.chunked import ChunkedAttention
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention
from upheld.arithmetic.layouts.state import GatedDeltaNet, Mamba1, Mamba2, ShortConvolution


def layers_of(shape: Mapping[str, Any]) -> list[Layers]:
    """The cached layers of a shape, by kind."""
    return [_layers(each) for each in shape["kv_layers"]]


def _layers(each: Mapping[str, Any]) -> Layers:
    count = each["layers"]
    match each["kind"]:
        case "full":
            return FullAttention(count, each["kv_heads"], each["k_dim"], each["v_dim"])
        case "sliding":
            return SlidingAttention(
                count, each["kv_heads"], each["k_dim"], each["v_dim"], each["window"]
            )
        case "chunked" | "chunked_local":
            return ChunkedAttention(
                count, each["kv_heads"], each["k_dim"], each["v_dim"], each["window"]
            )
        case "mla":
            return LatentAttention(
                count,
                each["latent"],
                each["rope"],
                each.get("dsa_index_dim", 0),
                each.get("heads", 0),
                each.get("qk_nope", 0),
                each.get("v_head", 0),
            )
        case "gdn":
            return GatedDeltaNet(
                count,
                each["conv_kernel"],
                each["v_heads"],
                each["k_heads"],
                each["k_dim"],
                each["v_dim"],
            )
        case "kda":
            # Kimi Delta Attention: as wide in keys as in values, and as many heads of each.
            heads, width = each["heads"], each["head_dim"]
            return GatedDeltaNet(count, each["conv_kernel"], heads, heads, width, width)
        case "mamba" | "mamba1":
            return Mamba1(count, each["conv_kernel"], each["d_inner"], each["state"])
        case "mamba2":
            return Mamba2(
                count,
                each["conv_kernel"],
                each["heads"],
                each["head_dim"],
                each["state"],
                each["n_groups"],
            )
        case "shortconv":
            return ShortConvolution(count, each["conv_kernel"], each["channels"])
        case kind:
            raise NotPredicted(f"layers of the kind {kind} are not known")


PERTURBATIONS: dict[str, Callable[[Layers], Layers]] = {
    "layers": lambda each: replace(each, layers=each.layers + 1),
    "kv-heads": lambda each: (
        replace(each, kv_heads=each.kv_heads + 1) if isinstance(each, FullAttention) else each
    ),
    "head-width": lambda each: (
        replace(each, k_dim=_wider(each.k_dim), v_dim=_wider(each.v_dim))
        if isinstance(each, FullAttention)
        else replace(each, latent=_wider(each.latent))
        if isinstance(each, LatentAttention)
        else each
    ),
}


def _wider(width: int) -> int:
    return width + max(1, round(width * 0.02))


def version_of(text: str | None, default: tuple[int, ...]) -> tuple[int, ...]:
    """The numbers of the first version in a text, such as `v0.20.2` or `newer than 0.20`.

    `main`, a commit or `fork of 0.2x` names none, and neither does `0.1.dev20073`, which a build
    calls itself that was made without tags.
    """
    match = re.search(r"(?<![\d.])(\d+\.\d+(?:\.\d+)?)(?!\d*x)(\.dev)?", text or "")
    if match is None or (match[2] and match[1] == "0.1"):
        return default
    return tuple(map(int, match[1].split(".")))


def dtype_of(arguments: Mapping[str, Any], shape: Mapping[str, Any]) -> CacheDtype:
    name = arguments.get("kv_cache_dtype") or "auto"
    if name == "auto":
        name = arguments.get("dtype") or shape.get("torch_dtype") or "bfloat16"
    return cache_dtype(name)
