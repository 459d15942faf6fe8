"""nsys stats: a summary of kernels, calls or copies as CSV, nanoseconds, one row a name.

`Time (%)` is a share of the time that the report adds up, not of the run's wall time.
"""

from __future__ import annotations

from fractions import Fraction

from upheld.measured.content import Content
from upheld.measured.csv_table import CsvRow, header_of, read_table
from upheld.measured.draft import IMPOSSIBLE, NOT_MEASURED, UNTOUCHED
from upheld.measured.printed import PrintedDraft, shown
from upheld.measured.reading import Reading, Row
from upheld.records.finding import Finding, Place

NAME = "nsys-stats"
TOOL = "nsys"
TITLE = "nsys stats: summary by name, CSV"

_SHARE = "Time (%)"
_TOTAL = "Total Time (ns)"
_COUNTS = ("Instances", "Num Calls", "Count")
_NAMES = ("Name", "Operation", "Range")
_TIMES = {
    "Avg (ns)": "mean", "Med (ns)": "p50", "Min (ns)": "min", "Max (ns)": "max",
    "StdDev (ns)": "std",
}  # fmt: skip


def recognise(content: Content) -> bool:
    """A header that begins with share and total, and has a count and a name."""
    header = header_of(content)
    return (
        header[:2] == [_SHARE, _TOTAL]
        and any(name in header for name in _COUNTS)
        and any(name in header for name in _NAMES)
    )


def read(content: Content) -> Reading:
    """One row a name."""
    table = read_table(content)
    if table.refusal is not None:
        return Reading((), findings=(table.refusal,))
    if not table.rows:
        finding = Finding(
            NOT_MEASURED, Place(content.path), "the report has no line",
            "profile a run in which the devices did something",
        )  # fmt: skip
        return Reading((), findings=(finding,))
    header = header_of(content)
    count = next(name for name in _COUNTS if name in header)
    named = next(name for name in _NAMES if name in header)
    return Reading(tuple(_row(content, line, count, named) for line in table.rows))


def _row(content: Content, line: CsvRow, count: str, named: str) -> Row:
    draft = PrintedDraft(content, line.place, shown(line.cells[named]))
    for name, cell in line.cells.items():
        if name != named:
            draft.put(name, cell)
    times = draft.count(count)
    total = draft.number(_TOTAL)
    if times:
        draft.samples["time"] = times
        # A single one has neither a spread nor a middle.
        for column, statistic in _TIMES.items() if times > 1 else (("Avg (ns)", "mean"),):
            draft.report(f"time.{statistic}", "ns", column)
        if total is not None:
            draft.confirm(
                "Avg (ns)", Fraction(total) / times, "ns", Fraction(0), f"its total over {times:,}"
            )
    least, most = draft.value("time.min"), draft.value("time.max")
    if least is not None and most is not None and least > most:
        draft.find(IMPOSSIBLE, "Min (ns) is greater than Max (ns)", UNTOUCHED, "Min (ns)")
    share = draft.number(_SHARE)
    if share is not None:
        draft.stated["share"] = f"{share} % of the time that the report adds up"
    draft.envelope["benchmark"] = shown(line.cells[named])
    return draft.finish(("device", "processor"))
