"""The memory of one device as a bar: what is on it, side by side, and where the budget ends."""

from __future__ import annotations

from dataclasses import dataclass

from upheld.arithmetic.ledger import Ledger
from upheld.records.units import format_bytes
from upheld.site.pages.view import label

WIDTH = 1000


@dataclass(frozen=True, slots=True)
class BarPart:
    """One term, from `x`, `width` wide, in a field of WIDTH."""

    name: str
    bytes: int
    stated: bool
    x: int
    width: int


@dataclass(frozen=True, slots=True)
class Bar:
    """All terms, the budget's place, and the same in words for those who don't see it."""

    parts: tuple[BarPart, ...]
    budget: int
    says: str


def bar_of(ledger: Ledger, device_memory: int) -> Bar:
    """The bar of a ledger; its full width is the device, or more where more is needed."""
    full = max(device_memory, ledger.device_total, ledger.budget.bytes, 1)
    parts: list[BarPart] = []
    filled = 0
    for term in ledger.terms:
        x = filled * WIDTH // full
        filled += term.bytes
        width = filled * WIDTH // full - x
        parts.append(BarPart(term.name, term.bytes, term.stated, x, width))
    words = ", ".join(f"{label(part.name)} {format_bytes(part.bytes)}" for part in parts)
    says = f"{words}; budget {format_bytes(ledger.budget.bytes)} of {format_bytes(device_memory)}"
    return Bar(tuple(parts), ledger.budget.bytes * WIDTH // full, says)
