"""A printed figure beside a predicted one, and how the two compare."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction

GIB, MIB = 2**30, 2**20
NEAR = Fraction(1, 100)


@dataclass(frozen=True)
class Check:
    """One printed figure: what was predicted for it, and how they compare.

    `verdict` is `exact`, `within` one part in a hundred, or `off`. `compared` is `digits` where
    the same digits are asked for, `interval` where a rounded input leaves several values open,
    and None where nothing was predicted. `differs_by` is how far the printed value lies from the
    nearest predicted one, as a share of that: 0 where it is exact.
    """

    name: str
    printed: str
    predicted: str | None
    verdict: str
    compared: str | None = None
    differs_by: Fraction | None = None


@dataclass(frozen=True)
class Interval:
    """The exact values that print as a rounded figure, both ends included."""

    low: Fraction
    high: Fraction

    @classmethod
    def of(cls, printed: str, unit: int, digits: int = 2) -> Interval:
        """`5.27` GiB is anything from 5.265 to 5.275; vLLM drops trailing zeros: 24.0 is 24.00."""
        half = Fraction(1, 2 * 10 ** max(digits, _decimals(printed)))
        value = Fraction(printed.replace(",", ""))
        return cls((value - half) * unit, (value + half) * unit)


def _decimals(printed: str) -> int:
    return len(printed.partition(".")[2])


def same_digits(name: str, printed: str, value: Fraction) -> Check:
    """The prediction written with as many decimals as were printed, half to even as printf does."""
    shown = _as_printed(value, printed)
    exact = Decimal(shown.replace(",", "")) == Decimal(printed.replace(",", ""))
    return _check(name, printed, shown, "digits", exact=exact, ends=(value, value))


def in_interval(name: str, printed: str, low: Fraction, high: Fraction) -> Check:
    """Whether the printed value is among those that the rounding of an input allows."""
    value = Fraction(printed.replace(",", ""))
    half = Fraction(1, 2 * 10 ** _decimals(printed)) if "." in printed else Fraction(0)
    exact = low - half <= value <= high + half
    ends = [_as_printed(end, printed) for end in (low, high)]
    alike = ends[0] == ends[1]
    shown = ends[0] if alike else " … ".join(ends)
    compared = "digits" if alike else "interval"
    return _check(name, printed, shown, compared, exact=exact, ends=(low, high))


def _as_printed(value: Fraction, printed: str) -> str:
    """The value with as many decimals as were printed, and thousands set apart where they were."""
    exponent = Decimal(1).scaleb(-_decimals(printed))
    decimal = Decimal(value.numerator) / Decimal(value.denominator)
    shown = decimal.quantize(exponent, rounding=ROUND_HALF_EVEN)
    return f"{shown:,}" if "," in printed else str(shown)


def _check(
    name: str,
    printed: str,
    shown: str,
    compared: str,
    *,
    exact: bool,
    ends: tuple[Fraction, Fraction],
) -> Check:
    if exact:
        return Check(name, printed, shown, "exact", compared, Fraction(0))
    value = Fraction(printed.replace(",", ""))
    low, high = ends
    near = low * (1 - NEAR) <= value <= high * (1 + NEAR)
    end = high if value > high else low
    differs_by = (value - end) / end if end else None
    return Check(name, printed, shown, "within" if near else "off", compared, differs_by)
