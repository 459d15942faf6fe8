"""UPH506: a mean of values so far apart that so few of them don't tell it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil

from upheld.measured.reading import Figure, Row
from upheld.measured.recompute import square_root
from upheld.measured.sufficiency.shortcoming import Shortcoming
from upheld.records.units import format_number

_MOST = Fraction(10, 100)

# Readings of a device follow one another; they are no repeats of one measurement.
_REPEATED = ("latency", "time", "throughput")


def check(row: Row) -> Iterator[Shortcoming]:
    """Fires where the standard error of a mean, its deviation over √n, is above 10 % of it.

    Only for what was repeated: requests, rounds and the like. Silent where the deviation or the
    number of values is not known.
    """
    for mean in row.figures:
        name, _, statistic = mean.name.rpartition(".")
        if statistic != "mean" or not name.startswith(_REPEATED) or not mean.value:
            continue
        deviation = row.value(f"{name}.std", mean.unit)
        count = row.samples.get(name, 0)
        if deviation is not None and count > 1:
            yield from _uncertain(mean, deviation, count)


def _uncertain(mean: Figure, deviation: Fraction, count: int) -> Iterator[Shortcoming]:
    spread = deviation / mean.value
    error = spread / square_root(Fraction(count))
    if error > _MOST:
        yield Shortcoming(
            "UPH506",
            f"{mean.name} of {format_number(mean.value, 4)} {mean.unit} has a standard error of "
            f"{format_number(100 * error, 3)} %: its {count:,} values have a deviation of "
            f"{format_number(deviation, 4)} {mean.unit}",
            f"measure about {ceil((spread / _MOST) ** 2):,} such values, find what the outliers "
            "are, or claim the median",
            concerns=(mean.name,),
        )
