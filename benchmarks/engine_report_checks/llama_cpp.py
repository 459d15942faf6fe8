"""llama.cpp, ik_llama.cpp and Ollama: cells of each cache, keys and values apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from engine_report_checks.predictions import NotPredicted
from upheld.arithmetic.dtypes import CacheDtype, cache_dtype
from upheld.arithmetic.engines import llama_cpp
from upheld.arithmetic.layouts import Layers
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention
from upheld.arithmetic.layouts.state import StateLayers
from upheld.judge.beside.figures import MIB, Check, same_digits


def checks(
    report: Mapping[str, Any], layers: list[Layers], shape: Mapping[str, Any]
) -> Iterator[Check]:
    arguments, reported = report["arguments"], report["reported"]
    k_type = cache_dtype(arguments.get("k_type") or arguments.get("ckv_type") or "f16")
    v_type = cache_dtype(arguments.get("v_type") or arguments.get("k_type") or "f16")
    if "kv_mib" in reported:
        yield from _whole_cache(report, layers, k_type, v_type)
    for cache in reported.get("caches", ()):
        yield from _one_cache(cache, layers, arguments, report["engine"], k_type, v_type)
    if "recurrent" in reported:
        recurrent = reported["recurrent"]
        states = [each for each in layers if isinstance(each, StateLayers)]
        if not states:
            raise NotPredicted("no layers with a state are known")
        cells, snapshots = int(recurrent["cells"]), int(recurrent.get("rs_seq") or 0)
        r = s = 0
        for each in states:
            more_r, more_s = llama_cpp.recurrent_bytes(each, cells, snapshots)
            r, s = r + more_r, s + more_s
        for name, size in (("r_mib", r), ("s_mib", s), ("total_mib", r + s)):
            if name in recurrent:
                yield same_digits(f"recurrent.{name}", recurrent[name], Fraction(size, MIB))


def _whole_cache(
    report: Mapping[str, Any], layers: list[Layers], k_type: CacheDtype, v_type: CacheDtype
) -> Iterator[Check]:
    arguments, reported = report["arguments"], report["reported"]
    cells = int(reported["cells"].replace(",", "")) if "cells" in reported else arguments["n_ctx"]
    k = v = 0
    for each in layers:
        if isinstance(each, LatentAttention):
            if "ckv_mib" in reported:
                more = (llama_cpp.latent_bytes(each, cells, k_type), 0)
            elif report["attention"] == "mla_expanded":
                more = llama_cpp.key_and_value_bytes(each.expanded(), cells, k_type, v_type)
            else:
                more = llama_cpp.latent_key_and_value_bytes(each, cells, k_type, v_type)
        elif isinstance(each, FullAttention):
            more = llama_cpp.key_and_value_bytes(each, cells, k_type, v_type)
        else:
            continue
        k, v = k + more[0], v + more[1]
    for name, size in (("k_mib", k), ("v_mib", v), ("kv_mib", k + v), ("ckv_mib", k)):
        if name in reported:
            yield same_digits(name, reported[name], Fraction(size, MIB))


def _one_cache(
    cache: Mapping[str, Any],
    layers: list[Layers],
    arguments: Mapping[str, Any],
    engine: str,
    k_type: CacheDtype,
    v_type: CacheDtype,
) -> Iterator[Check]:
    kind = cache["layers"]
    chosen = _cached(layers, kind)
    if not chosen:
        raise NotPredicted(f"a cache of {kind} layers is not known")
    cells, streams = int(cache["cells"].replace(",", "")), int(cache.get("streams") or 1)
    if arguments.get("n_ctx"):
        yield _cells(cache, chosen[0], arguments, engine)
    k = v = 0
    for each in chosen:
        if isinstance(each, LatentAttention):
            more = (llama_cpp.latent_bytes(each, cells, k_type, streams), 0)
        else:
            more = llama_cpp.key_and_value_bytes(each, cells, k_type, v_type, streams)
        k, v = k + more[0], v + more[1]
    for name, size in (("k_mib", k), ("v_mib", v), ("kv_mib", k + v)):
        if name in cache:
            yield same_digits(f"{kind}.{name}", cache[name], Fraction(size, MIB))


def _cached(layers: list[Layers], kind: str) -> list[FullAttention | LatentAttention]:
    """The layers of one cache: latent rows as such where it says so, and expanded elsewhere."""
    chosen: list[FullAttention | LatentAttention] = []
    for each in layers:
        if isinstance(each, LatentAttention):
            each = each if kind == "mla" else each.expanded()
        elif not isinstance(each, FullAttention) or kind == "mla":
            continue
        sliding = isinstance(each, SlidingAttention)
        if kind in ("all", "mla", "mla_expanded") or (kind == "sliding") == sliding:
            chosen.append(each)
    return chosen


def _cells(
    cache: Mapping[str, Any],
    layout: FullAttention | LatentAttention,
    arguments: Mapping[str, Any],
    engine: str,
) -> Check:
    n_ctx, n_seq = arguments["n_ctx"], arguments.get("n_seq") or 1
    batch = arguments.get("n_ubatch") or 512
    windowed = isinstance(layout, SlidingAttention) and not arguments.get("swa_full")
    if windowed and cache["layers"] == "sliding":
        wanted = llama_cpp.sliding_cells(layout, n_ctx, n_seq, batch)
        own = llama_cpp.ollama_sliding_cells(n_seq, batch)
        if engine == "ollama" and int(cache["cells"].replace(",", "")) == own:
            # It has two runners, and a log does not always say which one ran.
            wanted = own
    else:
        wanted = llama_cpp.full_cells(n_ctx, n_seq, int(cache.get("streams") or 1))
    return same_digits(f"{cache['layers']}.cells", cache["cells"], Fraction(wanted))
