"""A row of a served model for tests, with only what a test is about."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

from upheld.measured.reading import Figure, Requests, Row
from upheld.records.finding import Place

_UNITS = {
    "latency": "ms", "time": "s", "duration": "s", "requests": "requests", "tokens": "tokens",
}  # fmt: skip


def served(figures: dict[str, str] | None = None, sent: int | None = 200, **facts: Any) -> Row:
    """A row with these figures, in the usual units, of which every request that was sent completed.

    `sent` None is a row that does not say; `facts` are other fields of `Row`.
    """
    requests = None if sent is None else Requests(sent, 0, sent)
    return Row(
        case=facts.pop("case", None),
        place=Place("a.json"),
        figures=tuple(
            Figure(name, Fraction(Decimal(value)), _unit(name), "reported")
            for name, value in (figures or {}).items()
        ),
        requests=facts.pop("requests", requests),
        **facts,
    )


def _unit(name: str) -> str:
    if name.startswith("throughput."):
        return "requests/s" if name == "throughput.requests" else "tokens/s"
    return _UNITS[name.partition(".")[0]]
