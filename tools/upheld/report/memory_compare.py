"""Ways to use the same devices, side by side: for people, and as plain values for JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from upheld.arithmetic.compare import Way
from upheld.arithmetic.ledger import Ledger
from upheld.records.units import format_bytes
from upheld.report.escape import printable
from upheld.report.json_text import VERSION
from upheld.report.memory_json import not_stated
from upheld.report.memory_text import HEADING, WITHOUT_RUNTIME
from upheld.report.table import aligned

_OF_A_DEVICE: tuple[tuple[str, Callable[[Ledger], int]], ...] = (
    ("weights", lambda found: found.weights.bytes),
    ("kv_cache", lambda found: found.kv_cache.bytes),
    ("total", lambda found: found.device_total),
    ("available_kv", lambda found: found.available_kv),
)
_LABELS = {
    "weights": "weights of one device",
    "kv_cache": "KV cache of one device",
    "total": "all of one device",
    "available_kv": "left for the cache on one device",
}
NOTE = "No speed follows from this: traffic between devices and parallel work are not in it."


def ways_as_json(ways: Sequence[Way], notes: Sequence[str] = ()) -> dict[str, Any]:
    """Each way, bytes as exact integers; `not_stated` is as in memory_json."""
    return {
        "version": VERSION,
        "basis": "arithmetic",
        "ways": [_way(each) for each in ways],
        "not_stated": not_stated(way.ledger for way in ways),
        "notes": list(notes),
    }


def _way(way: Way) -> dict[str, Any]:
    found = way.ledger
    return {
        "name": way.name,
        "replicas": way.replicas,
        "per_device": found and {name: of(found) for name, of in _OF_A_DEVICE},
        "fits": found and found.fits,
        "tokens": way.tokens,
        "sequences": way.sequences,
        "sequences_after_a_loss": way.left_after_a_loss,
        "problem": way.problem,
    }


def ways_as_text(title: str, ways: Sequence[Way], notes: Sequence[str] = ()) -> str:
    """A column a way."""
    rows = [["", *(way.name for way in ways)]]
    for name, of in _OF_A_DEVICE:
        sizes = ("" if way.ledger is None else format_bytes(of(way.ledger)) for way in ways)
        rows.append([_LABELS[name], *sizes])
    rows.append(["fits", *(_fits(way) for way in ways)])
    for label, figures in (
        ("tokens in all", [way.tokens for way in ways]),
        ("sequences in all", [way.sequences for way in ways]),
        ("sequences after one device is lost", [way.left_after_a_loss for way in ways]),
    ):
        rows.append([label, *("" if figure is None else f"{figure:,}" for figure in figures)])
    lines = aligned(rows, right=range(1, len(rows[0])))
    problems = [f"{way.name}: {way.problem}" for way in ways if way.problem]
    without = [WITHOUT_RUNTIME] if not_stated(way.ledger for way in ways) else []
    text = (HEADING, title, "", *lines, "", *problems, *without, NOTE, *notes)
    return "\n".join(printable(line) for line in text)


def _fits(way: Way) -> str:
    if way.ledger is None:
        return ""
    return "yes" if way.ledger.fits else "no"
