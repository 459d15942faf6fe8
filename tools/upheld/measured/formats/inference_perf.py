"""inference-perf: a report on one stage of a run, on all its stages, or from the server's side.

Lifecycle reports are of the client: latencies in seconds, of successful requests, percentiles
NumPy's `linear`; rates divide by the time from the first request sent to the last one ended
(inference_perf/reportgen/base.py, `summarize_requests`, at 7de5ef2). The report on Prometheus'
metrics has the same keys and other meanings: what the server counted, percentiles interpolated
in buckets, 0.0 for a metric that the server does not have.
No report keeps single requests, so what is recomputed follows from its own counts and means.
"""

from __future__ import annotations

import re
from fractions import Fraction

from upheld.corpus.strict_json import Json
from upheld.measured.content import Content
from upheld.measured.draft import DISAGREES, NOT_MEASURED, UNTOUCHED, RowDraft
from upheld.measured.places import Places
from upheld.measured.reading import Mean, Reading, Requests, Row
from upheld.measured.recompute import agrees
from upheld.measured.yaml_content import YamlContent
from upheld.records.units import format_number

NAME = "inference-perf"
TOOL = "inference-perf"
TITLE = "inference-perf: lifecycle or Prometheus report, JSON or YAML"

_ALWAYS = {"load_summary", "successes", "failures"}
_YAML_KEYS = tuple(re.compile(rf"^{key}:", re.MULTILINE) for key in sorted(_ALWAYS))

_LATENCIES = {
    "request_latency": "latency.e2e", "time_to_first_token": "latency.ttft",
    "time_per_output_token": "latency.tpot", "inter_token_latency": "latency.itl",
}  # fmt: skip
_STATISTIC = re.compile(r"mean|median|min|max|p\d{1,2}(?:\.\d{1,3})?")

_NEVER_STATED = (
    "model", "model_revision", "engine", "engine_version", "weight_dtype", "kv_cache_dtype",
    "device", "device_count", "tensor_parallel", "max_model_len", "prefix_caching",
    "speculative_decoding",
)  # fmt: skip

# Means of requests of unlike lengths multiply to a few per cent; chunks for tokens give far more.
_FAR = Fraction(1, 5)
_KEEPS_UP = Fraction(9, 10)


def recognise(content: Content) -> bool:
    """One object with a summary of the load, of successes and of failures, as JSON or YAML."""
    if content.documents:
        value = content.documents[0].value
        return len(content.documents) == 1 and _is_report(value)
    return content.refusal is None and all(key.search(content.text) for key in _YAML_KEYS)


def _is_report(value: Json) -> bool:
    if not isinstance(value, dict) or not value.keys() >= _ALWAYS:
        return False
    successes = value["successes"]
    return (
        isinstance(successes, dict)
        and isinstance(value["load_summary"], dict)
        and isinstance(value["failures"], dict)
        and ("latency" in successes or "request_latency" in successes)
    )


def read(content: Content) -> Reading:
    """One row: the report."""
    places: Places = content
    if content.documents:
        value = content.documents[0].value
    else:
        document = YamlContent(content)
        if document.refusal is not None:
            return Reading((), findings=(document.refusal,))
        places, value = document, document.value
    draft = RowDraft(places, 0, (), value if isinstance(value, dict) else {})
    if not _is_report(value):
        draft.find(NOT_MEASURED, "the report has no latencies of successful requests", UNTOUCHED)
        return Reading((draft.finish(()),))
    if isinstance(draft.get("successes", "latency"), dict):
        return Reading((_read_lifecycle(draft),))
    return Reading((_read_server_side(draft),))


def _read_lifecycle(draft: RowDraft) -> Row:
    draft.stated["side"] = "client"
    requests = _read_requests(draft)
    _read_throughput(draft, requests)
    if requests.completed:
        _read_latency(draft, ("successes", "latency"), requests.completed)
        _doubt_tpot(draft)
    not_stated = [*_NEVER_STATED, *_read_load(draft), *_read_lengths(draft)]
    return draft.finish(tuple(not_stated), requests)


