"""TensorRT-LLM: blocks of tokens within a share of the free memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from engine_report_checks.shapes import dtype_of
from upheld.arithmetic.engines import tensorrt_llm
from upheld.arithmetic.layouts import Layers
from upheld.arithmetic.layouts.full import FullAttention
from upheld.judge.beside.figures import GIB, Check, Interval, in_interval, same_digits


def checks(
    report: Mapping[str, Any], layers: list[Layers], shape: Mapping[str, Any]
) -> Iterator[Check]:
    arguments, reported = report["arguments"], report["reported"]
    full = [each for each in layers if isinstance(each, FullAttention)]
    token = tensorrt_llm.token_bytes(full, dtype_of(arguments, shape), arguments.get("tp") or 1)
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
