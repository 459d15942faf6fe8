"""The printed figures that all tools are asked for, and what each case gives them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from engine_report_checks.shapes import dtype_of
from memory_calculator_checks.adapters.asks import Ask
from memory_calculator_checks.description import config_of
from upheld.arithmetic.dtypes import cache_dtype
from upheld.judge.beside.figures import GIB, MIB, Interval

TOKENS, SIZE = "tokens", "size"
# Of llama.cpp's caches, those that are not one of several for different layers.
OF_ALL_LAYERS = ("all", "mla_expanded")


@dataclass(frozen=True)
class Case:
    """One printed figure, Upheld's name for it, and the question that it answers.

    `block` is the tokens of the engine's block, to which capacities are rounded down and contexts
    up. `unit` is what one of the printed figure stands for, in tokens or bytes.
    """

    report: Mapping[str, Any]
    question: str
    check: str
    printed: str
    ask: Ask
    block: int = 1
    unit: int = 1

    @property
    def id(self) -> str:
        return f"{self.report['id']}:{self.check}"


def cases(
    reports: Sequence[Mapping[str, Any]],
    shapes: Mapping[str, Any],
    model_types: Mapping[str, str],
) -> list[Case]:
    """Every printed figure that is a capacity of printed memory or the size of one cache.

    Left out are figures of a model whose shape is not known, of several caches printed apart, of a
    state beside the cache, and those that follow from another printed figure alone.
    """
    found: list[Case] = []
    for report in reports:
        shape = shapes.get(report["model_shape"])
        if shape is not None and report["engine"] in ENGINES:
            found += ENGINES[report["engine"]](report, shape, model_types)
    return found


def _vllm(
    report: Mapping[str, Any], shape: Mapping[str, Any], model_types: Mapping[str, str]
) -> Iterator[Case]:
    arguments, reported = report["arguments"], report["reported"]
    block = arguments.get("block_size") or 16
    limit = arguments.get("max_model_len")
    memory = _least_memory(reported)
    block *= arguments.get("decode_context_parallel_size") or 1
    for check in ("gpu_kv_cache_tokens", "num_gpu_blocks", "estimated_max_model_len"):
        blocks_follow = check == "num_gpu_blocks" and "gpu_kv_cache_tokens" in reported
        if check not in reported or memory is None or blocks_follow:
            continue
        ask = _ask(
            report,
            shape,
            model_types,
            f"{report['id']}:{check}",
            memory_gib=memory,
            limit=limit if check == "gpu_kv_cache_tokens" else None,
        )
        unit = block if check == "num_gpu_blocks" else 1
        yield Case(report, TOKENS, check, reported[check], ask, block, unit)
    if "kv_needed_gib" in reported and limit:
        printed = f"{Decimal(reported['kv_needed_gib']):.2f}"  # trailing zeros are not printed
        context = -(-limit // block) * block
        yield _size(report, shape, model_types, "kv_needed_gib", printed, context, GIB)


def _llama_cpp(
    report: Mapping[str, Any], shape: Mapping[str, Any], model_types: Mapping[str, str]
) -> Iterator[Case]:
    arguments, reported = report["arguments"], report["reported"]
    if "kv_mib" in reported:
        whole, check = reported, "kv_mib"
    else:
        caches = [each for each in reported.get("caches", ()) if each["layers"] in OF_ALL_LAYERS]
        if not caches:
            return
        whole, check = caches[0], f"{caches[0]['layers']}.kv_mib"
    context = int(str(whole.get("cells") or arguments["n_ctx"]).replace(",", ""))
    yield _size(report, shape, model_types, check, whole["kv_mib"], context, MIB)


def _tensorrt_llm(
    report: Mapping[str, Any], shape: Mapping[str, Any], model_types: Mapping[str, str]
) -> Iterator[Case]:
    reported = report["reported"]
    for check, unit in (("allocated_gib", GIB), ("allocated_bytes", 1)):
        if check in reported:
            context = int(reported["max_tokens"].replace(",", ""))
            yield _size(report, shape, model_types, check, reported[check], context, unit)


ENGINES = {
    "vllm-v1": _vllm,
    "vllm-v0": _vllm,
    "llama.cpp": _llama_cpp,
    "ik_llama.cpp": _llama_cpp,
    "ollama": _llama_cpp,
    "tensorrt-llm": _tensorrt_llm,
}


def _size(
    report: Mapping[str, Any],
    shape: Mapping[str, Any],
    model_types: Mapping[str, str],
    check: str,
    printed: str,
    context: int,
    unit: int,
) -> Case:
    ask = _ask(report, shape, model_types, f"{report['id']}:{check}", context=context)
    return Case(report, SIZE, check, printed, ask, unit=unit)


def _ask(
    report: Mapping[str, Any],
    shape: Mapping[str, Any],
    model_types: Mapping[str, str],
    name: str,
    **question: Any,
) -> Ask:
    arguments = report["arguments"]
    return Ask(
        id=name,
        engine=report["engine"],
        config=config_of(shape, report["assumed"], model_types.get(report["model_shape"])),
        dtype=_dtype(report, shape),
        tensor_parallel=arguments.get("tensor_parallel_size") or arguments.get("tp") or 1,
        pipeline_parallel=arguments.get("pipeline_parallel_size") or 1,
        context_parallel=arguments.get("decode_context_parallel_size") or 1,
        **question,
    )


def _dtype(report: Mapping[str, Any], shape: Mapping[str, Any]) -> str:
    """The cache's dtype; where keys and values differ, both, which no other tool has."""
    arguments = report["arguments"]
    if report["engine"] not in ("llama.cpp", "ik_llama.cpp", "ollama"):
        return dtype_of(arguments, shape).name
    k = arguments.get("k_type") or arguments.get("ckv_type") or "f16"
    v = arguments.get("v_type") or k
    return " and ".join(dict.fromkeys(cache_dtype(each).name for each in (k, v)))


def _least_memory(reported: Mapping[str, Any]) -> tuple[float, float] | None:
    """What the printed memory of the rank with the least of it stands for, in GiB."""
    if "non_kv_cache_gib_by_pp_rank" in reported:
        requested = Interval.of(reported["requested_memory_gib"], 1)
        taken = [Interval.of(each, 1) for each in reported["non_kv_cache_gib_by_pp_rank"]]
        lows = [requested.low - each.high for each in taken]
        highs = [requested.high - each.low for each in taken]
        return _floats(min(lows), min(highs))
    if "available_kv_gib" in reported:
        printed = Interval.of(reported["available_kv_gib"], 1)
        return _floats(printed.low, printed.high)
    return None


def _floats(low: Fraction, high: Fraction) -> tuple[float, float]:
    return float(low), float(high)
