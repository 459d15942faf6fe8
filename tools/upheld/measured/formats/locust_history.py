"""Locust: `_stats_history.csv`, a line each second; the totals at its end, one row a name.

The percentiles of a line are those of the last ten seconds only and are not read as the run's.
"""

from __future__ import annotations

from upheld.measured import locust_events
from upheld.measured.content import Content
from upheld.measured.csv_table import CsvRow, header_of, read_table
from upheld.measured.draft import IMPOSSIBLE, NOT_MEASURED, UNTOUCHED
from upheld.measured.printed import PrintedDraft, exact
from upheld.measured.reading import Reading, Requests, Row
from upheld.measured.serving_axes import SERVING_AXES
from upheld.records.finding import Finding, Place

NAME = "locust-history"
TOOL = "Locust"
TITLE = "Locust: history of a run, CSV"

_COLUMNS = ["Timestamp", "User Count", "Type", "Name", "Requests/s", "Failures/s"]
_TOTALS = {
    "Total Average Response Time": "mean", "Total Min Response Time": "min",
    "Total Max Response Time": "max",
}  # fmt: skip


def recognise(content: Content) -> bool:
    """A header that begins with Locust's columns of a history."""
    header = header_of(content)
    return header[: len(_COLUMNS)] == _COLUMNS and "Total Request Count" in header


def read(content: Content) -> Reading:
    """One row a name: its last line, whose totals are those up to then."""
    table = read_table(content)
    if table.refusal is not None:
        return Reading((), findings=(table.refusal,))
    if not table.rows:
        finding = Finding(
            NOT_MEASURED, Place(content.path), "the history has no line", "run the test again"
        )
        return Reading((), findings=(finding,))
    last: dict[str, CsvRow] = {}
    before: dict[str, int] = {}
    findings: list[Finding] = []
    for line in table.rows:
        case = locust_events.case_of(line.cells["Type"], line.cells["Name"])
        total = exact(line.cells["Total Request Count"])
        if isinstance(total, int):
            if total < before.get(case, 0):
                findings.append(
                    Finding(IMPOSSIBLE, line.place, f"the count of {case} goes back", UNTOUCHED)
                )
            before[case] = total
        last[case] = line
    users = [exact(line.cells["User Count"]) for line in table.rows]
    counts = [each for each in users if isinstance(each, int)]
    rows = tuple(_row(content, case, line, counts) for case, line in last.items())
    return Reading(rows, findings=tuple(findings[:1]))


def _row(content: Content, case: str, line: CsvRow, users: list[int]) -> Row:
    draft = PrintedDraft(content, line.place, case)
    for name, cell in line.cells.items():
        if name.startswith("Total ") and cell not in ("", "N/A"):
            draft.put(name, cell)
    counted = draft.count("Total Request Count")
    failed = draft.count("Total Failure Count")
    completed = None if counted is None or failed is None or failed > counted else counted - failed
    draft.report("requests", "count", "Total Request Count", note=locust_events.EVENTS)
    draft.report("requests.failed", "requests", "Total Failure Count")
    if counted:
        draft.samples["latency"] = counted
        for column, statistic in _TOTALS.items():
            draft.report(f"latency.{statistic}", "ms", column)
    if users:
        draft.stated["users"] = f"from {min(users):,} to {max(users):,}"
    draft.stated["written"] = "each second: what came after the last line is not in it"
    draft.envelope["benchmark"] = case
    return draft.finish(SERVING_AXES, Requests(completed, failed, counted, failed_are_timed=True))
