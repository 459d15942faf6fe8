"""Locust: the JSON of `--json`, one row a name, worked out from its buckets of response times.

A percentile is the least bucket below which that share of requests lies, counted from above
(Locust, commit 407343d0 of August 2026, `locust/stats.py`, `calculate_response_time_percentile`).
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from upheld.measured import locust_events
from upheld.measured.content import Content
from upheld.measured.draft import DISAGREES, IMPOSSIBLE, UNTOUCHED, RowDraft
from upheld.measured.printed import exact
from upheld.measured.reading import Reading, Requests, Row
from upheld.measured.serving_axes import SERVING_AXES

NAME = "locust-json"
TOOL = "Locust"
TITLE = "Locust: result of --json"

_KEYS = {"num_requests", "num_failures", "total_response_time", "response_times", "method", "name"}
_PERCENTILES = (50, 90, 95, 99)


def recognise(content: Content) -> bool:
    """One array of objects that each have Locust's counters."""
    if len(content.documents) != 1:
        return False
    entries = content.documents[0].value
    return isinstance(entries, list) and bool(entries) and all(
        isinstance(each, dict) and each.keys() >= _KEYS for each in entries
    )  # fmt: skip


def read(content: Content) -> Reading:
    """One row a name."""
    entries = content.documents[0].value
    assert isinstance(entries, list), "recognise() saw an array"
    rows: list[Row] = []
    for index, entry in enumerate(entries):
        assert isinstance(entry, dict), "recognise() saw objects"
        draft = RowDraft(content, 0, (index,), entry)
        draft.case = locust_events.case_of(draft.text("method") or "", draft.text("name") or "")
        rows.append(_row(draft))
    return Reading(tuple(rows))


def _row(draft: RowDraft) -> Row:
    sent = draft.count("num_requests")
    failed = draft.count("num_failures")
    completed = None if sent is None or failed is None or failed > sent else sent - failed
    draft.report("requests.attempted", "requests", "num_requests", note=locust_events.EVENTS)
    draft.report("requests.failed", "requests", "num_failures")
    timed = None
    if sent:
        timed = sent - (draft.count("num_none_requests") or 0)
    if timed:
        draft.samples["latency.e2e"] = timed
        total = draft.number("total_response_time")
        if total is not None:
            draft.recompute("latency.e2e.mean", "ms", Fraction(total) / timed)
        draft.report("latency.e2e.min", "ms", "min_response_time")
        draft.report("latency.e2e.max", "ms", "max_response_time")
        _read_buckets(draft, timed)
    started, ended = draft.number("start_time"), draft.number("last_request_timestamp")
    if sent and started is not None and ended is not None and ended > started:
        span = Fraction(ended) - Fraction(started)
        draft.recompute("duration", "s", span, note="from the start to the last request")
        draft.recompute("throughput.requests", "requests/s", sent / span, note=locust_events.EVENTS)
    return draft.finish(SERVING_AXES, Requests(completed, failed, sent, failed_are_timed=True))


def _read_buckets(draft: RowDraft, timed: int) -> None:
    buckets = draft.get("response_times")
    counts: dict[Fraction, int] = {}
    for key, count in buckets.items() if isinstance(buckets, dict) else ():
        time = exact(key)
        if not isinstance(time, int | Decimal) or not isinstance(count, int) or count < 0:
            draft.find(
                IMPOSSIBLE, "response_times is no table of counts", UNTOUCHED, "response_times"
            )
            return
        counts[Fraction(time)] = count
    if sum(counts.values()) != timed:
        draft.find(
            DISAGREES,
            f"response_times holds {sum(counts.values()):,} requests, but num_requests less "
            f"num_none_requests is {timed:,}",
            f"no percentile is worked out; {UNTOUCHED}",
            "response_times",
        )
        return
    for percent in _PERCENTILES:
        value = _percentile(counts, timed, percent)
        draft.recompute(
            f"latency.e2e.p{percent}", "ms", value, note=locust_events.BUCKETS,
            rounding=locust_events.rounding_of(value),
        )  # fmt: skip


def _percentile(counts: dict[Fraction, int], total: int, percent: int) -> Fraction:
    below = total * percent // 100
    seen = 0
    for time in sorted(counts, reverse=True):
        seen += counts[time]
        if total - seen <= below:
            return time
    raise AssertionError("all requests are in the buckets")
