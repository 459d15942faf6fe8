"""CSV as evidence needs it: one header, as many cells in every row, numbers as they are written."""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from io import StringIO

from upheld.records.shorten import shorten
from upheld.records.units import QuantityError, parse_number

MAX_COLUMNS = 1000
DELIMITERS = ",;\t"

_NUMBER = re.compile(r"[+-]?\d[\d,]*(\.\d+)?([eE][+-]?\d{1,3})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Table:
    """The records of a CSV file, cells as text, and the line on which each begins."""

    columns: tuple[str, ...]
    records: tuple[dict[str, str], ...]
    lines: tuple[int, ...]


class TableRefusedError(ValueError):
    """The text is no table that can be relied on; `line` is where that shows."""

    def __init__(self, line: int, message: str, help_text: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message
        self.help = help_text


def delimiter_of(header: str) -> str:
    """Comma, semicolon or tab, whichever the header has most of."""
    return max(DELIMITERS, key=header.count)


def parse_table(text: str) -> Table:
    """The header and the records below it.

    Raises:
        TableRefusedError: no header, a column twice or without a name, a row of another length.
    """
    delimiter = delimiter_of(text.partition("\n")[0])
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    records: list[dict[str, str]] = []
    starts: list[int] = []
    columns: tuple[str, ...] = ()
    start = 1
    try:
        for cells in reader:
            cells = [cell.strip() for cell in cells]
            if not columns:
                columns = _header(cells)
            elif cells:
                if len(cells) != len(columns):
                    raise TableRefusedError(
                        start,
                        f"{len(cells)} cells below a header of {len(columns)}",
                        "use the file as it was written, complete; a cell with a comma is quoted",
                    )
                records.append(dict(zip(columns, cells, strict=True)))
                starts.append(start)
            start = reader.line_num + 1
    except csv.Error as error:
        raise TableRefusedError(
            reader.line_num or 1, f"not CSV: {error}", "use the file as it was written, complete"
        ) from None
    return Table(columns, tuple(records), tuple(starts))


def _header(cells: list[str]) -> tuple[str, ...]:
    twice = [name for name, times in Counter(cells).items() if times > 1]
    if len(cells) > MAX_COLUMNS:
        message = f"{len(cells):,} columns; at most {MAX_COLUMNS:,} are read"
    elif not all(cells):
        message = "a column has no name"
    elif twice:
        message = f"the column {shorten(twice[0])!r} is there twice"
    else:
        return tuple(cells)
    raise TableRefusedError(1, message, "the first line of a CSV file names each column once")


def number_in(cell: str) -> int | Decimal | None:
    """The number that a cell holds, as exact as it is written; None where it holds another text."""
    if not _NUMBER.fullmatch(cell):
        return None
    try:
        parse_number(cell)
    except QuantityError:
        return None
    plain = cell.replace(",", "")
    return Decimal(plain) if set(plain) & set(".eE") else int(plain)
