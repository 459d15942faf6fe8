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
        if isinstance(found[0], LatentAttention):
            size = sum(sglang.latent_bytes(each, tokens, dtype, page) for each in found)
            yield same_digits(name + "kv_gb", pool["kv_gb"], Fraction(size, GIB))
        else:
            sizes = [sglang.key_and_value_bytes(each, tokens, dtype, tp, page) for each in found]
            k, v = (sum(each) for each in zip(*sizes, strict=True))
            for figure, predicted in (("k_gb", k), ("v_gb", v), ("kv_gb", k + v)):
                if figure in pool:
                    yield same_digits(name + figure, pool[figure], Fraction(predicted, GIB))
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
) -> list[FullAttention | LatentAttention]:
    """The layers of a pool; there is one in them at least."""
    tokens = [each for each in layers if isinstance(each, FullAttention | LatentAttention)]
    sliding = [each for each in tokens if isinstance(each, SlidingAttention)]
    full = [each for each in tokens if each not in sliding]
    if full and kind.startswith("mtp"):
        return [replace(full[0], layers=int(kind.removeprefix("mtp") or 1))]
    found = {"sliding": sliding, "full": full, "all": tokens}.get(kind)
    if not found:
        raise NotPredicted(f"a pool of {kind} layers is not known")
    # SGLang allots the layers as well that share another's cache.
    known, whole = sum(each.layers for each in layers), shape.get("num_hidden_layers", 0)
    if whole > known and len(tokens) == len(layers) > 1 and shape.get("num_kv_shared_layers", 1):
        parts = [Fraction(each.layers * whole, known) for each in found]
        if all(part.denominator == 1 for part in parts):
            return [
                replace(each, layers=int(part)) for each, part in zip(found, parts, strict=True)
            ]
    return found
