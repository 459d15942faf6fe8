"""k6: the points of `--out json`, one JSON object a line, one row a run.

Every request is a point of `http_req_duration` in milliseconds, so all figures are worked out from
the requests. Percentiles are interpolated between neighbours (k6 2.2.0, `metrics/sink.go`,
`TrendSink.P`), which is NumPy's `linear`.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from upheld.corpus.strict_json import Json
from upheld.measured.content import Content
from upheld.measured.draft import IMPOSSIBLE, NOT_MEASURED, UNTOUCHED, RowDraft
from upheld.measured.printed import is_number
from upheld.measured.reading import Reading, Requests
from upheld.measured.recompute import Values
from upheld.measured.serving_axes import SERVING_AXES
from upheld.records.finding import Finding

NAME = "k6"
TOOL = "k6"
TITLE = "k6: points of --out json, JSON Lines"

_PERCENTILES = (50, 90, 95, 99)


def recognise(content: Content) -> bool:
    """Objects that are each a metric or a point of one, and at least one point."""
    return (
        bool(content.documents)
        and all(_kind(each.value) in ("Metric", "Point") for each in content.documents)
        and any(_kind(each.value) == "Point" for each in content.documents)
    )


def _kind(value: Json) -> str | None:
    if not isinstance(value, dict) or not isinstance(value.get("metric"), str):
        return None
    kind = value.get("type")
    return kind if isinstance(kind, str) and isinstance(value.get("data"), dict) else None


def read(content: Content) -> Reading:
    """One row over every request that did not fail."""
    durations: list[tuple[int | Decimal, bool]] = []
    failures = 0
    outcomes = 0
    bad: int | None = None
    for index, document in enumerate(content.documents):
        entry = document.value
        if _kind(entry) != "Point":
            continue
        assert isinstance(entry, dict), "_kind() saw an object"
        data = entry["data"]
        assert isinstance(data, dict), "_kind() saw an object"
        value = data.get("value")
        if entry["metric"] == "http_req_failed":
            outcomes += 1
            failures += value == 1
        elif entry["metric"] == "http_req_duration":
            if not is_number(value):
                bad = index if bad is None else bad
                continue
            assert isinstance(value, int | Decimal), "is_number() saw one"
            durations.append((value, _as_expected(data.get("tags"))))
    draft = RowDraft(content, 0, (), {})
    if bad is not None:
        finding = Finding(
            IMPOSSIBLE, content.place(bad), "a duration is no number or negative", UNTOUCHED
        )
        return Reading((), findings=(finding,))
    if not durations:
        finding = Finding(
            NOT_MEASURED, content.place(), "no HTTP request is among the points",
            "keep the points of http_req_duration",
        )  # fmt: skip
        return Reading((), findings=(finding,))
    sent = len(durations)
    failed = failures if outcomes == sent else sum(not ok for _, ok in durations)
    good = [value for value, ok in durations if ok]
    draft.recompute("requests.attempted", "requests", Fraction(sent))
    draft.recompute("requests.failed", "requests", Fraction(failed))
    draft.recompute("requests.completed", "requests", Fraction(sent - failed))
    if good:
        values = Values(good)
        draft.samples["latency.e2e"] = len(values)
        note = "requests that went well" if failed else None
        draft.recompute("latency.e2e.mean", "ms", values.mean, note=note)
        draft.recompute("latency.e2e.min", "ms", values.smallest, note=note)
        draft.recompute("latency.e2e.max", "ms", values.largest, note=note)
        for percent in _PERCENTILES:
            at = values.percentile(Fraction(percent))
            draft.recompute(f"latency.e2e.p{percent}", "ms", at, note=note)
    return Reading((draft.finish(SERVING_AXES, Requests(sent - failed, failed, sent)),))


def _as_expected(tags: Json) -> bool:
    return not isinstance(tags, dict) or tags.get("expected_response") != "false"
