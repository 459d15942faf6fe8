"""Every case scored: its printed figures beside their predictions, and the worst verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from engine_report_checks import llama_cpp, lmdeploy, sglang, tensorrt_llm, vllm, vllm_v0
from engine_report_checks.configurations import with_published
from engine_report_checks.loading import score_weights
from engine_report_checks.predictions import NotPredicted, row_of, why_not
from engine_report_checks.reading import as_scored, engine_of
from engine_report_checks.shapes import PERTURBATIONS, layers_of
from upheld.judge.beside.figures import Check, same_digits

ENGINES: dict[str, Callable[..., Iterator[Check]]] = {
    "vllm-v1": vllm.checks,
    "vllm-v0": vllm_v0.checks,
    "sglang": sglang.checks,
    "llama.cpp": llama_cpp.checks,
    "ik_llama.cpp": llama_cpp.checks,
    "ollama": llama_cpp.checks,
    "tensorrt-llm": tensorrt_llm.checks,
    "lmdeploy": lmdeploy.checks,
}


def score(
    report: Mapping[str, Any], shapes: Mapping[str, Any], perturb: str | None = None
) -> dict[str, Any]:
    """One case: each printed figure beside its prediction, and the worst of the verdicts."""
    checks: list[Check] = []
    reason: str | None = None
    try:
        checks = _checks(as_scored(report), shapes, perturb)
    except Exception as error:
        reason = why_not(error)
    order = ("exact", "within", "off")
    verdict = "not-predicted"
    if checks and reason is None:
        verdict = max((each.verdict for each in checks), key=order.index)
    named = report if isinstance(report, Mapping) else {}
    return {
        "id": str(named.get("id")),
        "engine": engine_of(named.get("engine")),
        "verdict": verdict,
        **({"reason": reason} if reason else {}),
        "checks": [row_of(each) for each in checks],
    }


def _checks(
    report: Mapping[str, Any], shapes: Mapping[str, Any], perturb: str | None
) -> list[Check]:
    if report["engine"] not in ENGINES:
        raise NotPredicted(f"the engine {report['engine']} is not known")
    shape = shapes.get(report["model_shape"])
    if shape is None:
        return list(_without_a_shape(report))
    layers = layers_of(shape)
    if perturb:
        layers = [PERTURBATIONS[perturb](each) for each in layers]
    return list(ENGINES[report["engine"]](report, layers, with_published(report, shape)))


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
