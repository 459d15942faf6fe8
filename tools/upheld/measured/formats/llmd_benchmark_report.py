"""llm-d's benchmark report, versions 0.1 to 0.2.1: one form for what load generators report.

Each distribution states its own unit. Requests that neither failed nor are incomplete are those
that completed. No request is kept (llm-d/llm-d-benchmark, llmdbenchmark/analysis/benchmark_report,
schema_v0_1.py and schema_v0_2.py, at 8bc9f1d).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from upheld.corpus.strict_json import Json, Special
from upheld.measured.content import Content
from upheld.measured.draft import DISAGREES, IMPOSSIBLE, NOT_MEASURED, UNTOUCHED, RowDraft
from upheld.measured.places import Places
from upheld.measured.reading import AxisValue, Mean, Reading, Requests, Row
from upheld.measured.yaml_content import YamlContent
from upheld.records.units import UNITS, format_number

NAME = "llmd-benchmark-report"
TOOL = "llm-d benchmark"
TITLE = "llm-d: benchmark report 0.1 to 0.2.1, YAML or JSON"


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where a version keeps what: the object of all figures, and each rate inside it."""

    figures: tuple[str, ...]
    rates: Mapping[str, tuple[str, ...]]
    in_yaml: tuple[re.Pattern[str], ...]

    @classmethod
    def of(
        cls, figures: tuple[str, ...], rates: Mapping[str, tuple[str, ...]], *lines: str
    ) -> Self:
        """The layout whose YAML has these lines."""
        return cls(figures, rates, tuple(re.compile(f"^{line}", re.MULTILINE) for line in lines))


_FIRST = _Layout.of(
    ("metrics",),
    {
        "requests": ("requests_per_sec",), "input_tokens": ("input_tokens_per_sec",),
        "output_tokens": ("output_tokens_per_sec",), "total_tokens": ("total_tokens_per_sec",),
    },
    "version:", "scenario:", "metrics:", "  latency:",
)  # fmt: skip
_SECOND = _Layout.of(
    ("results", "request_performance", "aggregate"),
    {
        "requests": ("request_rate", "mean"), "input_tokens": ("input_token_rate", "mean"),
        "output_tokens": ("output_token_rate", "mean"),
        "total_tokens": ("total_token_rate", "mean"),
    },
    "version:", "scenario:", "results:", "  request_performance:",
)  # fmt: skip
_LAYOUTS = (_FIRST, _SECOND)

_LATENCIES = {
    "request_latency": "latency.e2e", "time_to_first_token": "latency.ttft",
    "time_per_output_token": "latency.tpot", "inter_token_latency": "latency.itl",
}  # fmt: skip
_STATISTIC = re.compile(r"mean|min|max|stddev|p\d{1,2}(?:p\d{1,2})?")
_RATE_UNITS = {"requests": "requests/s"}
_DURATION = re.compile(
    r"PT(?:(?P<h>\d{1,6})H)?(?:(?P<min>\d{1,6})M)?(?:(?P<s>\d{1,9}(?:\.\d{1,20})?)S)?"
)
_IMAGE_VERSION = re.compile(r":v?(?P<version>\d+(?:\.\d+)+[\w.+-]{0,40})$")
_SLACK = Fraction(1, 100)
_AXES = (
    "model", "model_revision", "engine", "engine_version", "weight_dtype", "kv_cache_dtype",
    "device", "device_count", "tensor_parallel", "max_model_len", "input_tokens", "output_tokens",
    "concurrency", "request_rate", "prefix_caching", "speculative_decoding",
)  # fmt: skip


def recognise(content: Content) -> bool:
    """One object with a version, a scenario and latencies of requests, as YAML or JSON."""
    if content.documents:
        return len(content.documents) == 1 and _layout(content.documents[0].value) is not None
    return content.refusal is None and any(
        all(line.search(content.text) for line in layout.in_yaml) for layout in _LAYOUTS
    )


def _layout(value: Json) -> _Layout | None:
    """The layout of a report, None of anything else."""
    if not isinstance(value, dict) or not value.keys() >= {"version", "scenario"}:
        return None
    for layout in _LAYOUTS:
        if isinstance(_inside(value, *layout.figures, "latency"), dict):
            return layout
    return None


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
    layout = _layout(value)
    if layout is None:
        draft.find(NOT_MEASURED, "the report has no latencies", UNTOUCHED)
        return Reading((draft.finish(()),))
    return Reading((_read_report(draft, layout),), str(draft.get("version")))


