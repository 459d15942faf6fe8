"""AIPerf: the JSON summary of a run, of every schema since 2025.

A metric is an object with its unit (aiperf 0.13.0, common/models/export_models.py). Rates divide
by the window from `start_time` to `end_time` in 0.13, which is longer than the
`benchmark_duration` printed beside them, and by that duration in older versions; either is
accepted, anything else is a finding. Builds of mid-2025 nest the metrics in `records`, under the
names that people read. GPUs are those that telemetry saw, by default of the client's own machine,
so they are stated and no axis.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from fractions import Fraction

from upheld.corpus.strict_json import Json, Keys
from upheld.measured.content import Content
from upheld.measured.draft import DISAGREES, NOT_MEASURED, UNTOUCHED, RowDraft
from upheld.measured.perf_summary import PerfSummary, read_requests
from upheld.measured.reading import Reading, Requests, Row
from upheld.measured.server_axes import SERVER_AXES
from upheld.measured.serving_result import shortened
from upheld.records.units import format_number

NAME = "aiperf"
TOOL = "AIPerf"
TITLE = "AIPerf: summary of a run, JSON"

_EARLY_NAMES = {
    "time_to_first_token": "Time to First Token",
    "inter_token_latency": "Inter Token Latency",
    "request_latency": "Time to Last Token",
    "request_throughput": "Request Throughput",
    "output_token_throughput": "Output Token Throughput",
    "request_count": "Request Count",
}
_MOST_GPUS = 100


def recognise(content: Content) -> bool:
    """One object with a latency of requests and, unlike GenAI-Perf's, whether it was cancelled."""
    if len(content.documents) != 1:
        return False
    summary = content.documents[0].value
    if not isinstance(summary, dict) or not summary.keys() & {"was_cancelled", "aiperf_version"}:
        return False
    metrics = summary.get("records", summary)
    return isinstance(metrics, dict) and any(
        is_metric(metrics.get(key)) for key in ("request_latency", _EARLY_NAMES["request_latency"])
    )


def is_metric(value: Json) -> bool:
    """Whether a value is a metric with its unit."""
    return isinstance(value, dict) and "unit" in value and "avg" in value


def read(content: Content) -> Reading:
    """The one run that a summary is of."""
    summary = content.documents[0].value
    assert isinstance(summary, dict), "recognise() saw an object"
    draft = RowDraft(content, 0, (), summary)
    return Reading((_read_run(draft),), draft.text("aiperf_version"))


def _read_run(draft: RowDraft) -> Row:
    tags = _tags(draft)
    metrics = PerfSummary(draft, tags)
    metrics.read_scalars()
    requests = _read_requests(draft, tags)
    _refuse_other_rate(draft)
    metrics.refuse_other_token_rate()
    metrics.read_latencies(requests.completed)
    if draft.get("was_cancelled") is True:
        draft.find(
            NOT_MEASURED,
            "the run was cancelled before its end",
            "run the benchmark to its end",
            "was_cancelled",
            severity="warning",
        )
    not_stated = list(SERVER_AXES)
    _read_configuration(draft, not_stated)
    _state_gpus(draft)
    metrics.read_lengths(not_stated)
    for key in ("schema_version", "benchmark_id", "start_time", "end_time"):
        if (text := draft.text(key)) is not None:
            draft.stated[key] = text
    return draft.finish(tuple(not_stated), requests)


def _tags(draft: RowDraft) -> Mapping[str, Keys]:
    records = draft.get("records")
    if isinstance(records, dict):
        return {tag: ("records", name) for tag, name in _EARLY_NAMES.items()}
    return {tag: (tag,) for tag in draft.record}


def _read_requests(draft: RowDraft, metrics: Mapping[str, Keys]) -> Requests:
    """Counts of requests; of failed ones, those that the summary of errors adds up to."""
    if draft.value("requests.failed") is None:
        errors = draft.get("error_summary")
        if isinstance(errors, list):
            counts = [draft.count("error_summary", index, "count") for index in range(len(errors))]
            if None not in counts:
                draft.recompute(
                    "requests.failed", "requests", Fraction(sum(each or 0 for each in counts)),
                    note="what error_summary adds up to",
                )  # fmt: skip
    if draft.value("requests.completed") is None:
        requests = draft.count(*metrics.get("request_latency", ()), "count")
        if requests is not None:
            draft.recompute(
                "requests.completed", "requests", Fraction(requests), note="those with a latency"
            )
    return read_requests(draft)


