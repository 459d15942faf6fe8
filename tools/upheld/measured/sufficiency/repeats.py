"""UPH519: runs of one file, alike in all that it states, that give figures far apart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from upheld.measured.reading import Row
from upheld.measured.sufficiency.shortcoming import Shortcoming
from upheld.records.units import format_number

_FAR = Fraction(125, 100)
_COMPARED = (
    "throughput.requests", "throughput.output_tokens",
    "latency.ttft.mean", "latency.tpot.mean", "latency.e2e.mean",
)  # fmt: skip

# How readers number the runs of a file that have no name of their own.
_NUMBERED = re.compile(r"run \d+")
# Facts that two repeats have of their own: when each was, its number, what came of it.
_OF_ONE_RUN = re.compile(r"date|run_number|itl|peak_\w+|\w*goodput\w*|rtfx|spec_decode_\w+")


def check(rows: Sequence[Row]) -> Iterator[tuple[int, Shortcoming]]:
    """The index of each run that is off, and how.

    Fires for a run whose rate or mean latency is 25 % off that of the first run alike to it.
    Alike: envelope, requests that were sent, mean lengths and every other fact that is stated.
    Silent where nothing completed or requests failed, which other rules say.
    """
    first: dict[tuple[object, ...], Row] = {}
    for at, row in enumerate(rows):
        if row.requests is None or not row.requests.completed or row.requests.failed:
            continue
        if not _NUMBERED.fullmatch(row.case or ""):
            continue
        other = first.setdefault(_conditions(row), row)
        found = max(_apart(other, row), default=None)
        if found is None:
            continue
        ratio, name, unit = found
        values = [format_number(each.value(name, unit) or Fraction(0), 4) for each in (row, other)]
        yield (
            at,
            Shortcoming(
                "UPH519",
                f"{row.case} is {other.case} again, in all that the file states, but {name} is "
                f"{values[0]} {unit} and was {values[1]} {unit}, {format_number(ratio, 3)} times "
                "apart: something differed that the file does not state",
                "state what differed, such as a first start, a cache that was filled or another "
                "server; or repeat the run until it agrees",
                only_warns=True,
            ),
        )


def _conditions(row: Row) -> tuple[object, ...]:
    return (
        frozenset(row.envelope.items()),
        frozenset(row.means.items()),
        row.unlimited,
        row.requests and row.requests.attempted,
        frozenset(each for each in row.stated.items() if not _OF_ONE_RUN.fullmatch(each[0])),
    )


def _apart(one: Row, other: Row) -> Iterator[tuple[Fraction, str, str]]:
    for name in _COMPARED:
        figure = one.figure(name)
        value = figure and other.value(name, figure.unit)
        if figure is None or not value or not figure.value:
            continue
        ratio = max(value / figure.value, figure.value / value)
        if ratio > _FAR:
            yield ratio, name, figure.unit
