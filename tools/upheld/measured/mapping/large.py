"""A file of many single requests, too large to hold in memory, read once through DuckDB.

The query keeps an integer for each value, so sums, squares and values at a rank are exact, and the
figures are those of recompute.Values. A value counts to 24 decimals and below 10^14, and a JSON
number as the nearest double, which is what tools write.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from importlib.util import find_spec
from math import floor
from typing import TYPE_CHECKING, Any, BinaryIO

from upheld.corpus.files import FileError
from upheld.measured.content import NOT_READABLE, Content
from upheld.measured.mapping.figures import percentiles_of
from upheld.measured.mapping.head import HEAD_BYTES
from upheld.measured.mapping.large_query import ScanQuery
from upheld.measured.mapping.mapped import Mapped, NotFound, Path, Problems, not_found
from upheld.measured.mapping.reading import refuse_unknown_keys, told_kept
from upheld.measured.mapping.requests import Column, SingleRequests
from upheld.measured.mapping.row import Found, read_row
from upheld.measured.mapping.source import Source, source_of
from upheld.measured.reading import Reading
from upheld.measured.recompute import square_root
from upheld.records.finding import Finding, Place
from upheld.records.mapping import MappedAxes, MappedRequests, MappedValue
from upheld.records.shorten import shorten

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# From this size on, records of single requests are not held in memory.
LARGE_FROM = 32 * 1024 * 1024

_DAMAGED_ROW = re.compile(r"CSV Error on Line: (\d+)")
_DAMAGED_JSON = re.compile(r"Malformed JSON[^\n]*?(?:line|value) \d+: ([^.\n]+)")
_MEMORY = "512MB"
_MOST_THREADS = 4
_DECIMALS = 24
# So many values, of 16 bytes, are held to find those at a rank; more are sorted, with the disk.
_HELD_AT_ONCE = 10_000_000
# An integer below 2^127 is squared in three parts, whose products over all rows stay below it too.
_PART_BITS = 42


def reads(mapped: Mapped, size: int) -> bool:
    """Whether a file of so many bytes is read here, and not held in memory."""
    return size >= LARGE_FROM and mapped.mapping.lines_are_requests


def read_large(path: str, stream: BinaryIO, head: Content, mapped: Mapped) -> Reading:
    """The single row of a file whose records are single requests; `head` has its first ones.

    Raises:
        FileError: DuckDB is not installed.
    """
    if find_spec("duckdb") is None:
        raise FileError(
            f"{path!r} has {os.fstat(stream.fileno()).st_size:,} bytes, and files of such a size "
            "are read through DuckDB, which is not installed",
            "install it: pip install 'upheld[large]'",
        )
    import duckdb

    first = source_of(head, mapped)
    if isinstance(first, Finding):
        return Reading((), findings=(first,))
    try:
        if not first.whole:
            raise not_found(
                mapped,
                ("samples",),
                f"the file has no record in its first {HEAD_BYTES:,} bytes",
                "records of single requests are short, and stand behind each other",
            )
        _refuse_other_than_samples(mapped)
        with _connection() as connection:
            single, stated = _single_requests(connection, stream, first, mapped)
            refuse_unknown_keys(mapped, single)
    except NotFound as error:
        return Reading((), findings=(error.finding,))
    except duckdb.Error as error:
        return Reading((), findings=(_damage(path, str(error)),))
    problems = Problems(mapped)
    found = Found(None, None, first.texts, Place(path), None, False, stated)
    row = read_row(mapped, found, single, problems)
    return Reading((row,), findings=tuple(problems.findings(1)))


def _damage(path: str, said: str) -> Finding:
    """What DuckDB refused, as a finding in the file. It counts lines of CSV alone reliably."""
    row = _DAMAGED_ROW.search(said)
    reason = _DAMAGED_JSON.search(said)
    place, message = Place(path), shorten(said.partition("\n")[0], 200)
    if row is not None:
        place, message = Place(path, int(row[1])), "the row is no CSV below this header"
    elif reason is not None:
        message = f"not JSON: {shorten(reason[1], 120)}"
    return Finding(NOT_READABLE, place, message, "use the file as it was written, complete")


def threads() -> int:
    """How many threads read a large file: each holds memory of its own."""
    return min(_MOST_THREADS, os.cpu_count() or 1)


@contextmanager
def _connection() -> Iterator[DuckDBPyConnection]:
    import duckdb

    with tempfile.TemporaryDirectory(prefix="upheld-") as folder:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": _MEMORY,
            "temp_directory": folder,
            "threads": threads(),
            "preserve_insertion_order": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        with duckdb.connect(config=settings) as connection:
            yield connection


def _refuse_other_than_samples(mapped: Mapped) -> None:
    mapping = mapped.mapping
    others: list[tuple[Path, bool]] = [
        (("figures",), bool(mapping.figures)),
        (("requests",), mapping.requests != MappedRequests()),
        (("envelope",), mapping.envelope != MappedAxes()),
        (("case",), bool(mapping.case)),
    ]
    for path, there in others:
        if there:
            raise not_found(
                mapped,
                path,
                f"{path[0]}: of a file of {LARGE_FROM // 2**20} MiB and more whose records are "
                "single requests, samples and where alone are read",
                "write what the run's envelope is under states, and take this out",
            )
    assert mapping.samples is not None, "the records are single requests"
    for index, value in enumerate(mapping.samples.values):
        if value.at.keys is None or value.at.of_file:
            raise not_found(
                mapped,
                ("samples", "values", index, "at"),
                f"samples: {value.at} does more than name a key, which a file of "
                f"{LARGE_FROM // 2**20} MiB and more does not allow",
                "name the key of each record, such as usage.output_tokens",
            )


def _single_requests(
    connection: DuckDBPyConnection, stream: BinaryIO, head: Source, mapped: Mapped
) -> tuple[SingleRequests, dict[str, str]]:
    mapping = mapped.mapping
    assert mapping.samples is not None, "the records are single requests"
    query = ScanQuery(mapped.form, mapping, head)
    # By its handle: it is the file that was opened, whatever its path leads to by now.
    connection.execute(query.scan(f"/dev/fd/{stream.fileno()}", _DECIMALS))
    every, sent, completed = _one(
        connection, "SELECT count(*), count(*) FILTER (kept), count(*) FILTER (done) FROM requests"
    )
    stated = told_kept(mapped, sent, every, query.keys) if mapping.where else {}
    columns = tuple(
        _column(connection, index, value, mapped)
        for index, value in enumerate(mapping.samples.values)
    )
    return SingleRequests(sent, completed, columns, query.keys), stated


def _column(
    connection: DuckDBPyConnection, index: int, value: MappedValue, mapped: Mapped
) -> Column:
    x, odd = f"x{index}", f"odd{index}"
    count, absent, odd_count, example = _one(
        connection,
        f"SELECT count({x}), count(*) FILTER ({x} IS NULL AND {odd} IS NULL), count({odd}), "
        f"any_value({odd}) FROM requests WHERE done",
    )
    column = Column(
        None, absent, odd_count, f"{shorten(example)} where a number is wanted" if example else ""
    )
    if count:
        column.values = LargeValues(
            connection, x, count, percentiles_of(value.metric, mapped.mapping)
        )
    return column


def _one(connection: DuckDBPyConnection, query: str) -> tuple[Any, ...]:
    found = connection.execute(query).fetchone()
    assert found is not None, "an aggregate has one row"
    return found


def _at_ranks(
    connection: DuckDBPyConnection, x: str, count: int, ranks: list[int]
) -> dict[int, int]:
    """The values at these ranks, the least of them at 0."""
    if count <= _HELD_AT_ONCE:
        # Half a rank further on, so that no rounding of the share leads to a neighbour.
        shares = ", ".join(repr((rank + 0.5) / count) for rank in ranks)
        query = f"SELECT quantile_disc({x}, [{shares}]) FROM requests WHERE done AND {x} NOTNULL"
        return dict(zip(ranks, map(int, _one(connection, query)[0]), strict=True))
    ordered = f"SELECT {x} AS x, row_number() OVER (ORDER BY {x}) - 1 AS rank FROM requests"
    found = connection.execute(
        f"SELECT rank, x FROM ({ordered} WHERE done AND {x} NOTNULL) "
        f"WHERE rank IN ({', '.join(map(str, ranks))})"
    ).fetchall()
    return {int(rank): int(value) for rank, value in found}


class LargeValues:
    """Statistics of a column of integers, worked out where they lie: see recompute.Values.

    `percents` are those that will be asked for.
    """

    def __init__(
        self, connection: DuckDBPyConnection, x: str, count: int, percents: Sequence[Fraction]
    ) -> None:
        self._count = count
        self._step = Fraction(1, 10**_DECIMALS)
        bits, mask = _PART_BITS, (1 << _PART_BITS) - 1
        parts = f"{x} >> {2 * bits} AS a, ({x} >> {bits}) & {mask} AS b, {x} & {mask} AS c"
        sums = _one(
            connection,
            "SELECT sum(a), sum(b), sum(c), sum(a * a), sum(a * b), sum(2 * a * c + b * b), "
            "sum(b * c), sum(c * c) "
            f"FROM (SELECT {parts} FROM requests WHERE done AND {x} NOTNULL)",
        )
        a, b, c, aa, ab, ac, bc, cc = map(int, sums)
        part = 1 << bits
        self._sum = (a * part + b) * part + c
        self._squares = (((aa * part + 2 * ab) * part + ac) * part + 2 * bc) * part + cc
        ranks = {0, count - 1}
        for percent in percents:
            below = floor((count - 1) * percent / 100)
            ranks |= {below, min(below + 1, count - 1)}
        self._at = _at_ranks(connection, x, count, sorted(ranks))

    def __len__(self) -> int:
        return self._count

    @property
    def total(self) -> Fraction:
        """The sum."""
        return self._sum * self._step

    @property
    def smallest(self) -> Fraction:
        """The least value."""
        return self._at[0] * self._step

    @property
    def largest(self) -> Fraction:
        """The greatest value."""
        return self._at[self._count - 1] * self._step

    @property
    def mean(self) -> Fraction:
        """The arithmetic mean."""
        return self.total / self._count

    def percentile(self, percent: Fraction) -> Fraction:
        """Interpolated between neighbours; one of those that were announced."""
        at = (self._count - 1) * percent / 100
        below = floor(at)
        value = Fraction(self._at[below])
        if at > below:
            value += (self._at[below + 1] - self._at[below]) * (at - below)
        return value * self._step

    def deviation(self, ddof: int) -> Fraction:
        """Standard deviation: `ddof` 0 of a population, 1 of a sample.

        Raises:
            ValueError: not more than `ddof` values.
        """
        if self._count <= ddof:
            raise ValueError("too few values for a standard deviation")
        count = self._count
        spread = count * self._squares - self._sum * self._sum
        return square_root(Fraction(spread, count * (count - ddof)) * self._step**2)