def _read_report(draft: RowDraft, layout: _Layout) -> Row:
    at = layout.figures
    requests = _read_requests(draft, (*at, "requests"))
    _read_time(draft)
    if requests.completed != 0:
        _read_latency(draft, (*at, "latency"), requests.completed)
        _read_rates(draft, layout, requests.completed)
    if layout is _FIRST:
        _read_first_scenario(draft)
    else:
        _read_stack(draft)
        _read_load(draft)
    for axis, key in (("input_tokens", "input_length"), ("output_tokens", "output_length")):
        _read_length(draft, axis, (*at, "requests", key))
    return draft.finish(tuple(axis for axis in _AXES if axis not in draft.envelope), requests)


def _read_requests(draft: RowDraft, at: tuple[str, ...]) -> Requests:
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
    stated = draft.text("run", "time", "duration")
    if stated is not None and (found := _DURATION.fullmatch(stated)):
        parts = (Fraction(found[unit] or 0) * UNITS[unit].factor for unit in ("h", "min", "s"))
        draft.recompute("duration", "s", sum(parts, Fraction(0)), note=f"printed as {stated}")


def _read_latency(draft: RowDraft, latency: tuple[str, ...], completed: int | None) -> None:
    for key, name in _LATENCIES.items():
        at = (*latency, key)
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
                draft.report(f"{name}.{_canonical(statistic)}", unit, *at, statistic)
        draft.refuse_far_median(name, *at, "mean")


def _canonical(statistic: str) -> str:
    """`p99.9` of `p99p9`."""
    if statistic == "stddev":
        return "std"
    return statistic[0] + statistic[1:].replace("p", ".")


def _read_rates(draft: RowDraft, layout: _Layout, completed: int | None) -> None:
    at = (*layout.figures, "throughput")
    for kind, keys in layout.rates.items():
        draft.report(f"throughput.{kind}", _RATE_UNITS.get(kind, "tokens/s"), *at, *keys)
    duration, rate = draft.value("duration"), draft.value("throughput.requests")
    if completed is None or not duration or rate is None:
        return
    # Load generators take the wall time to the last token; a report may have a little more.
    if abs(rate * duration - completed) > max(_SLACK * completed, Fraction(1)):
        draft.find(
            DISAGREES,
            f"{layout.rates['requests'][0]} and duration make {format_number(rate * duration)} "
            f"requests, but {completed:,} completed",
            UNTOUCHED,
            *at, *layout.rates["requests"],
        )  # fmt: skip


def _read_first_scenario(draft: RowDraft) -> None:
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


def _read_stack(draft: RowDraft) -> None:
    """The engines among the components of 0.2, and the devices that each of their replicas has."""
    components = [
        each for each in _each(draft, ("scenario", "stack"))
        if _inside(each, "standardized", "kind") == "inference_engine"
    ]  # fmt: skip
    axes: dict[str, Json] = {
        axis: _alike([_inside(each, *keys) for each in components])
        for axis, keys in (
            ("model", ("standardized", "model", "name")),
            ("engine", ("standardized", "tool")),
            ("device", ("standardized", "accelerator", "model")),
            ("tensor_parallel", ("standardized", "accelerator", "parallelism", "tp")),
            ("max_model_len", ("native", "args", "--max-model-len")),
        )
    }
    image = _alike([_inside(each, "standardized", "tool_version") for each in components])
    version = _IMAGE_VERSION.search(image) if isinstance(image, str) else None
    axes["engine_version"] = version["version"] if version else None
    for axis, value in axes.items():
        if isinstance(value, str | int) and not isinstance(value, bool):
            draft.envelope[axis] = value
    devices = 0
    for each in components:
        count = _inside(each, "standardized", "accelerator", "count")
        replicas = _inside(each, "standardized", "replicas") or 1
        if not isinstance(count, int) or not isinstance(replicas, int):
            return
        devices += count * replicas
    if devices > 0:
        draft.envelope["device_count"] = devices


def _read_load(draft: RowDraft) -> None:
    at = ("scenario", "load", "standardized")
    for name, key in (("load_generator", "tool"), ("load_source", "source"), ("stage", "stage")):
        value = draft.get(*at, key)
        if isinstance(value, str | int) and not isinstance(value, bool):
            draft.stated[name] = str(value)
    rate = draft.number(*at, "rate_qps")
    if rate:
        draft.envelope["request_rate"] = Fraction(rate)
    if draft.get(*at, "concurrency") is Special.INFINITY:
        draft.stated["concurrency"] = "no limit was set"
    elif limit := draft.count(*at, "concurrency"):
        draft.envelope["concurrency"] = limit


def _each(draft: RowDraft, at: tuple[str, ...]) -> list[dict[str, Json]]:
    listed = draft.get(*at)
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


def _inside(value: Json, *keys: str) -> Json:
    found = value
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
