"""Readings as the formats make them, with something of everything that is shown."""

from __future__ import annotations

from fractions import Fraction

from upheld.measured.reading import Figure, FileReading, Row
from upheld.records.finding import Finding, Place

PLACE = Place("result.json", 1, 1)


def figure(value: Fraction | int | str, unit: str = "ms", **more: object) -> Figure:
    """A figure of that value; by default only reported."""
    settings = {"name": "latency.ttft.p99", "origin": "reported", **more}
    return Figure(value=Fraction(value), unit=unit, **settings)  # type: ignore[arg-type]


def reading(*rows: Row, **more: object) -> FileReading:
    """A file of those rows, by a tool of a version."""
    settings = {
        "path": "result.json", "sha256": "0123456789abcdef" * 4, "format": "a-format",
        "tool": "A tool", "tool_version": "1.2", "rows": rows, "findings": (), **more,
    }  # fmt: skip
    return FileReading(**settings)  # type: ignore[arg-type]


ONE = Row(
    "one", PLACE,
    (figure(300, reported=Fraction(300), origin="recomputed"),),
    envelope={"model": "m", "concurrency": 8, "request_rate": Fraction(1, 2)},
    stated={"date": "today", "warm_up": "3"},
    not_stated=("device", "engine"),
    samples={"latency.ttft": 1200},
)  # fmt: skip
TWO = Row(
    "two", PLACE,
    (figure(400, note="a note"),),
    envelope={"model": "m", "concurrency": 16, "prefix_caching": False},
    stated={"date": "today"},
    not_stated=("engine", "kv_cache_dtype"),
    findings=(Finding("UPH505", PLACE, "3 failed", "look", "warning"),),
)  # fmt: skip
BOTH = reading(ONE, TWO)
