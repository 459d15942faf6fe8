"""SGLang: pools of tokens, one for each kind of layer, and slots for states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from engine_report_checks.predictions import NotPredicted
from engine_report_checks.shapes import dtype_of
from upheld.arithmetic.engines import sglang
from upheld.arithmetic.layouts import Layers
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention
from upheld.arithmetic.layouts.state import StateLayers
from upheld.judge.beside.figures import GIB, Check, same_digits


def checks(
    report: Mapping[str, Any], layers: list[Layers], shape: Mapping[str, Any]
) -> Iterator[Check]:
    arguments, reported = report["arguments"], report["reported"]
    dtype = dtype_of(arguments, shape)
    tp, page = arguments.get("tp") or 1, arguments.get("page_size") or 1
    for pool in reported.get("pools", ()):
        tokens = int(pool["tokens"].replace(",", ""))
        kind = pool["layers"]
        found = _pool_layers(layers, kind, shape)
        name = f"{kind}."
        if isinstance(found, LatentAttention):
            size = sglang.latent_bytes(found, tokens, dtype, page)
            yield same_digits(name + "kv_gb", pool["kv_gb"], Fraction(size, GIB))
        else:
            k, v = sglang.key_and_value_bytes(found, tokens, dtype, tp, page)
            yield same_digits(name + "k_gb", pool["k_gb"], Fraction(k, GIB))
            yield same_digits(name + "v_gb", pool["v_gb"], Fraction(v, GIB))
    if "max_total_num_tokens" in reported and reported.get("pools"):
        of_pool = Fraction(reported["pools"][0]["tokens"].replace(",", ""))
        yield same_digits("max_total_num_tokens", reported["max_total_num_tokens"], of_pool)
    if "mamba" in reported:
        states = next(each for each in layers if isinstance(each, StateLayers))
        element = Fraction(2 if arguments.get("mamba_ssm_dtype") in ("bfloat16", "float16") else 4)
        slots = int(reported["mamba"]["max_mamba_cache_size"])
        conv, ssm = sglang.state_bytes(states, slots, tp, state_element=element)
        yield same_digits("mamba.conv_gb", reported["mamba"]["conv_gb"], Fraction(conv, GIB))
        yield same_digits("mamba.ssm_gb", reported["mamba"]["ssm_gb"], Fraction(ssm, GIB))


def _pool_layers(
    layers: list[Layers], kind: str, shape: Mapping[str, Any]
) -> FullAttention | LatentAttention:
    tokens = [each for each in layers if isinstance(each, FullAttention | LatentAttention)]
    full = next(each for each in tokens if not isinstance(each, SlidingAttention))
    found: FullAttention | LatentAttention
    match kind:
        case "sliding":
            found = next(each for each in tokens if isinstance(each, SlidingAttention))
        case "full" | "all":
            found = full
        case _ if kind.startswith("mtp"):
            return replace(full, layers=int(kind.removeprefix("mtp") or 1))
        case _:
            raise NotPredicted(f"a pool of {kind} layers is not known")
    # SGLang allots the layers as well that share another's cache.
    shared = shape.get("num_hidden_layers", 0) - sum(each.layers for each in layers)
    if shared > 0 and len(tokens) == len(layers) > 1 and shape.get("num_kv_shared_layers", 1):
        whole = shape["num_hidden_layers"]
        part = Fraction(found.layers * whole, sum(each.layers for each in layers))
        if part.denominator == 1:
            return replace(found, layers=int(part))
    return found
