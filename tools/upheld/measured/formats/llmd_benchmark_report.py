"""llm-d's benchmark report, version 0.1: one form for what several load generators report.

Each distribution states its own unit. Requests that neither failed nor are incomplete are those
that completed (llm-d/llm-d-benchmark, "benchmark report", v0.1). No request is kept.
"""

from __future__ import annotations

import re
from fractions import Fraction

from upheld.corpus.strict_json import Json
from upheld.measured.content import Content
from upheld.measured.draft import DISAGREES, IMPOSSIBLE, NOT_MEASURED, UNTOUCHED, RowDraft
from upheld.measured.places import Places
from upheld.measured.reading import AxisValue, Mean, Reading, Requests, Row
from upheld.measured.yaml_content import YamlContent
from upheld.records.units import UNITS, format_number

NAME = "llmd-benchmark-report"
TOOL = "llm-d benchmark"
TITLE = "llm-d: benchmark report 0.1, YAML or JSON"

_ALWAYS = {"version", "scenario", "metrics"}
_YAML_KEYS = tuple(re.compile(rf"^{key}:", re.MULTILINE) for key in (*sorted(_ALWAYS), "  latency"))
_LATENCIES = {
    "request_latency": "latency.e2e", "time_to_first_token": "latency.ttft",
    "time_per_output_token": "latency.tpot", "inter_token_latency": "latency.itl",
}  # fmt: skip
_STATISTIC = re.compile(r"mean|min|max|stddev|p\d{1,2}(?:p\d{1,2})?")
_RATES = {
    "requests_per_sec": ("throughput.requests", "requests/s"),
    "input_tokens_per_sec": ("throughput.input_tokens", "tokens/s"),
    "output_tokens_per_sec": ("throughput.output_tokens", "tokens/s"),
    "total_tokens_per_sec": ("throughput.total_tokens", "tokens/s"),
}
_SLACK = Fraction(1, 100)
_AXES = (
    "model", "model_revision", "engine", "engine_version", "weight_dtype", "kv_cache_dtype",
    "device", "device_count", "tensor_parallel", "max_model_len", "input_tokens", "output_tokens",
    "concurrency", "request_rate", "prefix_caching", "speculative_decoding",
)  # fmt: skip


def recognise(content: Content) -> bool:
    """One object with a version, a scenario and metrics that have latencies, as YAML or JSON."""
    if content.documents:
        return len(content.documents) == 1 and _is_report(content.documents[0].value)
    return content.refusal is None and all(key.search(content.text) for key in _YAML_KEYS)


def _is_report(value: Json) -> bool:
    if not isinstance(value, dict) or not value.keys() >= _ALWAYS:
        return False
    metrics = value["metrics"]
    return isinstance(metrics, dict) and isinstance(metrics.get("latency"), dict)


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
        draft.find(NOT_MEASURED, "the report has no latencies", UNTOUCHED)
        return Reading((draft.finish(()),))
    return Reading((_read_report(draft),), str(draft.get("version")))


def _read_report(draft: RowDraft) -> Row:
    requests = _read_requests(draft)
    _read_time(draft)
    if requests.completed != 0:
        _read_latency(draft, requests.completed)
        _read_rates(draft, requests.completed)
    _read_scenario(draft)
    for axis, key in (("input_tokens", "input_length"), ("output_tokens", "output_length")):
        _read_length(draft, axis, ("metrics", "requests", key))
    return draft.finish(tuple(axis for axis in _AXES if axis not in draft.envelope), requests)


def _read_requests(draft: RowDraft) -> Requests:
    at = ("metrics", "requests")
    sent, failed = draft.count(*at, "total"), draft.count(*at, "failures")
    unfinished = draft.count(*at, "incomplete")
    draft.report("requests.attempted", "requests", *at, "total")
    draft.report("requests.failed", "requests", *at, "failures")
    completed = None
    if sent is not None and failed is not None:
        completed = sent - failed - (unfinished or 0)
        if completed < 0:
            draft.find(IMPOSSIBLE, "more requests failed than were sent", UNTOUCHED, *at, "total")
            return Requests(None, failed, sent)
        note = "sent less failed and incomplete ones"
        draft.recompute("requests.completed", "requests", Fraction(completed), note=note)
    if unfinished:
        draft.stated["incomplete"] = f"{unfinished:,} requests had not ended"
    return Requests(completed, failed, sent)


