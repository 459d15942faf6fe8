"""The single requests of a row: which completed, and what each of them has of a metric."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from upheld.corpus.strict_json import Json
from upheld.measured.mapping.taking import Number, Otherwise, holds_something, number, same
from upheld.measured.recompute import Values
from upheld.records.expression import ExpressionError
from upheld.records.mapping import Samples


class Summary(Protocol):
    """Exact statistics of values, at least one: those of recompute.Values."""

    def __len__(self) -> int: ...

    @property
    def total(self) -> Fraction:
        """The sum."""

    @property
    def smallest(self) -> Fraction:
        """The least value."""

    @property
    def largest(self) -> Fraction:
        """The greatest value."""

    @property
    def mean(self) -> Fraction:
        """The arithmetic mean."""

    def percentile(self, percent: Fraction) -> Fraction:
        """Interpolated between neighbours."""

    def deviation(self, ddof: int) -> Fraction:
        """The standard deviation."""


@dataclass(slots=True)
class Column:
    """What the completed requests have of one metric.

    `absent` counts those with nothing, `odd` those with what is no value; `example` is such one.
    """

    values: Summary | None = None
    absent: int = 0
    odd: int = 0
    example: str = ""


@dataclass(frozen=True, slots=True)
class SingleRequests:
    """Requests in a file's records; a column for each value of the mapping, in its order.

    `keys` are those that some record has.
    """

    sent: int
    completed: int
    columns: tuple[Column, ...]
    keys: tuple[str, ...]


def single_requests(
    samples: Samples, records: Iterable[dict[str, Json]], texts: bool
) -> SingleRequests:
    """Read the records of single requests, all of them in memory."""
    every = list(records)
    done = [record for record in every if _completed(samples, record)]
    return SingleRequests(
        sent=len(every),
        completed=len(done),
        columns=tuple(_column(value.at.find, done, texts) for value in samples.values),
        keys=tuple(dict.fromkeys(key for record in every for key in record)),
    )


def _completed(samples: Samples, record: dict[str, Json]) -> bool:
    return all(same(record.get(key), wanted) for key, wanted in samples.completed.items()) and not (
        samples.failed is not None and holds_something(record.get(samples.failed))
    )


class _Find(Protocol):
    def __call__(self, value: Json) -> Json: ...


def _column(find: _Find, records: Sequence[dict[str, Json]], texts: bool) -> Column:
    column = Column()
    numbers: list[Number] = []
    for record in records:
        try:
            numbers.append(number(find(record), texts))
        except (ExpressionError, Otherwise) as error:
            if isinstance(error, Otherwise) and error.nothing:
                column.absent += 1
            else:
                column.odd += 1
                column.example = column.example or str(error)
    column.values = Values(numbers) if numbers else None
    return column
