"""Locust: `_stats.csv`, one row a name and one of all together."""

from __future__ import annotations

import re
from fractions import Fraction

from upheld.measured import locust_events
from upheld.measured.content import Content
from upheld.measured.csv_table import CsvRow, header_of, read_table
from upheld.measured.draft import DISAGREES, IMPOSSIBLE, UNTOUCHED
from upheld.measured.printed import PrintedDraft, damaged
from upheld.measured.reading import Reading, Requests, Row
from upheld.measured.serving_axes import SERVING_AXES
from upheld.records.finding import Finding, Place

NAME = "locust-stats"
TOOL = "Locust"
TITLE = "Locust: statistics of a run, CSV"

_COLUMNS = [
    "Type", "Name", "Request Count", "Failure Count", "Median Response Time",
    "Average Response Time", "Min Response Time", "Max Response Time",
]  # fmt: skip
_TIMES = {
    "Average Response Time": "mean", "Min Response Time": "min", "Max Response Time": "max",
}  # fmt: skip
_PERCENTILE = re.compile(r"(?P<percent>\d{1,2}(?:\.\d{1,3})?)%")
_TOGETHER = "Aggregated"


def recognise(content: Content) -> bool:
    """A header that begins with Locust's columns."""
    return header_of(content)[: len(_COLUMNS)] == _COLUMNS


def read(content: Content) -> Reading:
    """One row a line. A file without its last line, of all together, has none."""
    table = read_table(content)
    if table.refusal is not None:
        return Reading((), findings=(table.refusal,))
    if not table.rows or table.rows[-1].cells["Name"] != _TOGETHER:
        place = table.rows[-1].place if table.rows else Place(content.path)
        return Reading(
            (), findings=(damaged(place, "the line of all requests together is missing"),)
        )
    kinds = len(table.rows) - 1
    rows = tuple(_row(content, line, kinds) for line in table.rows)
    return Reading(rows, findings=_sums(rows))


def _row(content: Content, line: CsvRow, kinds: int) -> Row:
    case = locust_events.case_of(line.cells["Type"], line.cells["Name"])
    draft = PrintedDraft(content, line.place, case)
    for name, cell in line.cells.items():
        if name not in ("Type", "Name") and cell not in ("", "N/A"):
            draft.put(name, cell)
    mixed = line.cells["Name"] == _TOGETHER and kinds > 1
    note = locust_events.ALL_KINDS if mixed else locust_events.EVENTS
    counted = draft.count("Request Count")
    failed = draft.count("Failure Count")
    completed = None
    if counted is not None and failed is not None:
        completed = counted - failed
        if completed < 0:
            draft.find(
                IMPOSSIBLE, f"{failed} of {counted} requests failed", UNTOUCHED, "Failure Count"
            )
            completed = None
    draft.report("requests", "count", "Request Count", note=note)
    draft.report("requests.failed", "requests", "Failure Count")
    draft.report("throughput.requests", "requests/s", "Requests/s", note=note)
    if counted:
        draft.samples["latency"] = counted
        for column, statistic in _TIMES.items():
            draft.report(f"latency.{statistic}", "ms", column)
        for column in line.cells:
            if found := _PERCENTILE.fullmatch(column):
                name = f"latency.p{found['percent']}"
                printed = draft.number(column)
                if printed is not None:
                    rounding = locust_events.rounding_of(Fraction(printed))
                    draft.report(name, "ms", column, note=locust_events.BUCKETS, rounding=rounding)
        _refuse_impossible(draft)
    draft.envelope["benchmark"] = case
    return draft.finish(SERVING_AXES, Requests(completed, failed, counted, failed_are_timed=True))


def _refuse_impossible(draft: PrintedDraft) -> None:
    least, mean, most = (draft.value(f"latency.{each}") for each in ("min", "mean", "max"))
    if least is None or mean is None or most is None:
        return
    if not least <= mean <= most:
        draft.find(
            IMPOSSIBLE, "the average is not between the least and the most", UNTOUCHED,
            "Average Response Time",
        )  # fmt: skip


def _sums(rows: tuple[Row, ...]) -> tuple[Finding, ...]:
    """A finding where the last line does not count what the lines above it count."""
    *single, whole = rows
    said = whole.figure("requests")
    counts = [figure.value for row in single if (figure := row.figure("requests")) is not None]
    if not single or said is None or sum(counts, Fraction(0)) == said.value:
        return ()
    return (
        Finding(
            DISAGREES,
            whole.place,
            f"{_TOGETHER} counts {said.value} requests, but the lines above it add up to "
            f"{sum(counts, Fraction(0))}",
            UNTOUCHED,
        ),
    )
