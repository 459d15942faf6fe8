"""k6: the end-of-test summary, of `--summary-export` or of `handleSummary`, one row a run.

Times are milliseconds; a request's duration ends with its last byte. Rates count every request,
failed ones too. `http_req_failed` counts failures: its `passes` are the requests that failed and
its rate is 1 where all did. In `--summary-export` a threshold that is `false` was not crossed
(k6 2.2.0, `internal/js/summary-legacy.js`). There are no single requests.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from upheld.corpus.strict_json import Json
from upheld.measured.content import Content
from upheld.measured.draft import DISAGREES, IMPOSSIBLE, NOT_MEASURED, UNTOUCHED, RowDraft
from upheld.measured.printed import shown
from upheld.measured.reading import Reading, Requests
from upheld.measured.serving_axes import SERVING_AXES
from upheld.records.units import format_number

NAME = "k6-summary"
TOOL = "k6"
TITLE = "k6: end-of-test summary, JSON"

_DURATION = "http_req_duration"
_STATISTICS = {"avg": "mean", "min": "min", "med": "p50", "max": "max"}
_PERCENTILE = re.compile(r"p\((?P<percent>\d{1,2}(?:\.\d{1,3})?)\)")
_NOTE = "over all requests; a response that is not streamed ends with its last token"


def recognise(content: Content) -> bool:
    """One object with the metrics of a test that sent HTTP requests."""
    if len(content.documents) != 1:
        return False
    value = content.documents[0].value
    metrics = value.get("metrics") if isinstance(value, dict) else None
    return isinstance(metrics, dict) and all(
        isinstance(metrics.get(name), dict) for name in (_DURATION, "http_reqs", "iterations")
    )


def read(content: Content) -> Reading:
    """One row. Where every request failed there are no latencies."""
    value = content.documents[0].value
    assert isinstance(value, dict), "recognise() saw an object"
    draft = RowDraft(content, 0, (), value)
    nested = isinstance(draft.get("metrics", _DURATION, "values"), dict)
    requests = _read_requests(draft, nested)
    if requests.completed != 0:
        _read_latency(draft, nested, requests)
    else:
        # k6 still prints a duration of 0 for each.
        draft.stated["latencies"] = "not read: every request failed"
    _read_facts(draft, nested)
    return Reading((draft.finish(SERVING_AXES, requests),))


def _at(metric: str, key: str, nested: bool) -> tuple[str, ...]:
    return ("metrics", metric, "values", key) if nested else ("metrics", metric, key)


def _read_requests(draft: RowDraft, nested: bool) -> Requests:
    sent_at = _at("http_reqs", "count", nested)
    sent = draft.count(*sent_at)
    failed_metric = "http_req_failed"
    failed = draft.count(*_at(failed_metric, "passes", nested))
    went_well = draft.count(*_at(failed_metric, "fails", nested))
    draft.report("requests.attempted", "requests", *sent_at)
    draft.report("throughput.requests", "requests/s", *_at("http_reqs", "rate", nested),
                 note="all requests that were sent, failed ones too")  # fmt: skip
    draft.report("requests.failed", "requests", *_at(failed_metric, "passes", nested))
    ratio_at = _at(failed_metric, "rate" if nested else "value", nested)
    if failed is not None and went_well is not None and failed + went_well > 0:
        ratio = Fraction(failed, failed + went_well)
        draft.recompute("requests.failed_ratio", "ratio", ratio, *ratio_at)
        draft.recompute("requests.completed", "requests", Fraction(went_well))
        if sent is not None and sent != failed + went_well:
            draft.find(
                DISAGREES,
                f"{went_well} requests went well and {failed} failed, but {sent} were sent",
                UNTOUCHED,
                *sent_at,
            )
    else:
        draft.report("requests.failed_ratio", "ratio", *ratio_at)
    return Requests(went_well, failed, sent, failed_are_timed=went_well != 0)


def _read_latency(draft: RowDraft, nested: bool, requests: Requests) -> None:
    keys = ("metrics", _DURATION, "values") if nested else ("metrics", _DURATION)
    statistics = draft.get(*keys)
    assert isinstance(statistics, dict), "recognise() saw an object"
    if requests.attempted is not None:
        draft.samples["latency.e2e"] = requests.attempted
    percentiles: list[tuple[Fraction, Fraction]] = []
    for key in statistics:
        percent = _PERCENTILE.fullmatch(key)
        if percent is None and key not in _STATISTICS:
            continue
        name = (
            f"latency.e2e.p{percent['percent']}" if percent else f"latency.e2e.{_STATISTICS[key]}"
        )
        draft.report(name, "ms", *keys, key, note=_NOTE)
        value = draft.value(name)
        if value is not None and key != "avg":
            order = {"min": Fraction(0), "med": Fraction(50), "max": Fraction(100)}
            percentiles.append((Fraction(percent["percent"]) if percent else order[key], value))
    ordered = [value for _, value in sorted(percentiles)]
    if ordered != sorted(ordered):
        draft.find(IMPOSSIBLE, "the percentiles of http_req_duration do not rise", UNTOUCHED, *keys)
    whole = draft.value("latency.e2e.mean")
    good = draft.number(*_at(f"{_DURATION}{{expected_response:true}}", "avg", nested))
    if whole is not None and good is not None and requests.failed and whole > 0:
        draft.stated["mean_without_failures"] = (
            f"{format_number(Fraction(good))} ms, against {format_number(whole)} ms with them"
        )


def _read_facts(draft: RowDraft, nested: bool) -> None:
    milliseconds = draft.number("state", "testRunDurationMs")
    if milliseconds is not None:
        draft.report("duration", "ms", "state", "testRunDurationMs")
        rate, sent = draft.value("throughput.requests"), draft.value("requests.attempted")
        if rate and sent is not None and milliseconds:
            wanted = sent * 1000 / Fraction(milliseconds)
            if abs(rate - wanted) > wanted / 100:
                draft.find(
                    DISAGREES,
                    f"http_reqs.rate says {format_number(rate)} requests/s, but count over "
                    f"testRunDurationMs gives {format_number(wanted)}",
                    UNTOUCHED,
                    *_at("http_reqs", "rate", nested),
                )
    most = draft.count(*_at("vus_max", "max", nested))
    if most is not None:
        draft.stated["virtual_users"] = f"at most {most:,}"
    if crossed := _crossed(draft.get("metrics"), nested):
        draft.find(
            NOT_MEASURED,
            f"thresholds were crossed: {', '.join(crossed)}",
            "the test did not meet what its script asks for",
            "metrics",
            severity="warning",
        )


def _crossed(metrics: Json, nested: bool) -> list[str]:
    found: list[str] = []
    for name, metric in metrics.items() if isinstance(metrics, dict) else ():
        thresholds = metric.get("thresholds") if isinstance(metric, dict) else None
        for rule, result in thresholds.items() if isinstance(thresholds, dict) else ():
            ok: Json = result.get("ok") if isinstance(result, Mapping) else None
            if (nested and ok is False) or (not nested and result is True):
                found.append(shown(f"{name} {rule}"))
    return found
