"""UPH507: statistics of one distribution that no values have together, whatever tool wrote them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from upheld.measured.reading import Figure, Row
from upheld.measured.recompute import square_root
from upheld.measured.sufficiency.shortcoming import Shortcoming
from upheld.records.units import format_number

IMPOSSIBLE = "UPH507"

# Locust rounds percentiles to two digits beside an exact maximum, which is off by up to 5 %.
_ROUNDED = Fraction(5, 100)


def check(row: Row) -> Iterator[Shortcoming]:
    """Fires where an order, a mean or a deviation can't be, by more than tools round.

    Percentiles rise; the mean lies between the extremes; mean and median are at most a deviation
    apart (Hotelling and Solomons, 1932); the deviation is at most half the span (Popoviciu, 1935)
    and above 0 where values differ. Silent where the reader of the format has refused the row.
    """
    if refused(row):
        return
    distributions: dict[str, dict[str, Figure]] = {}
    for figure in row.figures:
        statistic = figure.name.removeprefix(figure.distribution).removeprefix(".")
        if statistic:
            distributions.setdefault(figure.distribution, {})[statistic] = figure
    for name, statistics in distributions.items():
        for message in _impossible(statistics, row.samples.get(name)):
            yield Shortcoming(
                IMPOSSIBLE,
                message,
                "add the file as the tool wrote it, or run the benchmark again",
                "error",
                concerns=(f"{name}.",),
            )


def refused(row: Row) -> bool:
    """Whether the format's own reader has found a statistic that can't be, at its place."""
    return any(finding.rule == IMPOSSIBLE for finding in row.findings)


def _impossible(statistics: dict[str, Figure], count: int | None) -> Iterator[str]:
    ordered = sorted(
        (figure for statistic, figure in statistics.items() if _share(statistic) is not None),
        key=lambda figure: _share(figure.name.removeprefix(f"{figure.distribution}.")) or 0,
    )
    for low, high in pairwise(ordered):
        if low.value > high.value + _slack(low, high):
            yield f"{_shown(low)} is greater than {_shown(high)}"
    mean, deviation = statistics.get("mean"), statistics.get("std")
    least, most = statistics.get("min"), statistics.get("max")
    if mean and least and mean.value < least.value - _slack(mean, least):
        yield f"{_shown(mean)} is less than {_shown(least)}"
    if mean and most and mean.value > most.value + _slack(mean, most):
        yield f"{_shown(mean)} is greater than {_shown(most)}"
    if deviation is None:
        return
    median = statistics.get("p50")
    if mean and median:
        apart = abs(mean.value - median.value)
        if apart > deviation.value + _slack(mean, median):
            yield f"{_shown(mean)} and {_shown(median)} are further apart than {_shown(deviation)}"
    if len(ordered) > 1 and deviation.value + deviation.rounding == 0:
        first, last = ordered[0], ordered[-1]
        if last.value > first.value + _slack(first, last):
            yield f"{_shown(deviation)}, but {_shown(first)} and {_shown(last)} differ"
    if least and most and count and count > 1:
        widest = (most.value - least.value) / 2 * square_root(Fraction(count, count - 1))
        if deviation.value > widest + _slack(least, most):
            yield f"{_shown(deviation)} is wider than {_shown(least)} and {_shown(most)} allow"


def _share(statistic: str) -> Fraction | None:
    if statistic in ("min", "max"):
        return Fraction(100 if statistic == "max" else 0)
    return Fraction(statistic[1:]) if statistic[:1] == "p" else None


def _slack(one: Figure, other: Figure) -> Fraction:
    return _ROUNDED * max(one.value, other.value) + one.rounding + other.rounding


def _shown(figure: Figure) -> str:
    return f"{figure.name} of {format_number(figure.value)} {figure.unit}"
