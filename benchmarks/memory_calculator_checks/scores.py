"""Each answer beside the printed figure, in the reading that serves the tool best."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from engine_report_checks.scores import score
from memory_calculator_checks.cases import SIZE, Case
from upheld.judge.beside.figures import GIB, NEAR, same_digits

UPHELD = "Upheld"
NO_ANSWER = "no answer"
VERDICTS = ("exact", "within", "off", NO_ANSWER)


def verdict_of(case: Case, given: Mapping[str, Any]) -> dict[str, str]:
    """A tool's answer as it would be printed, and how it compares.

    A size is exact with the digits that were printed. A capacity is exact where the printed one
    lies in what the rounding of the memory allows, before or after rounding down to whole blocks.
    `within` is 1 % of it.
    """
    if "none" in given:
        return {"verdict": NO_ANSWER, "reason": given["none"]}
    if case.question == SIZE:
        size = Fraction(round(given["gib"] * GIB), case.unit)
        check = same_digits(case.check, case.printed, size)
        return {"verdict": check.verdict, "answer": check.predicted or ""}
    readings = [_capacity(case, low, high) for low, high in given["tokens"]]
    return min(readings, key=lambda each: VERDICTS.index(each["verdict"]))


def _capacity(case: Case, low: int, high: int) -> dict[str, str]:
    printed = int(case.printed.replace(",", "")) * case.unit
    low = low // case.block * case.block
    verdict = "off"
    if low <= printed <= high:
        verdict = "exact"
    elif low * (1 - NEAR) <= printed <= high * (1 + NEAR):
        verdict = "within"
    shown = [f"{end // case.unit:,}" for end in (low, high)]
    return {"verdict": verdict, "answer": " … ".join(dict.fromkeys(shown))}


def upheld(case: Case, shapes: Mapping[str, Any]) -> dict[str, str]:
    """What this project's arithmetic answers, by the same rule."""
    scored = score(case.report, shapes)
    for check in scored["checks"]:
        if check["name"] == case.check and check["predicted"] is not None:
            return {"verdict": check["verdict"], "answer": check["predicted"]}
    return {"verdict": NO_ANSWER, "reason": scored.get("reason", "not predicted")}


def result_of(
    cases: Sequence[Case],
    shapes: Mapping[str, Any],
    answers: Mapping[str, Mapping[str, Any]],
    made: str,
) -> dict[str, Any]:
    """All answers of one run, as they are kept: what was given, printed and answered.

    Args:
        cases: The figures that were asked for.
        shapes: The shapes of their models.
        answers: By tool, its version and its answers by case.
        made: The day of the run.
    """
    return {
        "made": made,
        "versions": {tool: found["version"] for tool, found in answers.items()},
        "cases": [
            {
                "id": case.id,
                "question": case.question,
                "engine": case.report["engine"],
                "engine_version": case.report["engine_version"],
                "model": case.report["model"] or f"shape of {case.report['model_shape']}",
                "source": case.report["source"],
                "figure": case.check,
                "printed": case.printed,
                "given": _given(case),
                "answers": {
                    UPHELD: upheld(case, shapes),
                    **{
                        tool: verdict_of(case, found["answers"][case.id])
                        for tool, found in answers.items()
                    },
                },
            }
            for case in cases
        ],
    }


def _given(case: Case) -> dict[str, Any]:
    ask = case.ask
    given = {
        "model_type": ask.config["model_type"],
        "dtype": ask.dtype,
        "tensor_parallel": ask.tensor_parallel,
        "pipeline_parallel": ask.pipeline_parallel,
        "context_parallel": ask.context_parallel,
        "context": ask.context,
        "memory_gib": ask.memory_gib and [round(end, 4) for end in ask.memory_gib],
        "limit": ask.limit,
    }
    return {name: value for name, value in given.items() if value is not None}


def counts(cases: Iterable[Mapping[str, Any]], tool: str) -> Counter[str]:
    """How many of the kept cases the tool answers with each verdict."""
    return Counter(case["answers"][tool]["verdict"] for case in cases)


def misses(found: Counter[str]) -> int:
    """A wrong answer and none both leave the question open."""
    return found.total() - found["exact"]
