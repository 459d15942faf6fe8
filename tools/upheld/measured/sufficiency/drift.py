"""UPH514: values that keep rising or falling over the run, which no mean sums up."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from upheld.measured.reading import Row
from upheld.measured.sufficiency.shortcoming import Shortcoming
from upheld.records.metrics import METRICS
from upheld.records.units import format_number

_FEWEST_IN_A_THIRD = 5
_FAR = Fraction(5, 100)


def check(row: Row) -> Iterator[Shortcoming]:
    """Fires where the last third lies wholly beyond the first, and its mean 5 % from that one's.

    By chance alone that happens once in 126 runs of 15 values, and more seldom with more. Silent
    below 15 values, and where the file does not keep them in order.
    """
    for name, course in row.courses.items():
        early, late = course.early, course.late
        if early.count < _FEWEST_IN_A_THIRD:
            continue
        rises, falls = late.least > early.most, late.most < early.least
        if not (rises or falls) or abs(late.mean - early.mean) <= _FAR * early.mean:
            continue
        unit = METRICS[name].unit or ""
        way = "rises" if rises else "falls"
        yield Shortcoming(
            "UPH514",
            f"{name} {way} over the run: {format_number(early.mean, 4)} {unit} is the mean of the "
            f"first third, {format_number(late.mean, 4)} {unit} that of the last, and no value of "
            "one is among those of the other",
            "measure until it is steady: a queue that grows, a device that gets hot or a cache "
            "that fills gives figures that depend on how long the run was",
            concerns=(f"{name}.",),
        )
