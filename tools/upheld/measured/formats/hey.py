"""hey: its report, seconds, one row a run.

The rate counts every request, failed ones too; times are of those that were answered, whatever
their status. A percentile is the first of the sorted times with that share below it (hey, commit
8985827 of March 2021, `requester/report.go`).
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

from upheld.measured.content import Content
from upheld.measured.draft import DISAGREES, IMPOSSIBLE, UNTOUCHED
from upheld.measured.printed import (
    PrintedDraft,
    damaged,
    half_of_last_digit,
    is_number,
    is_text,
    lines_in,
)
from upheld.measured.reading import Reading, Requests, Row
from upheld.measured.serving_axes import left_open
from upheld.records.finding import Place

NAME = "hey"
TOOL = "hey"
TITLE = "hey: report, text"

_SUMMARY = re.compile(r"\s+(?P<label>Total|Slowest|Fastest|Average):\s+(?P<value>\S+) secs")
_RATE = re.compile(r"\s+Requests/sec:\s+(?P<value>\S+)")
_PERCENTILE = re.compile(r"\s+(?P<percent>\d{1,2})%+ in (?P<value>\S+) secs")
_STATUS = re.compile(r"\s+\[(?P<status>\d{3})\]\s+(?P<count>\d{1,12}) responses")
_ERROR = re.compile(r"\s+\[(?P<count>\d{1,12})\]\s+(?P<error>\S.*)")
_NAMES = {"Slowest": "max", "Fastest": "min", "Average": "mean"}


def recognise(content: Content) -> bool:
    """Text with hey's summary and its details of a connection."""
    return (
        is_text(content)
        and re.search(r"^Summary:\s*$", content.text[:2000], re.MULTILINE) is not None
        and "Slowest:" in content.text[:2000]
        and "Requests/sec:" in content.text[:2000]
    )


def read(content: Content) -> Reading:
    """One row. A report without its statuses or errors was cut short and has none."""
    draft = PrintedDraft(content, Place(content.path))
    statuses: dict[int, int] = {}
    errors = 0
    section = ""
    for line in lines_in(content):
        if line.text and not line.text[0].isspace():
            section = line.text.rstrip(": ")
        if found := _SUMMARY.match(line.text):
            if found["label"] in draft.record:
                message = "a second report begins: the file holds more than one run"
                return Reading((), findings=(damaged(line.place, message),))
            draft.put(found["label"], found["value"], line.place)
        elif found := _RATE.match(line.text):
            draft.put("Requests/sec", found["value"], line.place)
        elif found := _PERCENTILE.match(line.text):
            draft.put(f"{found['percent']}%", found["value"], line.place)
        elif section == "Status code distribution" and (found := _STATUS.match(line.text)):
            statuses[int(found["status"])] = int(found["count"])
        elif section == "Error distribution" and (found := _ERROR.match(line.text)):
            errors += int(found["count"])
    if not statuses and not errors:
        last = Place(content.path, content.text.count("\n") + 1)
        return Reading((), findings=(damaged(last, "the report ends before what was answered"),))
    return Reading((_row(draft, statuses, errors),))


def _row(draft: PrintedDraft, statuses: dict[int, int], errors: int) -> Row:
    answered = sum(statuses.values())
    well = sum(count for status, count in statuses.items() if status < 400)
    sent = answered + errors
    draft.recompute("requests.attempted", "requests", Fraction(sent))
    draft.recompute("requests.completed", "requests", Fraction(well))
    draft.recompute(
        "requests.failed", "requests", Fraction(sent - well),
        note="statuses of 400 or more, and errors",
    )  # fmt: skip
    draft.stated["statuses"] = ", ".join(
        f"{status}: {count:,}" for status, count in sorted(statuses.items())
    )
    draft.report("duration", "s", "Total")
    draft.report("throughput.requests", "requests/s", "Requests/sec", note="every request")
    total = draft.record.get("Total")
    if is_number(total) and total:
        assert isinstance(total, int | Decimal), "is_number() saw one"
        rate = Fraction(sent) / Fraction(total)
        slack = rate * half_of_last_digit(total) / Fraction(total)
        draft.confirm("Requests/sec", rate, "requests/s", slack, "its responses and duration")
    if well:
        draft.samples["latency.e2e"] = answered
        for label, statistic in _NAMES.items():
            _report(draft, f"latency.e2e.{statistic}", label)
        for label in tuple(draft.record):
            if label.endswith("%"):
                _report(draft, f"latency.e2e.p{label[:-1]}", label)
        _refuse_impossible(draft)
    requests = Requests(well, sent - well, sent, failed_are_timed=well != 0 and answered > well)
    return draft.finish(left_open(draft.envelope), requests)


def _report(draft: PrintedDraft, name: str, label: str) -> None:
    value = draft.number(label)
    if value is not None:
        draft.report(name, "s", label, rounding=half_of_last_digit(value))


def _refuse_impossible(draft: PrintedDraft) -> None:
    least, mean, most = (draft.value(f"latency.e2e.{each}") for each in ("min", "mean", "max"))
    if least is not None and mean is not None and most is not None and not least <= mean <= most:
        draft.find(IMPOSSIBLE, "Average is not between Fastest and Slowest", UNTOUCHED, "Average")
    whole = draft.value("duration")
    if whole is not None and most is not None and most > whole * Fraction(1001, 1000):
        draft.find(DISAGREES, "Slowest is longer than the whole run", UNTOUCHED, "Slowest")
