"""vLLM's V1 engine: blocks of one pool, shared by groups of layers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from engine_report_checks import devices
from engine_report_checks.predictions import NotPredicted
from engine_report_checks.shapes import dtype_of, version_of
from upheld.arithmetic.engines import vllm
from upheld.arithmetic.layouts import Layers
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention
from upheld.judge.beside.figures import GIB, Check, Interval, in_interval, same_digits
from upheld.judge.beside.vllm import capacity

# The last version that prints tokens of the groups of layers, and no concurrency in tokens.
LAST_FROM_GROUPS = (0, 20)
# A prefix that attends both ways raises the default of tokens a step to its largest item's.
WHOLE_ITEMS_SINCE = (0, 22)
PREFIXES_OF_HYBRIDS_SINCE = (0, 26)
_AS_REPORTED = {"capacity.tokens": "gpu_kv_cache_tokens", "concurrency": "max_concurrency"}


def checks(
    report: Mapping[str, Any], layers: list[Layers], shape: Mapping[str, Any]
) -> Iterator[Check]:
    arguments, reported, assumed = report["arguments"], report["reported"], report["assumed"]
    settings = settings_of(report, shape)
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
        printed = reported["kv_needed_gib"]
        needed = Fraction(pool.needed(limit), GIB)
        yield replace(same_digits("kv_needed_gib", _two(printed), needed), printed=printed)
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


def settings_of(report: Mapping[str, Any], shape: Mapping[str, Any]) -> vllm.Settings:
    """What a report says vLLM was started with; `assumed` holds what was not printed."""
    arguments, assumed = report["arguments"], report["assumed"]
    gpu = str(report.get("gpu") or "")
    version = version_of(report["engine_version"], (0, 19))
    printed_by = assumed.get("report")
    if printed_by == "groups":
        version = min(version, LAST_FROM_GROUPS)
    elif printed_by == "concurrency":
        version = max(version, vllm.TOKENS_FROM_CONCURRENCY_SINCE)
    state = Fraction(assumed["ssm_bytes"]) if "ssm_bytes" in assumed else _state(shape, version)
    return vllm.Settings(
        kv_cache_dtype=dtype_of(arguments, shape),
        version=version,
        block_size=arguments.get("block_size") or 16,
        tensor_parallel_size=arguments.get("tensor_parallel_size") or 1,
        decode_context_parallel_size=arguments.get("decode_context_parallel_size") or 1,
        max_num_batched_tokens=arguments.get("max_num_batched_tokens")
        or _default_batched_tokens(gpu, shape, version),
        state_element=state,
        state_mode=assumed.get("mamba_mode") or _state_mode(arguments, version),
        draft_tokens=assumed.get("spec_tokens", 0),
        batches_in_flight=_batches_in_flight(arguments),
        kernel_block=_kernel_block(gpu, shape),
        packs_sparse_latents=_packs_sparse_latents(arguments, gpu),
    )


def _default_batched_tokens(gpu: str, shape: Mapping[str, Any], version: tuple[int, ...]) -> int:
    """What nobody stated; one item has to fit where a prefix attends both ways (arg_utils.py)."""
    item = shape.get("prefix_item_tokens", 0) if version >= WHOLE_ITEMS_SINCE else 0
    return max(devices.batched_tokens(gpu, version), item)


def _state_mode(arguments: Mapping[str, Any], version: tuple[int, ...]) -> str:
    """How states are cached where it was not printed: by whether prefixes are (models/config.py).

    ModelConfig.is_prefix_caching_supported: the default was off for hybrids before 0.26.
    """
    cached = arguments.get("enable_prefix_caching")
    if cached is None:
        cached = version >= PREFIXES_OF_HYBRIDS_SINCE
    return "align" if cached else "none"


def _kernel_block(gpu: str, shape: Mapping[str, Any]) -> int | None:
    gated = any(each["kind"] == "gdn" for each in shape["kv_layers"])
    return devices.XPU_GATED_DELTA_BLOCK if gated and devices.XPU.search(gpu) else None


def _packs_sparse_latents(arguments: Mapping[str, Any], gpu: str) -> bool:
    """By the attention back end, or by the device that it is chosen for."""
    if backend := arguments.get("attention_backend"):
        return "FLASHMLA" in str(backend).upper()
    return not devices.PLAIN_SPARSE_LATENTS.search(gpu)


def _batches_in_flight(arguments: Mapping[str, Any]) -> int:
    """VllmConfig.max_concurrent_batches: one a stage, or two of asynchronous scheduling."""
    stages = arguments.get("pipeline_parallel_size") or 1
    return max(stages, 2 if arguments.get("async_scheduling", True) else 1)


def _state(shape: Mapping[str, Any], version: tuple[int, ...]) -> Fraction:
    """Bytes of a state's element where nobody said: fp32 where the family's config asks for it.

    Nemotron-H and the Qwen3.5 family do (mamba_ssm_cache_dtype, mamba_ssm_dtype), and Kimi Delta
    Attention always does; Qwen3-Next and Granite 4 keep the convolution's 16 bits, as all did
    before the option.
    """
    kinds = {each["kind"] for each in shape["kv_layers"]}
    gated = "gdn" in kinds and version >= (0, 11) and shape.get("model_type") != "qwen3_next"
    return Fraction(4 if gated or "kda" in kinds or "hybrid_override_pattern" in shape else 2)


def _with_drafts(layers: list[Layers], assumed: Mapping[str, Any]) -> list[Layers]:
    """The layers of a drafter beside the model's: full ones as the model's widest are."""
    extra, sliding = assumed.get("extra_full_layers", 0), assumed.get("extra_sliding_layers", 0)
    if not extra and not sliding:
        return layers
    alike = [each for each in layers if type(each) in (FullAttention, LatentAttention)]
    if not alike:
        raise NotPredicted("the model has no full layer that the drafter's could be as wide as")
    # Of layers that share an indexer the draft layer has its own.
    full = max(alike, key=lambda each: getattr(each, "index_dim", 0))
    found = [replace(each, layers=each.layers + extra) if each is full else each for each in layers]
    if sliding:
        if not isinstance(full, FullAttention):
            raise NotPredicted("how wide sliding layers beside a latent are is not known")
        window = assumed.get("extra_sliding_window", 2048)
        found.append(SlidingAttention(sliding, full.kv_heads, full.k_dim, full.v_dim, window))
    return found


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
    found = capacity(
        pool,
        (low, high) if high >= low else None,
        reported.get("gpu_kv_cache_tokens"),
        reported.get("max_concurrency"),
        limit,
    )
    for check in found:
        yield replace(check, name=_AS_REPORTED[check.name])
