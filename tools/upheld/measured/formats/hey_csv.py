"""hey: the CSV of `-o csv`, a line for each answered request, worked out by hey's own rule.

Seconds with four decimals. Requests that were not answered are not in it, and neither is the wall
time of the run. The percentile is that of hey's report, see `hey`.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from upheld.measured.content import Content
from upheld.measured.csv_table import header_of, read_table
from upheld.measured.draft import IMPOSSIBLE, NOT_MEASURED, UNTOUCHED
from upheld.measured.printed import PrintedDraft, exact, half_of_last_digit, is_number
from upheld.measured.reading import Reading, Requests
from upheld.measured.recompute import Values
from upheld.measured.serving_axes import left_open
from upheld.records.finding import Finding, Place

NAME = "hey-csv"
TOOL = "hey"
TITLE = "hey: single requests, CSV"

_COLUMNS = ["response-time", "DNS+dialup", "DNS", "Request-write", "Response-delay"]
_PERCENTILES = (50, 90, 95, 99)


def recognise(content: Content) -> bool:
    """A header that begins with hey's columns."""
    return header_of(content)[: len(_COLUMNS)] == _COLUMNS


def read(content: Content) -> Reading:
    """One row over all lines."""
    table = read_table(content)
    if table.refusal is not None:
        return Reading((), findings=(table.refusal,))
    times: list[int | Decimal] = []
    well = 0
    for line in table.rows:
        time = exact(line.cells["response-time"])
        status = exact(line.cells.get("status-code", ""))
        if not is_number(time) or not isinstance(status, int):
            finding = Finding(
                IMPOSSIBLE, line.place, "a line without a time or a status", UNTOUCHED
            )
            return Reading((), findings=(finding,))
        assert isinstance(time, int | Decimal), "is_number() saw one"
        times.append(time)
        well += status < 400
    if not times:
        finding = Finding(
            NOT_MEASURED, Place(content.path), "no request was answered", "run it again"
        )
        return Reading((), findings=(finding,))
    draft = PrintedDraft(content, table.rows[0].place)
    answered = len(times)
    draft.recompute("requests.completed", "requests", Fraction(well))
    if well:
        values = Values(times)
        rounding = max(map(half_of_last_digit, times))
        draft.samples["latency.e2e"] = answered
        for statistic, value in (
            ("mean", values.mean),
            ("min", values.smallest),
            ("max", values.largest),
            *((f"p{percent}", _percentile(times, percent)) for percent in _PERCENTILES),
        ):
            draft.recompute(f"latency.e2e.{statistic}", "s", value, rounding=rounding)
    draft.stated["failures"] = (
        f"{answered - well:,} answers with a status of 400 or more; "
        "requests without an answer are not in the file"
    )
    failed = answered - well or None
    requests = Requests(well, failed, None, failed_are_timed=well != 0 and failed is not None)
    return Reading((draft.finish(left_open(draft.envelope), requests),))


def _percentile(times: list[int | Decimal], percent: int) -> Fraction:
    """The first of the sorted times at whose index the whole percentage is reached."""
    index = -(-percent * len(times) // 100)
    return Fraction(sorted(times)[min(index, len(times) - 1)])
