"""vLLM's first engine: blocks of one size on the GPU and in its swap space."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from engine_report_checks.shapes import dtype_of
from upheld.arithmetic.engines import vllm_v0
from upheld.arithmetic.layouts import Layers
from upheld.judge.beside.figures import GIB, Check, Interval, in_interval, same_digits


def checks(
    report: Mapping[str, Any], layers: list[Layers], shape: Mapping[str, Any]
) -> Iterator[Check]:
    arguments, reported = report["arguments"], report["reported"]
    size = arguments.get("block_size") or 16
    tp = arguments.get("tensor_parallel_size") or 1
    per_block = vllm_v0.block_bytes(layers, dtype_of(arguments, shape), size, tp)
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
    yield Check("max_concurrency", printed, shown, verdict, "interval")
