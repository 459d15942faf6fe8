"""What engines printed about memory at start-up, against what arithmetic says.

    python benchmarks/engine_reports.py REPORTS.yaml --shapes SHAPES.yaml [--json]

A figure is exact where the prediction, written as the engine writes it, has the same digits; where
an input is itself a rounded figure, such as 5.27 GiB, where the printed value lies in the interval
that the rounding allows. `within` is 1 % of it. Nothing looks at a model's name or a case's id.
What loading the weights took is scored apart, under `weights`.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import yaml

from upheld.arithmetic.dtypes import CacheDtype, cache_dtype
from upheld.arithmetic.engines import llama_cpp, lmdeploy, sglang, tensorrt_llm, vllm, vllm_v0
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.layouts import Layers
from upheld.arithmetic.layouts.chunked import ChunkedAttention
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention
from upheld.arithmetic.layouts.state import (
    GatedDeltaNet,
    Mamba1,
    Mamba2,
    ShortConvolution,
    StateLayers,
)
from upheld.arithmetic.weights import weights

GIB, MIB = 2**30, 2**20
NEAR = Fraction(1, 100)


@dataclass(frozen=True)
class Check:
    """One printed figure: what was predicted for it, and how they compare."""

    name: str
    printed: str
    predicted: str | None
    verdict: str


@dataclass(frozen=True)
class Interval:
    """The exact values that print as a rounded figure, both ends included."""

    low: Fraction
    high: Fraction

    @classmethod
    def of(cls, printed: str, unit: int, digits: int = 2) -> Interval:
        """`5.27` GiB is anything from 5.265 to 5.275; vLLM drops trailing zeros: 24.0 is 24.00."""
        half = Fraction(1, 2 * 10 ** max(digits, _decimals(printed)))
        value = Fraction(printed.replace(",", ""))
        return cls((value - half) * unit, (value + half) * unit)


class NotPredicted(Exception):
    """Something that the figure depends on is not known, or not yet computed."""


def _decimals(printed: str) -> int:
    return len(printed.partition(".")[2])


def same_digits(name: str, printed: str, value: Fraction) -> Check:
    """The prediction written with as many decimals as were printed, half to even as printf does."""
    exponent = Decimal(1).scaleb(-_decimals(printed))
    decimal = Decimal(value.numerator) / Decimal(value.denominator)
    shown = decimal.quantize(exponent, rounding=ROUND_HALF_EVEN)
    exact = shown == Decimal(printed.replace(",", ""))
    return Check(name, printed, f"{shown:,}", "exact" if exact else _near(printed, value, value))


def in_interval(name: str, printed: str, low: Fraction, high: Fraction) -> Check:
    """Whether the printed value is among those that the rounding of an input allows."""
    value = Fraction(printed.replace(",", ""))
    half = Fraction(1, 2 * 10 ** _decimals(printed)) if "." in printed else Fraction(0)
    exact = low - half <= value <= high + half
    shown = f"{float(low):,.6g}" if low == high else f"{float(low):,.6g} … {float(high):,.6g}"
    return Check(name, printed, shown, "exact" if exact else _near(printed, low, high))


def _near(printed: str, low: Fraction, high: Fraction) -> str:
    value = Fraction(printed.replace(",", ""))
    return "within" if low * (1 - NEAR) <= value <= high * (1 + NEAR) else "off"


# Shapes


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


# Engines


def version_of(text: str | None, default: tuple[int, int]) -> tuple[int, int]:
    """The first two numbers of a version; `fork of 0.2x` and the like name none."""
    match = re.match(r"(\d+)\.(\d+)(?!x)", text or "")
    return (int(match[1]), int(match[2])) if match else default


def vllm_settings(report: Mapping[str, Any], shape: Mapping[str, Any]) -> vllm.Settings:
    """What a report says vLLM was started with; `assumed` holds what was not printed."""
    arguments, assumed = report["arguments"], report["assumed"]
    version = version_of(report["engine_version"], (0, 19))
    printed_by = assumed.get("report")
    if printed_by == "groups":
        version = min(version, (0, 21))
    elif printed_by == "concurrency":
        version = max(version, vllm.TOKENS_FROM_CONCURRENCY_SINCE)
    state = Fraction(assumed["ssm_bytes"]) if "ssm_bytes" in assumed else _state(shape, version)
    return vllm.Settings(
        kv_cache_dtype=_dtype(arguments, shape),
        version=version,
        block_size=arguments.get("block_size") or 16,
        tensor_parallel_size=arguments.get("tensor_parallel_size") or 1,
        decode_context_parallel_size=arguments.get("decode_context_parallel_size") or 1,
        max_num_batched_tokens=arguments.get("max_num_batched_tokens") or 8192,
        state_element=state,
        state_mode=assumed.get("mamba_mode", "none"),
        draft_tokens=assumed.get("spec_tokens", 0),
    )


def _state(shape: Mapping[str, Any], version: tuple[int, int]) -> Fraction:
    """Bytes of a state's element where nobody said: fp32 where the family's config asks for it.

    Nemotron-H and the Qwen3.5 family do (mamba_ssm_cache_dtype, mamba_ssm_dtype); Qwen3-Next and
    Granite 4 keep the convolution's 16 bits, as all did before the option.
    """
    kinds = {each["kind"] for each in shape["kv_layers"]}
    gated = "gdn" in kinds and version >= (0, 11) and shape.get("model_type") != "qwen3_next"
    return Fraction(4 if gated or "hybrid_override_pattern" in shape else 2)


def _dtype(arguments: Mapping[str, Any], shape: Mapping[str, Any]) -> CacheDtype:
    name = arguments.get("kv_cache_dtype") or "auto"
    if name == "auto":
        name = arguments.get("dtype") or shape.get("torch_dtype") or "bfloat16"
    return cache_dtype(name)


def _with_drafts(layers: list[Layers], assumed: Mapping[str, Any]) -> list[Layers]:
    full = next(each for each in layers if type(each) in (FullAttention, LatentAttention))
    extra = assumed.get("extra_full_layers", 0)
    found = [replace(each, layers=each.layers + extra) if each is full else each for each in layers]
    if sliding := assumed.get("extra_sliding_layers", 0):
        assert isinstance(full, FullAttention)
        window = assumed.get("extra_sliding_window", 2048)
        found.append(SlidingAttention(sliding, full.kv_heads, full.k_dim, full.v_dim, window))
    return found


def vllm_v1(
    report: Mapping[str, Any], layers: list[Layers], shape: Mapping[str, Any]
) -> Iterator[Check]:
    arguments, reported, assumed = report["arguments"], report["reported"], report["assumed"]
    settings = vllm_settings(report, shape)
    layers = _with_drafts(layers, assumed)
    if assumed.get("all_layers_full"):
        layers = vllm.all_full(layers)
    pool = vllm.pool(layers, settings)
    limit = arguments.get("max_model_len")
    if "attention_block_size" in reported:
        yield same_digits(
            "attention_block_size",
            reported["attention_block_size"],
            Fraction(pool.attention_block_size),
        )
    if "mamba_padding_percent" in reported and pool.state_padding is not None:
        yield same_digits(
            "mamba_padding_percent", reported["mamba_padding_percent"], pool.state_padding * 100
        )
    if "padding_layers" in reported:
        yield same_digits(
            "padding_layers", reported["padding_layers"], Fraction(pool.padding_layers)
        )
    if "mamba_page_size_padded" in reported:
        yield same_digits(
            "mamba_page_size_padded", reported["mamba_page_size_padded"], Fraction(pool.page_bytes)
        )
    if "kv_needed_gib" in reported and limit:
        yield same_digits(
            "kv_needed_gib", _two(reported["kv_needed_gib"]), Fraction(pool.needed(limit), GIB)
        )
    low, high = _blocks(report, layers, settings, pool)
    if "estimated_max_model_len" in reported and "available_kv_gib" in reported and limit:
        available = Interval.of(reported["available_kv_gib"], GIB)
        yield in_interval(
            "estimated_max_model_len",
            reported["estimated_max_model_len"],
            Fraction(pool.longest(int(available.low), limit)),
            Fraction(pool.longest(int(available.high), limit)),
        )
    yield from _capacity(report, pool, low, high)


def _two(printed: str) -> str:
    """vLLM's format_gib drops trailing zeros; the value still has two decimals."""
    return f"{Decimal(printed):.2f}"


