"""UPH513: a beginning that is far slower than the rest, and that the figures have in them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from upheld.measured.reading import Row
from upheld.measured.sufficiency.shortcoming import Shortcoming
from upheld.records.metrics import METRICS
from upheld.records.units import format_number

_FAR_SLOWER = 2
_FELT = Fraction(5, 100)
_MOVED = ("mean", "max", "min", "std")


def check(row: Row) -> Iterator[Shortcoming]:
    """Fires where the opening's mean is twice that of the rest, and moves the whole mean by 5 %.

    The opening is the first value, or as many as the client had open at once. Silent where the
    file does not keep single values in order, and where the opening is more than half of them.
    """
    for name, course in row.courses.items():
        opening, rest = course.opening, course.rest
        slow, usual = opening.mean, rest.mean
        if METRICS[name].better == "higher":
            slow, usual = usual, slow
        if opening.count > rest.count or slow <= _FAR_SLOWER * usual:
            continue
        if abs(course.mean - rest.mean) <= _FELT * rest.mean:
            continue
        first = "value" if opening.count == 1 else f"{opening.count:,} values"
        unit = METRICS[name].unit
        means = [format_number(each, 4) for each in (opening.mean, rest.mean, course.mean)]
        yield Shortcoming(
            "UPH513",
            f"the mean of {name} is {means[0]} {unit} for the first {first}, {means[1]} {unit} for "
            f"the {rest.count:,} after and {means[2]} {unit} for all: the start is in the figures",
            "warm up before the measurement and leave the warm-up out, or claim the median",
            concerns=tuple(f"{name}.{statistic}" for statistic in _MOVED),
        )
