"""A sweep as a table, as CSV, and as plain values for JSON: one row a combination."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from fractions import Fraction
from io import StringIO
from typing import Any

from upheld.arithmetic.sweep import Point
from upheld.records.units import Quantity, format_bytes
from upheld.report.escape import printable
from upheld.report.json_text import VERSION
from upheld.report.memory_json import not_stated
from upheld.report.memory_text import HEADING, WITHOUT_RUNTIME
from upheld.report.table import aligned

_COLUMNS = ("weights", "kv_cache", "total", "budget", "tokens", "sequences", "fits")


def sweep_as_json(points: Sequence[Point], notes: Sequence[str] = ()) -> dict[str, Any]:
    """The points, bytes as exact integers; `problem` says why there is no figure."""
    return {
        "version": VERSION,
        "basis": "arithmetic",
        "points": [
            {**_changes(point), **_figures(point), "problem": point.problem} for point in points
        ],
        "not_stated": not_stated(point.ledger for point in points),
        "notes": list(notes),
    }


def sweep_as_csv(points: Sequence[Point]) -> str:
    """A header and a line a point; a point without figures has its problem in its last column.

    `not_stated` is what its total and `fits` are without.
    """
    stream = StringIO()
    names = [*(points[0].changes if points else ()), *_COLUMNS, "not_stated", "problem"]
    writer = csv.DictWriter(stream, names, lineterminator="\n")
    writer.writeheader()
    for point in points:
        left_out = " ".join(not_stated([point.ledger]))
        figures = {**_figures(point), "not_stated": left_out, "problem": point.problem}
        writer.writerow({**_changes(point), **figures})
    return stream.getvalue()


def sweep_as_text(title: str, points: Sequence[Point], notes: Sequence[str] = ()) -> str:
    """An aligned table for a person."""
    axes = list(points[0].changes) if points else []
    rows = [[*axes, *_COLUMNS]]
    for point in points:
        changes = [str(value) for value in _changes(point).values()]
        figures = _figures(point)
        if not figures:
            rows.append([*changes, *[""] * (len(_COLUMNS) - 1), point.problem or ""])
            continue
        sizes = [format_bytes(figures[name]) for name in _COLUMNS[:4]]
        fits = "fits" if figures["fits"] else "does not fit"
        counts = [f"{figures[name]:,}" for name in ("tokens", "sequences")]
        rows.append([*changes, *sizes, *counts, fits])
    lines = aligned(rows, right=range(len(rows[0]) - 1))
    if remarks := [WITHOUT_RUNTIME] * bool(not_stated(each.ledger for each in points)) + [*notes]:
        lines += ["", *remarks]
    return "\n".join(printable(line) for line in (HEADING, title, "", *lines))


def _changes(point: Point) -> dict[str, Any]:
    return {name: _plain(value) for name, value in point.changes.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Quantity):
        value = value.base
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return value


def _figures(point: Point) -> dict[str, Any]:
    found = point.ledger
    if found is None:
        return {}
    return {
        "weights": found.weights.bytes,
        "kv_cache": found.kv_cache.bytes,
        "total": found.device_total,
        "budget": found.budget.bytes,
        "tokens": found.tokens,
        "sequences": found.sequences,
        "fits": found.fits,
    }
