"""The ratio of two sets of repeats, and how far it may be from what more repeats would give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

# The resamples of a percentile bootstrap, always the same ones.
RESAMPLES = 2000
SEED = 20_261_201
CONFIDENCE = Fraction(95, 100)


@dataclass(frozen=True, slots=True)
class Ratio:
    """The ratio of the means, exact; `low` and `high` bound it where both sides were repeated."""

    value: Fraction
    low: Fraction | None = None
    high: Fraction | None = None


def ratio_of(ones: Sequence[Fraction], others: Sequence[Fraction]) -> Ratio:
    """The mean of `ones` over that of `others`, with a 95 % percentile-bootstrap interval.

    Each side is resampled on its own, repeat by repeat. There is no interval where a side was
    measured once.

    Raises:
        ZeroDivisionError: the mean of `others` is nought.
    """
    value = _mean(ones) / _mean(others)
    if len(ones) < 2 or len(others) < 2:
        return Ratio(value)
    random = Random(SEED)  # noqa: S311 - resampling, no secret
    found = sorted(
        above / below
        for above, below in (
            (_mean(random.choices(ones, k=len(ones))), _mean(random.choices(others, k=len(others))))
            for _ in range(RESAMPLES)
        )
        if below
    )
    beyond = int(len(found) * (1 - CONFIDENCE) / 2)
    return Ratio(value, found[beyond], found[-1 - beyond])


def _mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)