def _read_requests(draft: RowDraft) -> Requests:
    completed = draft.count("successes", "count")
    failed = draft.count("failures", "count")
    attempted = draft.count("load_summary", "count")
    draft.report("requests.completed", "requests", "successes", "count")
    draft.report("requests.failed", "requests", "failures", "count")
    draft.report("requests.attempted", "requests", "load_summary", "count")
    if completed is not None and failed is not None and attempted not in (None, completed + failed):
        draft.find(
            DISAGREES,
            f"{completed} successes and {failed} failures are not the {attempted} requests sent",
            UNTOUCHED,
            "load_summary", "count",
        )  # fmt: skip
    return Requests(completed, failed, attempted)


def _read_throughput(draft: RowDraft, requests: Requests) -> None:
    rates = ("successes", "throughput")
    duration = draft.number("benchmark_time_seconds")
    stated_rate = draft.number(*rates, "requests_per_sec")
    if not requests.completed or not (duration or stated_rate):
        return
    if duration:
        wall = Fraction(duration)
        draft.report("duration", "s", "benchmark_time_seconds")
        rate = requests.completed / wall
        draft.recompute("throughput.requests", "requests/s", rate, *rates, "requests_per_sec")
    else:
        assert stated_rate, "one of the two is there"
        wall = requests.completed / Fraction(stated_rate)
        draft.recompute("duration", "s", wall, note="successes over requests_per_sec")
        draft.report("throughput.requests", "requests/s", *rates, "requests_per_sec")
    tokens_in = _tokens(draft, requests.completed, "prompt_len", "prompt_tokens")
    tokens_out = _tokens(draft, requests.completed, "output_len", "output_tokens")
    for name, total, key in (
        ("input", tokens_in, "input_tokens_per_sec"),
        ("output", tokens_out, "output_tokens_per_sec"),
    ):
        stated = draft.number(*rates, key)
        if not total:
            draft.report(f"throughput.{name}_tokens", "tokens/s", *rates, key)
            continue
        # The server's count of tokens takes the place of the client's where the run chose so.
        chosen = next((each for each in total if stated and agrees(each / wall, stated)), total[0])
        draft.recompute(f"throughput.{name}_tokens", "tokens/s", chosen / wall, *rates, key)
        draft.recompute(f"tokens.{name}.total", "tokens", chosen)
    both = [draft.value(f"throughput.{name}_tokens") for name in ("input", "output")]
    if both[0] is not None and both[1] is not None:
        draft.recompute(
            "throughput.total_tokens", "tokens/s", both[0] + both[1], *rates, "total_tokens_per_sec"
        )


def _tokens(draft: RowDraft, completed: int, *kinds: str) -> list[Fraction]:
    """All tokens of successful requests, as each kind of count gives them."""
    totals = []
    for kind in kinds:
        total = draft.number("successes", kind, "total")
        mean = draft.number("successes", kind, "mean")
        if total is not None:
            totals.append(Fraction(total))
        elif mean is not None:
            totals.append(Fraction(round(Fraction(mean) * completed)))
    return totals


def _read_latency(draft: RowDraft, at: tuple[str, ...], completed: int) -> None:
    for key, name in _LATENCIES.items():
        statistics = draft.get(*at, key)
        if not isinstance(statistics, dict):
            continue
        if draft.get(*at, key, "mean") == 0:
            draft.find(
                NOT_MEASURED,
                f"{key} is printed as 0: it was not measured",
                "there is no figure for it; the server has no such metric, or nothing was streamed",
                *at, key,
                severity="warning",
            )  # fmt: skip
            continue
        if name != "latency.itl":
            draft.samples[name] = completed
        for statistic in statistics:
            if _STATISTIC.fullmatch(statistic):
                known = "p50" if statistic == "median" else statistic
                draft.report(f"{name}.{known}", "s", *at, key, statistic)


