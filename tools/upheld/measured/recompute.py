"""Statistics worked out again from single values, exactly, and compared with a file's own.

Values become integers over one power of ten, so that sums, means and percentiles are exact and
fast; only a square root is rounded, far below what any tool prints.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction
from math import floor, isqrt

TOLERANCE = Fraction(1, 10**9)
_ROOT_DIGITS = 40
_WIDE = Context(prec=200)
_FEWEST_PRINTED_DIGITS = 4


class Values:
    """Exact numbers in ascending order, at least one.

    Raises:
        ValueError: there are none.
    """

    __slots__ = ("_scaled", "_step")

    def __init__(self, numbers: Sequence[int | Decimal]) -> None:
        if not numbers:
            raise ValueError("no values")
        places = max(0, *(-_exponent(number) for number in numbers), 0)
        self._step = Fraction(1, 10**places)
        self._scaled = sorted(
            number * 10**places
            if isinstance(number, int)
            else int(number.scaleb(places, context=_WIDE))
            for number in numbers
        )

    def __len__(self) -> int:
        return len(self._scaled)

    @property
    def total(self) -> Fraction:
        """The sum."""
        return sum(self._scaled) * self._step

    @property
    def smallest(self) -> Fraction:
        """The least value."""
        return self._scaled[0] * self._step

    @property
    def largest(self) -> Fraction:
        """The greatest value."""
        return self._scaled[-1] * self._step

    @property
    def mean(self) -> Fraction:
        """The arithmetic mean."""
        return self.total / len(self)

    def percentile(self, percent: Fraction) -> Fraction:
        """Interpolated between neighbours, as NumPy's default method `linear` does.

        Raises:
            ValueError: not between 0 and 100.
        """
        if not 0 <= percent <= 100:
            raise ValueError("a percentile lies between 0 and 100")
        at = (len(self) - 1) * percent / 100
        below = floor(at)
        value = Fraction(self._scaled[below])
        if at > below:
            value += (self._scaled[below + 1] - self._scaled[below]) * (at - below)
        return value * self._step

    def deviation(self, ddof: int) -> Fraction:
        """Standard deviation: `ddof` 0 of a population, 1 of a sample.

        Raises:
            ValueError: not more than `ddof` values.
        """
        count = len(self)
        if count <= ddof:
            raise ValueError("too few values for a standard deviation")
        squares = sum(number * number for number in self._scaled)
        total = sum(self._scaled)
        variance = Fraction(count * squares - total * total, count * (count - ddof))
        return square_root(variance * self._step**2)


def square_root(value: Fraction) -> Fraction:
    """The root, to 40 digits of what stands under it as a fraction."""
    scale: int = 10**_ROOT_DIGITS
    return Fraction(isqrt(value.numerator * value.denominator * scale * scale)) / (
        value.denominator * scale
    )


def agrees(
    recomputed: Fraction, reported: int | Decimal, magnitude: Fraction = Fraction(0)
) -> bool:
    """Whether both are one number but for floating point and for what was rounded in print.

    `magnitude` is the size of the values behind a difference of large numbers, such as a
    standard deviation, whose floating-point error follows them and not the result.
    """
    stated = Fraction(reported)
    rounding = rounding_of(reported)
    scale = max(abs(recomputed), abs(stated), magnitude)
    return abs(recomputed - stated) <= max(TOLERANCE * scale, rounding)


def rounding_of(reported: int | Decimal, fewest: int = _FEWEST_PRINTED_DIGITS) -> Fraction:
    """How far what was rounded in print can be from it; 0 where fewer digits are printed."""
    digits = len(str(abs(reported))) if isinstance(reported, int) else _digits(reported)
    if digits < fewest:
        return Fraction(0)
    return _half_a_unit(_exponent(reported))


def _half_a_unit(exponent: int) -> Fraction:
    unit = Fraction(10**exponent) if exponent >= 0 else Fraction(1, 10**-exponent)
    return unit / 2


def _exponent(number: int | Decimal) -> int:
    if isinstance(number, int):
        return 0
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int), "only finite numbers are read"
    return exponent


def _digits(number: Decimal) -> int:
    return len(number.as_tuple().digits) if number else 0
