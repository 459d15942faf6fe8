"""Statistics of values that count more than once each, as GuideLLM defines them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from math import lcm

from upheld.measured.recompute import square_root


class WeightedValues:
    """Values with a whole weight each, in ascending order, at least one of weight above 0.

    As in `Values`, they become integers over one power of ten, so that sums are exact and fast.

    Raises:
        ValueError: there is none.
    """

    __slots__ = ("_pairs", "_shares", "_step", "_weight")

    def __init__(self, pairs: Iterable[tuple[int | Decimal, int]]) -> None:
        weighty = [(Fraction(value), weight) for value, weight in pairs if weight > 0]
        if not weighty:
            raise ValueError("no values")
        scale = lcm(*{value.denominator for value, _ in weighty})
        together: dict[int, int] = {}
        for value, weight in weighty:
            scaled = value.numerator * (scale // value.denominator)
            together[scaled] = together.get(scaled, 0) + weight
        self._step = Fraction(1, scale)
        self._pairs = sorted(together.items())
        self._weight = sum(together.values())
        self._shares = list(accumulate(weight / self._weight for _, weight in self._pairs))

    def __len__(self) -> int:
        return self._weight

    @property
    def smallest(self) -> Fraction:
        """The least value."""
        return self._pairs[0][0] * self._step

    @property
    def largest(self) -> Fraction:
        """The greatest value."""
        return self._pairs[-1][0] * self._step

    @property
    def mean(self) -> Fraction:
        """The mean, each value as often as it weighs."""
        total = sum(value * weight for value, weight in self._pairs)
        return Fraction(total, self._weight) * self._step

    def percentile(self, percent: Fraction) -> Fraction:
        """The first value at which the share of all weight reaches `percent`; none between two.

        Shares are floats added in order, as NumPy's `cumsum` does: which of two values a share on
        the edge falls to is part of what the tool prints (guidellm 0.8.1,
        schemas/base/statistics.py, `Percentiles.from_pdf`).
        """
        at = bisect_left(self._shares, float(percent / 100))
        return self._pairs[min(at, len(self._pairs) - 1)][0] * self._step

    def deviation(self, ddof: int) -> Fraction:
        """Standard deviation, `ddof` taken off the weight of all.

        Raises:
            ValueError: no more weight than `ddof`.
        """
        weight = self._weight
        if weight <= ddof:
            raise ValueError("too few values for a standard deviation")
        total = sum(value * each for value, each in self._pairs)
        squares = sum(value * value * each for value, each in self._pairs)
        variance = Fraction(weight * squares - total * total, weight * (weight - ddof))
        return square_root(variance) * self._step