def _blocks(
    report: Mapping[str, Any], layers: list[Layers], settings: vllm.Settings, pool: vllm.Pool
) -> tuple[int, int]:
    """The least and most blocks that the printed memory allows; (0, -1) where none is printed."""
    arguments, reported = report["arguments"], report["reported"]
    stages = arguments.get("pipeline_parallel_size") or 1
    if "num_gpu_blocks" in reported:
        blocks = int(reported["num_gpu_blocks"].replace(",", ""))
        return blocks, blocks
    if "non_kv_cache_gib_by_pp_rank" in reported:
        requested = Interval.of(reported["requested_memory_gib"], GIB)
        sizes = vllm.stage_sizes(sum(each.layers for each in layers), stages)
        lows, highs = [], []
        for stage, other in zip(
            vllm.stages(layers, sizes), reported["non_kv_cache_gib_by_pp_rank"], strict=True
        ):
            taken = Interval.of(other, GIB)
            own = vllm.pool(stage, settings)
            lows.append(own.blocks(int(requested.low - taken.high)))
            highs.append(own.blocks(int(requested.high - taken.low)))
        return min(lows), min(highs)
    if "available_kv_gib" in reported and stages == 1:
        available = Interval.of(reported["available_kv_gib"], GIB)
        return pool.blocks(int(available.low)), pool.blocks(int(available.high))
    return 0, -1