def _refuse_other_rate(draft: RowDraft) -> None:
    rate, completed = draft.value("throughput.requests"), draft.value("requests.completed")
    duration = draft.value("duration")
    if not rate or completed is None or duration is None:
        return
    implied = completed / rate
    window = _window(draft)
    # The times of a window are written to the microsecond, a duration to the last digit.
    if abs(implied - duration) <= duration / 10**9:
        return
    if window is not None and abs(implied - window) <= Fraction(1, 10**6):
        draft.stated["rates"] = (
            f"over the {format_number(window)} s from start_time to end_time, not over "
            f"benchmark_duration, which gives {format_number(completed / duration)} requests/s"
        )
        return
    draft.find(
        DISAGREES,
        f"request_throughput says {format_number(rate)} requests/s, but {format_number(completed)} "
        f"requests in {format_number(duration)} s are {format_number(completed / duration)}",
        UNTOUCHED,
        "request_throughput", "avg",
    )  # fmt: skip


def _window(draft: RowDraft) -> Fraction | None:
    times = []
    for key in ("start_time", "end_time"):
        try:
            times.append(datetime.fromisoformat(draft.text(key) or ""))
        except ValueError:
            return None
    start, end = times
    if (start.tzinfo is None) != (end.tzinfo is None):
        return None
    length = end - start
    return Fraction(length.days * 86400 + length.seconds) + Fraction(length.microseconds, 10**6)


def _read_configuration(draft: RowDraft, not_stated: list[str]) -> None:
    """Model and load, where 0.13 keeps them, else where its forerunners did."""
    config = "input_config"
    model = (
        draft.text(config, "models", "items", 0, "name")
        or draft.text(config, "endpoint", "model_names", 0)
        or draft.text(config, "model_names", 0)
    )
    if model is not None:
        draft.envelope["model"] = model
    else:
        not_stated.insert(0, "model")
    load = _load(draft)
    concurrency = draft.count(*load, "concurrency") if load else None
    if concurrency and load:
        draft.envelope["concurrency"] = concurrency
        draft.report("concurrency.limit", "requests", *load, "concurrency")
    else:
        not_stated.append("concurrency")
    rate = draft.number(*load, "request_rate") if load else None
    if rate:
        draft.envelope["request_rate"] = Fraction(rate)
    else:
        not_stated.append("request_rate")
    if load and _is_closed_loop(draft, load):
        draft.unlimited.add("request_rate")
    facts = {
        "client_backend": draft.text(config, "endpoint", "type"),
        "tokenizer": draft.text(config, "tokenizer", "name"),
    }
    draft.stated.update({name: fact for name, fact in facts.items() if fact is not None})
    streaming = draft.get(config, "endpoint", "streaming")
    if isinstance(streaming, bool):
        draft.stated["streaming"] = "yes" if streaming else "no: there is no time to first token"
    for axis, keys in (("input", _asked(draft, "isl")), ("output", _asked(draft, "osl"))):
        asked = draft.number(*keys) if keys else None
        if asked:
            draft.asked[f"{axis}_tokens"] = Fraction(asked)
            draft.stated[f"{axis}_tokens_asked_for"] = (
                f"{format_number(Fraction(asked))} on average"
            )


def _load(draft: RowDraft) -> Keys | None:
    phases = draft.get("input_config", "phases")
    if isinstance(phases, list):
        measured = [
            index
            for index, phase in enumerate(phases)
            if isinstance(phase, dict) and phase.get("kind", "profiling") == "profiling"
        ]
        return ("input_config", "phases", measured[0]) if len(measured) == 1 else None
    return ("input_config", "loadgen")


def _is_closed_loop(draft: RowDraft, load: Keys) -> bool:
    """Whether the next request is sent when one is answered, and none at a rate."""
    return (
        draft.text(*load, "type") == "concurrency"
        or draft.text(*load, "arrival_pattern") == "concurrency_burst"
    )


def _asked(draft: RowDraft, length: str) -> Keys | None:
    datasets = draft.get("input_config", "datasets")
    if isinstance(datasets, list):
        one = len(datasets) == 1
        return ("input_config", "datasets", 0, "prompts", length, "mean") if one else None
    word = {"isl": "input_tokens", "osl": "output_tokens"}[length]
    return ("input_config", "input", "prompt", word, "mean")


def _state_gpus(draft: RowDraft) -> None:
    names: set[str] = set()
    endpoints = draft.get("telemetry_data", "endpoints")
    for endpoint in list(endpoints.values())[:_MOST_GPUS] if isinstance(endpoints, dict) else ():
        gpus = endpoint.get("gpus") if isinstance(endpoint, dict) else None
        for gpu in list(gpus.values())[:_MOST_GPUS] if isinstance(gpus, dict) else ():
            name = gpu.get("gpu_name") if isinstance(gpu, dict) else None
            if isinstance(name, str) and name:
                names.add(name)
    if names:
        draft.stated["gpus_that_telemetry_saw"] = shortened(", ".join(sorted(names)))
