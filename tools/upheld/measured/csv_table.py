"""Comma-separated text with one header line, whose every row has as many cells as the header."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

from upheld.measured.content import Content
from upheld.measured.printed import damaged, is_text
from upheld.records.finding import Finding, Place

MOST_ROWS = 2_000_000
_LONGEST_HEADER = 20_000


@dataclass(frozen=True, slots=True)
class CsvRow:
    """The cells of one row by the name of their column, and the line where the row ends."""

    place: Place
    cells: dict[str, str]


@dataclass(frozen=True, slots=True)
class CsvTable:
    """The rows, or a refusal that says where the text stops being a table."""

    rows: tuple[CsvRow, ...]
    refusal: Finding | None = None


def header_of(content: Content) -> list[str]:
    """The names of the columns on the first line; empty where the content can be no table."""
    if not is_text(content):
        return []
    first, _, _ = content.text.partition("\n")
    if "," not in first or len(first) > _LONGEST_HEADER:
        return []
    try:
        cells = next(csv.reader([first.rstrip("\r")], skipinitialspace=True), [])
    except csv.Error:
        return []
    return [cell.strip() for cell in cells]


def read_table(content: Content) -> CsvTable:
    """Every row below the header. A row of another length refuses the whole table."""
    header = header_of(content)
    if len(set(header)) != len(header):
        return CsvTable((), damaged(Place(content.path), "two columns have the same name"))
    rows: list[CsvRow] = []
    reader = csv.reader(io.StringIO(content.text), skipinitialspace=True)
    try:
        next(reader)
        for cells in reader:
            place = Place(content.path, reader.line_num)
            if not any(cells):
                continue
            if len(cells) != len(header):
                return CsvTable(
                    (),
                    damaged(place, f"{len(cells)} cells below a header of {len(header)}"),
                )
            if [cell.strip() for cell in cells] == header:
                again = "the header is there again: the file holds more than one run"
                return CsvTable((), damaged(place, again))
            if len(rows) == MOST_ROWS:
                return CsvTable((), damaged(place, f"more than {MOST_ROWS:,} rows"))
            named = {name: cell.strip() for name, cell in zip(header, cells, strict=True)}
            rows.append(CsvRow(place, named))
    except csv.Error as error:
        return CsvTable((), damaged(Place(content.path, reader.line_num), f"not CSV: {error}"))
    return CsvTable(tuple(rows))