def _capacity(report: Mapping[str, Any], pool: vllm.Pool, low: int, high: int) -> Iterator[Check]:
    reported, limit = report["reported"], report["arguments"].get("max_model_len")
    tokens = reported.get("gpu_kv_cache_tokens")
    concurrency = reported.get("max_concurrency")
    if tokens is not None and high >= low:
        yield in_interval(
            "gpu_kv_cache_tokens",
            tokens,
            Fraction(pool.tokens(low, limit)),
            Fraction(pool.tokens(high, limit)),
        )
    if concurrency is None or not limit:
        return
    if tokens is not None:
        # All block counts that print these tokens; with one group there is one.
        blocks = _blocks_of_tokens(pool, int(tokens.replace(",", "")), limit)
        low, high = blocks if high < low else (max(low, blocks[0]), min(high, blocks[1]))
    if high >= low:
        yield in_interval(
            "max_concurrency",
            concurrency,
            pool.concurrency(low, limit),
            pool.concurrency(high, limit),
        )
    else:
        yield Check("max_concurrency", concurrency, None, "off")


def _blocks_of_tokens(pool: vllm.Pool, tokens: int, limit: int) -> tuple[int, int]:
    guess = max(1, tokens // pool.smallest_block)
    step = len(pool.groups) + pool.blocks_for(limit)
    low, high = 0, guess * step
    while low < high:
        middle = (low + high) // 2
        if pool.tokens(middle, limit) < tokens:
            low = middle + 1
        else:
            high = middle
    last = low
    while pool.tokens(last + 1, limit) <= tokens:
        last += 1
    return low, last


def vllm_v0_checks(
    report: Mapping[str, Any], layers: list[Layers], shape: Mapping[str, Any]
) -> Iterator[Check]:
    arguments, reported = report["arguments"], report["reported"]
    size = arguments.get("block_size") or 16
    tp = arguments.get("tensor_parallel_size") or 1
    per_block = vllm_v0.block_bytes(layers, _dtype(arguments, shape), size, tp)
    limit = arguments.get("max_model_len")
    blocks: tuple[int, int] | None = None
    if "available_kv_gib" in reported:
        available = Interval.of(reported["available_kv_gib"], GIB)
        blocks = (
            vllm_v0.blocks(int(available.low), per_block),
            vllm_v0.blocks(int(available.high), per_block),
        )
    if "num_gpu_blocks" in reported:
        printed = reported["num_gpu_blocks"]
        if blocks:
            yield in_interval("num_gpu_blocks", printed, Fraction(blocks[0]), Fraction(blocks[1]))
        count = int(printed.replace(",", ""))
        blocks = (count, count)
    if "num_cpu_blocks" in reported and "swap_space_gib" in arguments:
        swap = vllm_v0.blocks(int(arguments["swap_space_gib"]) * GIB, per_block)
        yield same_digits("num_cpu_blocks", reported["num_cpu_blocks"], Fraction(swap))
    if blocks and "max_concurrency" in reported and limit:
        yield in_interval(
            "max_concurrency",
            reported["max_concurrency"],
            Fraction(blocks[0] * size, limit),
            Fraction(blocks[1] * size, limit),
        )
    if blocks and "max_tokens_in_kv_cache" in reported:
        yield in_interval(
            "max_tokens_in_kv_cache",
            reported["max_tokens_in_kv_cache"],
            Fraction(blocks[0] * size),
            Fraction(blocks[1] * size),
        )
    if "other_max_concurrency" in reported:
        yield from _two_launches(report, size)


def _two_launches(report: Mapping[str, Any], size: int) -> Iterator[Check]:
    """Two concurrencies of one pool: some block count must print both."""
    arguments, reported = report["arguments"], report["reported"]
    ranges = []
    for limit, printed in (
        (arguments["max_model_len"], reported["max_concurrency"]),
        (arguments["other_max_model_len"], reported["other_max_concurrency"]),
    ):
        rounding = Interval.of(printed, limit)
        ranges.append((rounding.low / size, rounding.high / size))
    low, high = max(each[0] for each in ranges), min(each[1] for each in ranges)
    printed = f"{reported['max_concurrency']} and {reported['other_max_concurrency']}"
    verdict = "exact" if low <= high else "off"
    shown = f"{float(low):,.0f} … {float(high):,.0f} blocks"
    yield Check("max_concurrency", printed, shown, verdict)


def sglang_checks(
    report: Mapping[str, Any], layers: list[Layers], shape: Mapping[str, Any]
) -> Iterator[Check]:
    arguments, reported = report["arguments"], report["reported"]
    dtype = _dtype(arguments, shape)
    tp, page = arguments.get("tp") or 1, arguments.get("page_size") or 1
    for pool in reported.get("pools", ()):
        tokens = int(pool["tokens"].replace(",", ""))
        kind = pool["layers"]
        found = _sglang_layers(layers, kind, shape)
        name = f"{kind}."
        if isinstance(found, LatentAttention):
            size = sglang.latent_bytes(found, tokens, dtype, page)
            yield same_digits(name + "kv_gb", pool["kv_gb"], Fraction(size, GIB))
        else:
            k, v = sglang.key_and_value_bytes(found, tokens, dtype, tp, page)
            yield same_digits(name + "k_gb", pool["k_gb"], Fraction(k, GIB))
            yield same_digits(name + "v_gb", pool["v_gb"], Fraction(v, GIB))
    if "max_total_num_tokens" in reported and reported.get("pools"):
        tokens = Fraction(reported["pools"][0]["tokens"].replace(",", ""))
        yield same_digits("max_total_num_tokens", reported["max_total_num_tokens"], tokens)
    if "mamba" in reported:
        states = next(each for each in layers if isinstance(each, StateLayers))
        element = Fraction(2 if arguments.get("mamba_ssm_dtype") in ("bfloat16", "float16") else 4)
        slots = int(reported["mamba"]["max_mamba_cache_size"])
        conv, ssm = sglang.state_bytes(states, slots, tp, state_element=element)
        yield same_digits("mamba.conv_gb", reported["mamba"]["conv_gb"], Fraction(conv, GIB))
        yield same_digits("mamba.ssm_gb", reported["mamba"]["ssm_gb"], Fraction(ssm, GIB))


def _sglang_layers(
    layers: list[Layers], kind: str, shape: Mapping[str, Any]
) -> FullAttention | LatentAttention:
    tokens = [each for each in layers if isinstance(each, FullAttention | LatentAttention)]
    full = next(each for each in tokens if not isinstance(each, SlidingAttention))
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


def llama_cpp_checks(
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
    attention = [each for each in layers if isinstance(each, FullAttention | LatentAttention)]
    chosen: list[FullAttention] = []
    for each in attention:
        if isinstance(each, LatentAttention):
            each = each.expanded()
        sliding = isinstance(each, SlidingAttention)
        if kind in ("all", "mla_expanded") or (kind == "sliding") == sliding:
            chosen.append(each)
    cells, streams = int(cache["cells"].replace(",", "")), int(cache.get("streams") or 1)
    if arguments.get("n_ctx"):
        yield _cells(cache, chosen[0], arguments, engine)
    k = v = 0
    for each in chosen:
        more = llama_cpp.key_and_value_bytes(each, cells, k_type, v_type, streams)
        k, v = k + more[0], v + more[1]
    for name, size in (("k_mib", k), ("v_mib", v), ("kv_mib", k + v)):
        if name in cache:
            yield same_digits(f"{kind}.{name}", cache[name], Fraction(size, MIB))


def _cells(
    cache: Mapping[str, Any], layout: FullAttention, arguments: Mapping[str, Any], engine: str
) -> Check:
    n_ctx, n_seq = arguments["n_ctx"], arguments.get("n_seq") or 1
    batch = arguments.get("n_ubatch") or 512
    if isinstance(layout, SlidingAttention) and cache["layers"] == "sliding":
        wanted = llama_cpp.sliding_cells(layout, n_ctx, n_seq, batch)
        own = llama_cpp.ollama_sliding_cells(n_seq, batch)
        if engine == "ollama" and int(cache["cells"].replace(",", "")) == own:
            # It has two runners, and a log does not always say which one ran.
            wanted = own
    else:
        wanted = llama_cpp.full_cells(n_ctx, n_seq, int(cache.get("streams") or 1))
    return same_digits(f"{cache['layers']}.cells", cache["cells"], Fraction(wanted))


def tensorrt_llm_checks(
    report: Mapping[str, Any], layers: list[Layers], shape: Mapping[str, Any]
) -> Iterator[Check]:
    arguments, reported = report["arguments"], report["reported"]
    full = [each for each in layers if isinstance(each, FullAttention)]
    token = tensorrt_llm.token_bytes(full, _dtype(arguments, shape), arguments.get("tp") or 1)
    size = arguments.get("tokens_per_block")
    if "primary_blocks" in reported and "available_gib" in reported and size:
        share = Fraction(str(arguments.get("free_gpu_memory_fraction") or "0.9"))
        available = Interval.of(reported["available_gib"], GIB)
        yield in_interval(
            "primary_blocks",
            reported["primary_blocks"],
            Fraction(tensorrt_llm.blocks(available.low, share, token * size)),
            Fraction(tensorrt_llm.blocks(available.high, share, token * size)),
        )
    if "max_tokens" in reported:
        tokens = Fraction(reported["max_tokens"].replace(",", ""))
        if "primary_blocks" in reported and size:
            blocks = Fraction(reported["primary_blocks"].replace(",", ""))
            yield same_digits("max_tokens", reported["max_tokens"], blocks * size)
        if "allocated_gib" in reported:
            yield same_digits("allocated_gib", reported["allocated_gib"], tokens * token / GIB)
        if "allocated_bytes" in reported:
            yield same_digits("allocated_bytes", reported["allocated_bytes"], tokens * token)


def lmdeploy_checks(
    report: Mapping[str, Any], layers: list[Layers], shape: Mapping[str, Any]
) -> Iterator[Check]:
    arguments, reported = report["arguments"], report["reported"]
    full = [each for each in layers if isinstance(each, FullAttention)]
    length = arguments["cache_block_seq_len"]
    policy = int(arguments.get("quant_policy") or 0)
    size = lmdeploy.block_bytes(full, length, policy, arguments.get("tp") or 1)
    if "block_size_mb" in reported:
        yield same_digits("block_size_mb", reported["block_size_mb"], Fraction(size, MIB))
    if "total_tokens" in reported and "max_block_count" in reported:
        tokens = Fraction(reported["max_block_count"].replace(",", "")) * length
        yield same_digits("total_tokens", reported["total_tokens"], tokens)


ENGINES: dict[str, Callable[..., Iterator[Check]]] = {
    "vllm-v1": vllm_v1,
    "vllm-v0": vllm_v0_checks,
    "sglang": sglang_checks,
    "llama.cpp": llama_cpp_checks,
    "ik_llama.cpp": llama_cpp_checks,
    "ollama": llama_cpp_checks,
    "tensorrt-llm": tensorrt_llm_checks,
    "lmdeploy": lmdeploy_checks,
}


def score(
    report: Mapping[str, Any], shapes: Mapping[str, Any], perturb: str | None = None
) -> dict[str, Any]:
    """One case: each printed figure beside its prediction, and the worst of the verdicts."""
    checks: list[Check] = []
    reason: str | None = None
    try:
        shape = shapes.get(report["model_shape"])
        if shape is None:
            checks = list(_without_a_shape(report))
        else:
            layers = layers_of(shape)
            if perturb:
                layers = [PERTURBATIONS[perturb](each) for each in layers]
            if report["engine"] not in ENGINES:
                raise NotPredicted(f"the engine {report['engine']} is not known")
            checks = list(ENGINES[report["engine"]](report, layers, shape))
    except (NotPredicted, ShapeError) as error:
        reason = str(error)
    order = ("exact", "within", "off")
    verdict = "not-predicted"
    if checks and reason is None:
        verdict = max((each.verdict for each in checks), key=order.index)
    return {
        "id": report["id"],
        "engine": report["engine"],
        "verdict": verdict,
        **({"reason": reason} if reason else {}),
        "checks": [vars(each) for each in checks],
    }


def _without_a_shape(report: Mapping[str, Any]) -> Iterator[Check]:
    """What the printed figures say of each other where the model is not known."""
    arguments, reported = report["arguments"], report["reported"]
    size = arguments.get("block_size") or 16
    tokens = reported.get("gpu_kv_cache_tokens")
    if tokens is None:
        raise NotPredicted("the model's shape is not known")
    if "num_gpu_blocks" in reported:
        blocks = Fraction(reported["num_gpu_blocks"].replace(",", ""))
        yield same_digits("gpu_kv_cache_tokens", tokens, blocks * size)
    if "max_concurrency" in reported and "max_model_len" in arguments:
        value = Fraction(tokens.replace(",", "")) / arguments["max_model_len"]
        yield same_digits("max_concurrency", reported["max_concurrency"], value)


# Weights

# What a model_type implies that its config.json does not say.
IMPLIED: dict[str, dict[str, Any]] = {
    "llama": {},
    "mixtral": {},
    "qwen2": {"qkv_bias": True},
    "qwen3": {"qk_norm": True},
    "qwen3_moe": {"qk_norm": True},
    "deepseek_v2": {"attention": "latent"},
}
# compressed-tensors does not print its scheme: eight bits with channel scales are taken, which
# fp8 and int8 share; for GPTQ the usual groups of 128.
QUANTISATIONS = {"compressed-tensors": ("fp8", None), "gptq_marlin": ("int4_gptq", 128)}
COUNTS = (
    "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "hidden_size",
    "intermediate_size", "vocab_size", "max_position_embeddings",
)  # fmt: skip


def score_weights(
    reports: Sequence[Mapping[str, Any]], shapes: Mapping[str, Any]
) -> dict[str, Any]:
    """What loading the model took, as vLLM printed it, apart from the KV figures."""
    rows = []
    for report in reports:
        if "model_loading_gib" not in report["reported"]:
            continue
        printed = report["reported"]["model_loading_gib"]
        try:
            size = _loading_bytes(report, shapes.get(report["model_shape"]) or {})
            check = same_digits("model_loading_gib", printed, Fraction(size, GIB))
            rows.append({"id": report["id"], **vars(check)})
        except (NotPredicted, ShapeError) as error:
            unknown = Check("model_loading_gib", printed, None, "not-predicted")
            rows.append({"id": report["id"], **vars(unknown), "reason": str(error)})
    exact = sum(row["verdict"] == "exact" for row in rows)
    return {"exact": exact, "total": len(rows), "rows": rows}


def _loading_bytes(report: Mapping[str, Any], shape: Mapping[str, Any]) -> int:
    arguments = report["arguments"]
    facts = _weight_facts(shape)
    limit = arguments.get("max_model_len") or 0
    if limit > facts["max_position_embeddings"]:
        # Only a scaling of the positions allows this, and its table covers the limit.
        facts["max_position_embeddings"] = limit
    dtype = {"float32": "fp32", "float16": "fp16"}.get(arguments.get("dtype") or "", "bf16")
    group = None
    if quantisation := arguments.get("quantization"):
        if quantisation not in QUANTISATIONS:
            raise NotPredicted(f"the quantisation {quantisation} is not known")
        dtype, group = QUANTISATIONS[quantisation]
    if arguments.get("speculative"):
        raise NotPredicted("the weights of a drafter are not known")
    found = weights(
        SimpleNamespace(
            id=report["id"],
            weight_dtype=dtype,
            weight_group_size=group,
            tensor_parallel=arguments.get("tensor_parallel_size") or 1,
        ),
        SimpleNamespace(origin="shapes", origins={}, weights_unknown=None, **facts),
        arguments.get("tensor_parallel_size") or 1,
        pipeline_parallel=arguments.get("pipeline_parallel_size") or 1,
    )
    return found.bytes


def _weight_facts(shape: Mapping[str, Any]) -> dict[str, Any]:
    if shape.get("has_vision_config"):
        raise NotPredicted("has_vision_config: the weights of a vision tower are not known")
    for name in (*COUNTS, "tie_word_embeddings"):
        if shape.get(name) is None:
            raise NotPredicted(f"{name} is not in the shape")
    kind = shape.get("model_type")
    if kind not in IMPLIED:
        raise NotPredicted(f"the tensors of the model_type {kind} are not known")
    heads = shape["num_attention_heads"]
    facts: dict[str, Any] = {"attention": "full", "qkv_bias": False, "qk_norm": False}
    facts |= {name: value for name, value in shape.items() if name.isidentifier()}
    facts |= {"head_dim": shape.get("head_dim") or shape["hidden_size"] // heads}
    facts.setdefault("parameters", None)
    experts = ("num_experts", "num_local_experts", "n_routed_experts")
    if counts := [shape[name] for name in experts if name in shape]:
        facts["num_experts"] = counts[0]
        facts.setdefault("moe_intermediate_size", shape["intermediate_size"])
        shared = shape.get("n_shared_experts", 0) * facts["moe_intermediate_size"]
        facts.setdefault("shared_expert_intermediate_size", shared)
    for name in ("source", "kv_layers", "origin", "origins"):
        facts.pop(name, None)
    return facts | IMPLIED[kind]


def score_all(
    reports: Sequence[Mapping[str, Any]], shapes: Mapping[str, Any], perturb: str | None = None
) -> dict[str, Any]:
    """All cases, and how many are exact."""
    cases = [score(report, shapes, perturb) for report in reports]
    exact = sum(case["verdict"] == "exact" for case in cases)
    return {
        "cases": cases,
        "summary": {"exact": exact, "total": len(cases)},
        "weights": score_weights(reports, shapes),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reports", type=Path)
    parser.add_argument("--shapes", type=Path, required=True)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--perturb", choices=sorted(PERTURBATIONS))
    options = parser.parse_args()
    reports = yaml.safe_load(options.reports.read_text("utf-8"))
    shapes = yaml.safe_load(options.shapes.read_text("utf-8"))
    result = score_all(reports, shapes, options.perturb)
    if options.json:
        print(json.dumps(result, indent=2))
        return
    for case in result["cases"]:
        if case["verdict"] != "exact":
            print(f"{case['id']}: {case['verdict']} {case.get('reason', '')}")
            for check in case["checks"]:
                figures = f"printed {check['printed']}, predicted {check['predicted']}"
                print(f"  {check['name']}: {figures}: {check['verdict']}")
    for row in result["weights"]["rows"]:
        if row["verdict"] != "exact":
            figures = f"printed {row['printed']}, predicted {row['predicted']}"
            print(f"{row['id']}: weights: {figures}: {row['verdict']} {row.get('reason', '')}")
    print(f"{result['summary']['exact']} of {result['summary']['total']} cases exact")
    print(f"{result['weights']['exact']} of {result['weights']['total']} weights exact")


if __name__ == "__main__":
    main()