def _read_time(draft: RowDraft) -> None:
    at = ("metrics", "time")
    draft.report("duration", "s", *at, "duration")
    start, stop = draft.number(*at, "start"), draft.number(*at, "stop")
    if start is not None and stop is not None and stop < start:
        draft.find(IMPOSSIBLE, "the run stops before it starts", UNTOUCHED, *at, "stop")


def _read_latency(draft: RowDraft, completed: int | None) -> None:
    for key, name in _LATENCIES.items():
        at = ("metrics", "latency", key)
        statistics, unit = draft.get(*at), draft.text(*at, "units")
        if not isinstance(statistics, dict):
            continue
        unit = unit.removesuffix("/token") if unit is not None else None
        if unit is None or unit not in UNITS or UNITS[unit].dimension != "time":
            draft.find(NOT_MEASURED, f"{key} has no unit of time", UNTOUCHED, *at)
            continue
        if completed is not None and name != "latency.itl":
            draft.samples[name] = completed
        for statistic in statistics:
            if _STATISTIC.fullmatch(statistic):
                known = (
                    "std"
                    if statistic == "stddev"
                    else statistic[0] + statistic[1:].replace("p", ".")
                )
                draft.report(f"{name}.{known}", unit, *at, statistic)
        draft.refuse_far_median(name, *at, "mean")


def _read_rates(draft: RowDraft, completed: int | None) -> None:
    for key, (name, unit) in _RATES.items():
        draft.report(name, unit, "metrics", "throughput", key)
    duration, rate = draft.value("duration"), draft.value("throughput.requests")
    if completed is None or not duration or rate is None:
        return
    # Load generators take the wall time to the last token; a report may have a little more.
    if abs(rate * duration - completed) > max(_SLACK * completed, Fraction(1)):
        draft.find(
            DISAGREES,
            f"requests_per_sec and duration make {format_number(rate * duration)} requests, but "
            f"{completed:,} completed",
            UNTOUCHED,
            "metrics", "throughput", "requests_per_sec",
        )  # fmt: skip


def _read_scenario(draft: RowDraft) -> None:
    model = draft.text("scenario", "model", "name")
    if model is not None:
        draft.envelope["model"] = model
    dtype = draft.text("scenario", "model", "quantization")
    if dtype is not None:
        draft.envelope["weight_dtype"] = dtype
    engines = _each(draft, ("scenario", "platform", "engine"))
    devices = _each(draft, ("scenario", "host", "accelerator"))
    axes: dict[str, Json] = {
        "engine": _alike([each.get("name") for each in engines]),
        "engine_version": _alike([each.get("version") for each in engines]),
        "device": _alike([each.get("model") for each in devices]),
        "tensor_parallel": _alike([_inside(each, "parallelism", "tp") for each in devices]),
    }
    for axis, value in axes.items():
        if isinstance(value, str | int) and not isinstance(value, bool):
            draft.envelope[axis] = value
    counts = [each.get("count") for each in devices]
    whole = [each for each in counts if isinstance(each, int) and not isinstance(each, bool)]
    if whole and len(whole) == len(counts):
        draft.envelope["device_count"] = sum(whole)
    types = draft.get("scenario", "host", "type")
    facts: dict[str, Json] = {
        "description": draft.get("scenario", "description"),
        "hosts": ", ".join(map(str, types)) if isinstance(types, list) else None,
        "load_generator": draft.get("scenario", "load", "name"),
        "load": draft.get("scenario", "load", "type"),
    }
    draft.stated.update({name: fact for name, fact in facts.items() if isinstance(fact, str)})


def _each(draft: RowDraft, at: tuple[str, ...]) -> list[dict[str, Json]]:
    listed = draft.get(*at)
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


def _inside(value: dict[str, Json], *keys: str) -> Json:
    found: Json = value
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _alike(values: list[Json]) -> Json:
    """The one value that all have, None where they differ: prefill and decode may."""
    return values[0] if values and all(each == values[0] for each in values) else None


def _read_length(draft: RowDraft, axis: str, at: tuple[str, ...]) -> None:
    mean, least = draft.number(*at, "mean"), draft.number(*at, "min")
    most = draft.number(*at, "max")
    if mean is None:
        return
    if least is not None and least == most == int(least):
        value: AxisValue = int(least)
        draft.envelope[axis] = value
        return
    draft.means[axis] = Mean(Fraction(mean), varies=least != most or mean != int(mean))
    draft.stated[axis] = f"{format_number(Fraction(mean))} is the mean"
