"""llama-bench's Markdown tables, and what the lines around them say of the run.

A table has a column only for what differs from the build's own default; its figures are rounded
to two digits after the point, and the samples behind them are nowhere. The devices are named in
lines above the table, the build below it, where these were kept.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import zip_longest
from math import inf
from typing import Generic, TypeVar

from upheld.corpus.strict_json import Json
from upheld.measured import llama_bench
from upheld.measured.content import Content
from upheld.measured.draft import IMPOSSIBLE, UNTOUCHED, RowDraft
from upheld.measured.printed_row import PrintedRow
from upheld.measured.reading import Row
from upheld.measured.tables import Table, TableRow, markdown_tables
from upheld.measured.yaml_content import scalar

T = TypeVar("T")

_RATE = "t/s"
_MEAN = re.compile(r"(?P<mean>\d{1,12}(?:\.\d{1,6})?) ± (?P<deviation>\d{1,12}(?:\.\d{1,6})?)")
_BUILD = re.compile(r"^build: (?P<commit>[0-9a-f]{6,40}) \((?P<number>\d{1,6})\)\s*$")
_HEADING = re.compile(r"^#{1,6} +(?P<text>.{1,200}?)[ #]*$")
_DEVICE = re.compile(
    r"^ *(?:Device \d+: (?P<cuda>[^,]{1,100}),"
    r"|ggml_vulkan: \d+ = (?P<vulkan>.{1,100}?)(?: \([^()]{1,60}\))? \|"
    r"|ggml_metal\w*: GPU name: +(?P<metal>\S.{0,100}))"
)
_OTHER_COLUMNS = {"model", "test", _RATE}


@dataclass(frozen=True, slots=True)
class Build:
    """The build that made a table."""

    commit: str
    number: str


class Lines(Generic[T]):
    """What some lines of a text say, in their order."""

    def __init__(self) -> None:
        self._numbers: list[int] = []
        self._said: list[T] = []

    def add(self, number: int, said: T) -> None:
        """What the line of that number says; it stands below all that were added before."""
        self._numbers.append(number)
        self._said.append(said)

    def between(self, above: float, below: float) -> list[T]:
        """What is said on the lines between those two, neither of them included."""
        start = bisect_right(self._numbers, above)
        return self._said[start : bisect_left(self._numbers, below)]

    def last_above(self, line: int) -> T | None:
        """What the nearest line above says, None where there is none."""
        at = bisect_left(self._numbers, line)
        return self._said[at - 1] if at else None


@dataclass(slots=True)
class Around:
    """What stands around the tables of a text."""

    devices: Lines[str] = field(default_factory=Lines)
    builds: Lines[Build] = field(default_factory=Lines)
    headings: Lines[str] = field(default_factory=Lines)

    @classmethod
    def of(cls, content: Content) -> Around:
        """All lines of a text that say something about its tables."""
        around = cls()
        for number, line in enumerate(content.text.split("\n"), start=1):
            if found := _DEVICE.match(line):
                name = found["cuda"] or found["vulkan"] or found["metal"]
                around.devices.add(number, name.strip())
            elif found := _BUILD.match(line):
                around.builds.add(number, Build(found["commit"], found["number"]))
            elif found := _HEADING.match(line):
                around.headings.add(number, found["text"].strip())
        return around


def is_tests(table: Table) -> bool:
    """Whether a table is one of llama-bench."""
    return table.columns[:1] == ("model",) and table.columns[-2:] == ("test", _RATE)


def has_tests(content: Content) -> bool:
    """Whether a text has a table of llama-bench."""
    return _RATE in content.text and any(map(is_tests, markdown_tables(content)))


def rows_of(tables: Sequence[Table], around: Around) -> Iterator[Row]:
    """A row for each test in those of the tables that are llama-bench's."""
    above = 0
    for table, following in zip_longest(tables, tables[1:]):
        below = inf if following is None else following.line
        if is_tests(table):
            devices = around.devices.between(above, table.line)
            builds = around.builds.between(table.last_line, below)
            heading = around.headings.last_above(table.line)
            for each in table.rows:
                yield _read_test(each, heading, devices, builds[0] if builds else None)
        above = table.last_line


def _read_test(
    cells: TableRow,
    heading: str | None,
    devices: Sequence[str],
    build: Build | None,
) -> Row:
    test = cells.cells["test"].text
    parts = llama_bench.parts_of_test(test)
    found = _MEAN.fullmatch(cells.cells[_RATE].text)
    record: dict[str, Json] = {"test": test, _RATE: cells.cells[_RATE].text}
    draft = PrintedRow(cells, 0, (), record)
    draft.case = test if parts is None else llama_bench.name_of_test(*parts)
    if parts is None:
        draft.find(IMPOSSIBLE, f"{test[:40]!r} is no test of llama-bench", UNTOUCHED, "test")
    elif found is None:
        draft.find(IMPOSSIBLE, "the rate is not written as `mean ± deviation`", UNTOUCHED, _RATE)
    else:
        _read_rate(draft, parts, found)
        llama_bench.read_lengths(draft, *parts[:2])
    _read_columns(draft, cells)
    settings = {name: cell.text for name, cell in cells.cells.items()}
    if settings.get("ngl") != "0":
        llama_bench.read_devices(draft, devices, settings.get("sm"), settings.get("mg"))
    if heading is not None:
        draft.stated["heading"] = heading
    if build is not None:
        draft.envelope["engine_version"] = f"b{build.number}"
        draft.stated["build_commit"] = build.commit
    return draft.finish(llama_bench.not_stated(draft))


def _read_rate(draft: RowDraft, parts: tuple[int, int, int], found: re.Match[str]) -> None:
    mean, deviation = found["mean"], found["deviation"]
    draft.record["mean"], draft.record["deviation"] = scalar(mean), scalar(deviation)
    kind = llama_bench.kind_of_test(*parts[:2])
    draft.report("throughput", "tokens/s", "mean")
    if kind is not None:
        draft.report(kind, "tokens/s", "mean")
    draft.report("stddev", "tokens/s", "deviation")
    if parts[2]:
        draft.stated["n_depth"] = str(parts[2])
    draft.stated["repetitions"] = "not printed; 5 unless -r said otherwise"
    llama_bench.doubt_spread(draft, Fraction(mean), Fraction(deviation), _RATE)


def _read_columns(draft: RowDraft, cells: TableRow) -> None:
    model = cells.cells["model"].text
    if model:
        draft.envelope["model"] = model
    dtype = llama_bench.weight_dtype(model)
    if dtype is not None:
        draft.envelope["weight_dtype"] = dtype
    columns = {name: cell.text for name, cell in cells.cells.items()}
    k, v = columns.get("type_k"), columns.get("type_v")
    if k is not None and v is not None and (cache := llama_bench.kv_cache_dtype(k, v)) is not None:
        draft.envelope["kv_cache_dtype"] = cache
    for name, text in columns.items():
        if name not in _OTHER_COLUMNS and text:
            draft.stated[name] = text
