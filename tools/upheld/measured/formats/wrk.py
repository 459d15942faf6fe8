"""wrk: its report, one row a run. Several runs may stand one after another.

Requests that were answered with a status of 400 or more are counted in the rate and timed like the
others; sockets that failed are neither. wrk waits for an answer before it sends again, and fills
in latencies for what it would have sent meanwhile (wrk 4.2, `src/wrk.c`, `stats_correct`).
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

from upheld.measured.content import Content
from upheld.measured.printed import (
    Line,
    PrintedDraft,
    damaged,
    exact,
    half_of_last_digit,
    is_number,
    is_text,
    lines_in,
    shown,
)
from upheld.measured.reading import Reading, Requests, Row
from upheld.measured.serving_axes import left_open
from upheld.records.finding import Finding

NAME = "wrk"
TOOL = "wrk"
TITLE = "wrk: report, text"

_BEGINS = re.compile(r"Running (?P<length>\S+) test @ (?P<url>\S+)")
_LOAD = re.compile(r"\s+(?P<threads>\d{1,6}) threads and (?P<connections>\d{1,7}) connections")
_LATENCY = re.compile(r"\s+Latency\s+(?P<mean>\S+)\s+(?P<std>\S+)\s+(?P<max>\S+)\s+\S+%")
_PERCENTILE = re.compile(r"\s+(?P<percent>\d{1,2}(?:\.\d{1,3})?)%\s+(?P<value>\S+)")
_DONE = re.compile(r"\s+(?P<count>\d{1,15}) requests in (?P<length>\S+), \S+ read")
_SOCKETS = re.compile(
    r"\s+Socket errors: connect (?P<connect>\d{1,12}), read (?P<read>\d{1,12}), "
    r"write (?P<write>\d{1,12}), timeout (?P<timeout>\d{1,12})"
)
_STATUS = re.compile(r"\s+Non-2xx or 3xx responses: (?P<count>\d{1,15})")
_RATE = re.compile(r"Requests/sec:\s+(?P<value>\S+)")
_TIME = re.compile(r"(?P<number>\d{1,12}(?:\.\d{1,6})?)(?P<unit>us|ms|s|m|h)")
_MILLISECONDS = {
    "us": Fraction(1, 1000), "ms": Fraction(1), "s": Fraction(1000), "m": Fraction(60_000),
    "h": Fraction(3_600_000),
}  # fmt: skip


def recognise(content: Content) -> bool:
    """Text with the heading of a run and the table of its threads."""
    return (
        is_text(content)
        and "Thread Stats" in content.text
        and any(_BEGINS.match(line.text) for line in lines_in(content))
    )


def read(content: Content) -> Reading:
    """One row a run; a run without its rate was cut short and has none."""
    runs: list[list[Line]] = []
    for line in lines_in(content):
        if _BEGINS.match(line.text):
            runs.append([])
        if runs:
            runs[-1].append(line)
    rows: list[Row] = []
    findings: list[Finding] = []
    for number, lines in enumerate(runs, start=1):
        row = _row(content, lines, f"run {number}" if len(runs) > 1 else None)
        if row is None:
            findings.append(damaged(lines[0].place, "the run ends before its rate of requests"))
        else:
            rows.append(row)
    return Reading(tuple(rows), findings=tuple(findings))


def _row(content: Content, lines: list[Line], case: str | None) -> Row | None:
    draft = PrintedDraft(content, lines[0].place, case)
    counted: int | None = None
    length: tuple[Fraction, Fraction] | None = None
    sockets = 0
    statuses = 0
    rated = False
    times: list[tuple[str, str, Line]] = []
    for line in lines:
        if found := _BEGINS.match(line.text):
            draft.stated["url"] = shown(found["url"])
        elif found := _LOAD.match(line.text):
            draft.stated["threads"] = found["threads"]
            draft.envelope["concurrency"] = int(found["connections"])
        elif found := _LATENCY.match(line.text):
            times += [(each, found[each], line) for each in ("mean", "std", "max")]
        elif found := _DONE.match(line.text):
            counted = int(found["count"])
            length = _time(found["length"])
        elif found := _SOCKETS.match(line.text):
            sockets = sum(int(each) for each in found.groups())
            draft.stated["socket_errors"] = ", ".join(
                f"{name} {int(count):,}" for name, count in found.groupdict().items()
            )
        elif found := _STATUS.match(line.text):
            statuses = int(found["count"])
        elif found := _RATE.match(line.text):
            draft.put("Requests/sec", found["value"], line.place)
            rated = is_number(draft.record["Requests/sec"])
            break
        elif (found := _PERCENTILE.fullmatch(line.text)) and counted is None:
            times.append((f"p{found['percent']}", found["value"], line))
    if counted is None or length is None or not rated:
        return None
    if counted > statuses:
        draft.samples["latency.e2e"] = counted
        for statistic, text, line in times:
            _report_time(draft, f"latency.e2e.{statistic}", text, line)
    return _finish(draft, counted, length, sockets, statuses)


def _finish(
    draft: PrintedDraft,
    counted: int,
    length: tuple[Fraction, Fraction],
    sockets: int,
    statuses: int,
) -> Row:
    draft.report(
        "throughput.requests", "requests/s", "Requests/sec",
        note="every answer, those with a status of 400 or more too",
    )  # fmt: skip
    milliseconds, rounding = length
    draft.report_as("duration", milliseconds / 1000, "s", rounding / 1000)
    if milliseconds:
        rate = counted * 1000 / milliseconds
        draft.confirm(
            "Requests/sec", rate, "requests/s", rate * rounding / milliseconds,
            "its requests and duration",
        )  # fmt: skip
    well = counted - statuses
    draft.recompute("requests.completed", "requests", Fraction(max(well, 0)))
    draft.recompute(
        "requests.failed", "requests", Fraction(statuses + sockets),
        note="statuses of 400 or more, and sockets that failed or timed out",
    )  # fmt: skip
    draft.stated["rate_of_arrival"] = "as fast as answers come: each connection waits for its own"
    requests = Requests(
        max(well, 0), statuses + sockets, None, failed_are_timed=0 < statuses < counted
    )
    return draft.finish(left_open(draft.envelope), requests)


def _time(text: str) -> tuple[Fraction, Fraction] | None:
    """Milliseconds, and how far they may be from what wrk knew."""
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    number = exact(found["number"])
    assert isinstance(number, int | Decimal), "the pattern is of a number"
    factor = _MILLISECONDS[found["unit"]]
    return Fraction(number) * factor, half_of_last_digit(number) * factor


def _report_time(draft: PrintedDraft, name: str, text: str, line: Line) -> None:
    time = _time(text)
    if time is None:
        draft.put(name, text, line.place)
        draft.number(name)
        return
    value, rounding = time
    draft.report_as(name, value, "ms", rounding)
