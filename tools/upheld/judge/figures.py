"""Figures and axes for people."""

from __future__ import annotations

from fractions import Fraction

from upheld.records.units import format_number

_MOST_DIGITS = 15


def plain(value: object) -> str:
    """A value on an axis, for people."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return format_number(Fraction(value)) if isinstance(value, int | Fraction) else str(value)


def beside(value: Fraction, limit: Fraction, digits: int = 6) -> str:
    """The value in as many digits as tell it from the limit; both in the same unit."""
    shown = format_number(value, digits)
    if value == limit or shown != format_number(limit, digits):
        return shown
    if digits < _MOST_DIGITS:
        return beside(value, limit, digits + 1)
    return f"{'more' if value > limit else 'less'} than {format_number(limit, _MOST_DIGITS)}"
