"""A check as the scores keep it, and the refusal to make one."""

from __future__ import annotations

from typing import Any

from upheld.arithmetic.errors import ShapeError
from upheld.judge.beside.figures import Check


class NotPredicted(Exception):
    """Something that the figure depends on is not known, or not yet computed."""


def why_not(error: Exception) -> str:
    """Why a case has no prediction.

    Files are by others, so what can go wrong in one is open; it must not cost the other cases.
    """
    if isinstance(error, NotPredicted | ShapeError):
        return str(error)
    return f"the case can't be read: {type(error).__name__}: {error}"


def row_of(check: Check) -> dict[str, Any]:
    """The check as plain values."""
    return {
        "name": check.name,
        "printed": check.printed,
        "predicted": check.predicted,
        "verdict": check.verdict,
        "compared": check.compared,
    }
