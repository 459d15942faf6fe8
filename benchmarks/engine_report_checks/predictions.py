"""A check as the scores keep it, and the refusal to make one."""

from __future__ import annotations

from typing import Any

from upheld.judge.beside.figures import Check


class NotPredicted(Exception):
    """Something that the figure depends on is not known, or not yet computed."""


def row_of(check: Check) -> dict[str, Any]:
    """The check as plain values."""
    return {
        "name": check.name,
        "printed": check.printed,
        "predicted": check.predicted,
        "verdict": check.verdict,
        "compared": check.compared,
    }
