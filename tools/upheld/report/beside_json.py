"""A start of an engine beside arithmetic, as plain values for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from upheld.judge.beside import Beside, Compared


def beside_object(start: Beside) -> dict[str, Any]:
    """The documented shape: `printed` is the engine's, `by_arithmetic` never is."""
    return {
        "case": start.case,
        "figures": [_figure(each) for each in start.compared],
        "not_compared": [
            {"name": each.name, "printed": each.printed, "unit": each.unit, "why": each.why}
            for each in start.not_compared
        ],
        "inputs": [
            {
                "name": each.name,
                "value": each.value,
                "origin": each.origin,
                "assumed": each.assumed,
            }
            for each in start.inputs
        ],
        "problem": start.problem,
    }


def _figure(compared: Compared) -> dict[str, Any]:
    check = compared.check
    differs_by = check.differs_by
    return {
        "name": check.name,
        "unit": compared.unit,
        "printed": check.printed,
        "by_arithmetic": check.predicted,
        "verdict": verdict_of(compared),
        "differs_by": None if differs_by is None else float(differs_by),
    }


def verdict_of(compared: Compared) -> str:
    """`same digits`, `inside the interval` of a rounded input, or `differs`."""
    check = compared.check
    if check.verdict != "exact":
        return "differs"
    return "same digits" if check.compared == "digits" else "inside the interval"