def _doubt_tpot(draft: RowDraft) -> None:
    """A request's time is that to its first token, then as many times TPOT as tokens follow."""
    whole, first = draft.value("latency.e2e.mean"), draft.value("latency.ttft.mean")
    each, length = draft.value("latency.tpot.mean"), draft.number("successes", "output_len", "mean")
    if whole is None or first is None or each is None or length is None or length <= 1:
        return
    follows = (whole - first) / (Fraction(length) - 1)
    if abs(follows - each) > _FAR * follows:
        draft.doubts["latency.tpot"] = (
            f"request_latency, time_to_first_token and output_len give {format_number(follows)} s "
            f"a token, the report {format_number(each)} s, as where chunks are taken for tokens"
        )


def _read_load(draft: RowDraft) -> list[str]:
    """The load, and the axes of it that the report leaves open."""
    open_axes = []
    concurrency = draft.count("load_summary", "concurrency")
    if concurrency:
        draft.envelope["concurrency"] = concurrency
    else:
        open_axes.append("concurrency")
    requested = draft.number("load_summary", "requested_rate")
    achieved = draft.number("load_summary", "achieved_rate")
    sent_for = draft.number("load_summary", "send_duration")
    attempted = draft.count("load_summary", "count")
    if attempted is not None and sent_for:
        draft.cross_check(
            "count over send_duration", attempted / Fraction(sent_for),
            "load_summary", "achieved_rate",
        )  # fmt: skip
    if requested:
        draft.envelope["request_rate"] = Fraction(requested)
    else:
        open_axes.append("request_rate")
        draft.stated["load"] = (
            "no rate is stated: the summary of a run has all its stages in one, at whatever rate "
            "each had, and is no single operating point"
        )
    if requested and achieved is not None:
        text = f"{format_number(Fraction(achieved))}/s"
        if Fraction(achieved) < Fraction(requested) * _KEEPS_UP:
            text += (
                f" of {format_number(Fraction(requested))}/s: requests were sent late, so "
                "latencies depend on how long the stage was"
            )
        draft.stated["achieved_rate"] = text
    return open_axes


def _read_lengths(draft: RowDraft) -> list[str]:
    """The lengths of requests, and the axes of them that the report leaves open."""
    open_axes = []
    for axis, keys in (
        ("input_tokens", ("prompt_len", "prompt_tokens")),
        ("output_tokens", ("output_len", "output_tokens")),
    ):
        key = next((each for each in keys if draft.get("successes", each, "mean") is not None), "")
        mean = draft.number("successes", key, "mean") if key else None
        least, most = draft.number("successes", key, "min"), draft.number("successes", key, "max")
        if mean is None or least is None or most is None:
            open_axes.append(axis)
        elif least == most == int(least):
            draft.envelope[axis] = int(least)
        else:
            draft.means[axis] = Mean(Fraction(mean), varies=True)
            draft.stated[axis] = (
                f"from {format_number(Fraction(least))} to {format_number(Fraction(most))}, "
                f"{format_number(Fraction(mean))} in the mean"
            )
    return open_axes


def _read_server_side(draft: RowDraft) -> Row:
    draft.stated["side"] = "server: what Prometheus scraped, percentiles interpolated in buckets"
    completed = draft.count("successes", "count")
    draft.report("requests.completed", "requests", "successes", "count")
    note = "Prometheus' rate over its own window, not over the stage"
    for name, unit, keys in (
        ("throughput.requests", "requests/s", ("rate",)),
        ("throughput.input_tokens", "tokens/s", ("prompt_len", "rate")),
        ("throughput.output_tokens", "tokens/s", ("output_len", "rate")),
    ):
        draft.report(name, unit, "successes", *keys, note=note)
    if completed:
        _read_latency(draft, ("successes",), completed)
    not_stated = (
        *_NEVER_STATED, "input_tokens", "output_tokens", "concurrency", "request_rate",
    )  # fmt: skip
    return draft.finish(not_stated, Requests(completed, None, None))
