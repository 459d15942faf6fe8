"""Locust: `_failures.csv`, a line for each kind of error; one row for the run.

Locust writes it now and then: failures after the last time are not in it.
"""

from __future__ import annotations

from fractions import Fraction

from upheld.measured.content import Content
from upheld.measured.csv_table import header_of, read_table
from upheld.measured.draft import IMPOSSIBLE, UNTOUCHED
from upheld.measured.printed import PrintedDraft, exact, shown
from upheld.measured.reading import Reading, Requests
from upheld.records.finding import Finding, Place

NAME = "locust-failures"
TOOL = "Locust"
TITLE = "Locust: failures of a run, CSV"

_COLUMNS = ["Method", "Name", "Error", "Occurrences"]
_MOST_SHOWN = 10


def recognise(content: Content) -> bool:
    """A header that begins with the columns of failures."""
    return header_of(content)[: len(_COLUMNS)] == _COLUMNS


def read(content: Content) -> Reading:
    """One row: how many failed, and of what."""
    table = read_table(content)
    if table.refusal is not None:
        return Reading((), findings=(table.refusal,))
    draft = PrintedDraft(content, Place(content.path, 1))
    failed = 0
    for number, line in enumerate(table.rows, start=1):
        times = exact(line.cells["Occurrences"])
        if not isinstance(times, int) or times < 0:
            finding = Finding(
                IMPOSSIBLE, line.place, "the number of occurrences is no count", UNTOUCHED
            )
            return Reading((), findings=(finding,))
        failed += times
        if number <= _MOST_SHOWN:
            error = f"{line.cells['Method']} {line.cells['Name']}: {line.cells['Error']}"
            draft.stated[f"failure_{number}"] = shown(f"{times:,} × {error}")
    draft.recompute(
        "requests.failed", "requests", Fraction(failed),
        note="as of the last time that Locust wrote the file",
    )  # fmt: skip
    return Reading((draft.finish((), Requests(None, failed, None)),))
