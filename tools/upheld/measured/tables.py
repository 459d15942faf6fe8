"""Tables in text, CSV or Markdown: rows by column, with the place of each cell."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from upheld.corpus.strict_json import Json, Keys
from upheld.measured.content import NOT_READABLE, Content
from upheld.measured.yaml_content import scalar
from upheld.records.finding import Finding, Place

_MOST_COLUMNS = 200
_LONGEST_LINE = 100_000
_CELL = re.compile(r'(?P<text>"(?:[^"]|"")*"|[^,"]*)(?:,|$)')
_RULE = re.compile(r"\|(?: *:?-+:? *\|)+")


@dataclass(frozen=True, slots=True)
class Cell:
    """The text of one cell and the column, counted from 1, at which it begins."""

    text: str
    column: int


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table by the names of its columns."""

    path: str
    line: int
    cells: dict[str, Cell]

    def place(self, document: int = 0, keys: Keys = ()) -> Place:
        """Where the cell of a column stands; the row itself where there is no such column."""
        del document  # a row is one
        cell = self.cells.get(str(keys[0])) if keys else None
        return Place(self.path, self.line, cell.column if cell else 1)

    def record(self, numbers: Container[str]) -> dict[str, Json]:
        """The cells as values: those of the columns in `numbers` as numbers, the others as text."""
        return {
            name: scalar(cell.text) if name in numbers else cell.text
            for name, cell in self.cells.items()
        }


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose header stands on `line`, and which ends on `last_line`.

    It has no rows where `findings` say that one of them does not fit the header: it was cut or
    edited, and which of its numbers are whole is open.
    """

    line: int
    last_line: int
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    findings: tuple[Finding, ...] = ()


def csv_header(content: Content) -> tuple[int, tuple[str, ...]] | None:
    """The line and the columns of the header of a CSV file: its first line that is no comment."""
    for number, line in enumerate(_lines(content.text), start=1):
        if line.strip() and not line.startswith("#"):
            cells = _csv_cells(line)
            return None if cells is None else (number, tuple(cell.text for cell in cells))
    return None


def csv_table(content: Content) -> Table:
    """The CSV table that the whole file is, one record a line; empty where it has no header."""
    start, columns = csv_header(content) or (0, ())
    numbered = enumerate(_lines(content.text), start=1)
    parsed = [
        (number, _csv_cells(line)) for number, line in numbered if number > start and line.strip()
    ]
    last = parsed[-1][0] if parsed else start
    return _table(content.path, start, last, columns, parsed)


def markdown_tables(content: Content) -> Iterator[Table]:
    """Each table between vertical bars, in the order of the text."""
    lines = content.text.split("\n")
    at = 0
    while at + 1 < len(lines):
        if not (lines[at].startswith("|") and _RULE.fullmatch(lines[at + 1].rstrip())):
            at += 1
            continue
        end = at + 2
        while end < len(lines) and lines[end].startswith("|"):
            end += 1
        columns = tuple(cell.text for cell in _markdown_cells(lines[at]))
        parsed = [
            (number + 1, _markdown_cells(lines[number]) if _is_closed(lines[number]) else None)
            for number in range(at + 2, end)
        ]
        yield _table(content.path, at + 1, end, columns, parsed)
        at = end


def _table(
    path: str,
    line: int,
    last_line: int,
    columns: tuple[str, ...],
    parsed: Sequence[tuple[int, list[Cell] | None]],
) -> Table:
    rows: list[TableRow] = []
    findings: list[Finding] = []
    for number, cells in parsed:
        if cells is None or len(cells) != len(columns):
            findings.append(_misfit(path, number, columns, cells))
        else:
            rows.append(TableRow(path, number, dict(zip(columns, cells, strict=True))))
    if len(set(columns)) != len(columns):
        findings.insert(0, _misnamed(path, line))
    return Table(line, last_line, columns, () if findings else tuple(rows), tuple(findings[:1]))


def _lines(text: str) -> Iterator[str]:
    """The lines one after another, without those after the last that is asked for."""
    start = 0
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield text[start:end].rstrip("\r")
        start = end + 1


def _is_closed(line: str) -> bool:
    return line.rstrip().endswith("|")


def _markdown_cells(line: str) -> list[Cell]:
    cells: list[Cell] = []
    column = 2
    for text in line[:_LONGEST_LINE].rstrip().removeprefix("|").removesuffix("|").split("|"):
        cells.append(Cell(text.strip(), column + len(text) - len(text.lstrip())))
        column += len(text) + 1
    return cells


def _csv_cells(line: str) -> list[Cell] | None:
    """The cells of one line, or None where it is cut inside a quoted one or has too many."""
    if len(line) > _LONGEST_LINE:
        return None
    cells: list[Cell] = []
    at = 0
    while at <= len(line):
        match = _CELL.match(line, at)
        if match is None or len(cells) >= _MOST_COLUMNS:
            return None
        text = match["text"]
        if text.startswith('"'):
            text = text[1:-1].replace('""', '"')
        cells.append(Cell(text, at + 1))
        if not match.group().endswith(","):
            break
        at = match.end()
    return cells


def _misnamed(path: str, line: int) -> Finding:
    return Finding(
        NOT_READABLE,
        Place(path, line, 1),
        "two columns have one name, so which of them counts is open",
        "add the file as the tool wrote it",
    )


def _misfit(path: str, line: int, columns: Sequence[str], cells: Sequence[Cell] | None) -> Finding:
    there = "a cell without an end" if cells is None else f"{len(cells)} cells"
    return Finding(
        NOT_READABLE,
        Place(path, line, 1),
        f"the row has {there}, where the table has {len(columns)} columns: it was cut or edited",
        "add the file as the tool wrote it, complete",
    )
