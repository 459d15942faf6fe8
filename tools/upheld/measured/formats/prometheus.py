"""A scrape of /metrics: vLLM, SGLang, TGI, Triton, and devices by dcgm-exporter.

Counters and histograms run since the server started and hold every request since then, warm-up
and other clients too: only the difference of two scrapes is a run. vLLM's and SGLang's
`time_per_output_token_seconds` and `inter_token_latency_seconds` are times between steps;
`request_time_per_output_token_seconds` is a mean over a request (vLLM 0.11, `v1/metrics/
loggers.py`). Requests that have a first token and no end are in the one and not in the other. TGI's
mean time per token holds the first token too, so it is none of these and is not read. SGLang's
count of finished requests may hold some that were aborted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from upheld.measured.content import Content
from upheld.measured.draft import IMPOSSIBLE, NOT_MEASURED, UNTOUCHED
from upheld.measured.exposition import (
    Histogram,
    Sample,
    histograms,
    looks_like_exposition,
    samples_of,
)
from upheld.measured.gpu_readings import DeviceReadings
from upheld.measured.printed import PrintedDraft, is_text, shown
from upheld.measured.reading import Reading, Requests, Row
from upheld.measured.serving_axes import left_open
from upheld.records.finding import Finding, Place
from upheld.records.units import format_number

NAME = "prometheus"
TOOL = "Prometheus exposition"
TITLE = "Prometheus exposition: a scrape of an engine or of devices, text"

_ENGINES = {"vllm:": "vLLM", "sglang:": "SGLang", "tgi_": "TGI", "nv_inference_": "Triton"}
_LATENCIES = {
    "time_to_first_token_seconds": "latency.ttft",
    "time_per_output_token_seconds": "latency.itl",
    "inter_token_latency_seconds": "latency.itl",
    "request_time_per_output_token_seconds": "latency.tpot",
    "e2e_request_latency_seconds": "latency.e2e",
    "request_duration": "latency.e2e",
}
_TOTALS = {
    "prompt_tokens_total": "tokens.input.total",
    "generation_tokens_total": "tokens.output.total",
    "request_input_length_sum": "tokens.input.total",
    "request_generated_tokens_sum": "tokens.output.total",
}
_PERCENTILES = (50, 90, 95, 99)
_LIFE = "since the server started, not one run"
_FAILED_REASONS = ("abort", "error")
_CACHE_FACTS = (
    "block_size", "gpu_memory_utilization", "num_gpu_blocks", "num_cpu_blocks",
)  # fmt: skip

_DEVICES = {
    "DCGM_FI_DEV_GPU_UTIL": "device.utilisation", "DCGM_FI_DEV_FB_USED": "device.memory_used",
    "DCGM_FI_DEV_POWER_USAGE": "device.power", "DCGM_FI_DEV_GPU_TEMP": "device.temperature",
    "DCGM_FI_DEV_SM_CLOCK": "device.clock",
}  # fmt: skip
_HELD_BACK = {
    "DCGM_FI_DEV_POWER_VIOLATION": "held_back_by_power",
    "DCGM_FI_DEV_THERMAL_VIOLATION": "held_back_by_heat",
}
# What DCGM prints where it has no value (dcgm_structs.h, DCGM_INT64_BLANK and above).
_BLANK = 0x7FFFFFFFFFFFFFF0


def recognise(content: Content) -> bool:
    """Text that begins with the type or the meaning of a metric."""
    return is_text(content) and looks_like_exposition(content.text)


def read(content: Content) -> Reading:
    """One row a model of an engine, one a device; what is neither is passed over."""
    samples, refusal = samples_of(content)
    if refusal is not None:
        return Reading((), findings=(refusal,))
    engines = _grouped(samples, _engine_key)
    devices = _grouped(samples, _device_key)
    rows = [
        _engine_row(content, engine, (key or engine) if len(engines) > 1 else None, group)
        for (engine, key), group in engines.items()
    ]
    rows += [_device_row(content, name, group) for (_, name), group in devices.items()]
    if rows:
        return Reading(tuple(rows))
    finding = Finding(
        NOT_MEASURED,
        samples[0].place if samples else Place(content.path),
        "no metric of an engine or device that is known here",
        "scrape the engine's own /metrics: vLLM, SGLang, TGI, Triton, or dcgm-exporter",
    )
    return Reading((), findings=(finding,))


def _grouped(
    samples: list[Sample], key_of: Callable[[Sample], tuple[str, str] | None]
) -> dict[tuple[str, str], list[Sample]]:
    groups: dict[tuple[str, str], list[Sample]] = {}
    for sample in samples:
        key = key_of(sample)
        if key is not None:
            groups.setdefault(key, []).append(sample)
    # The configuration of a cache names the engine and no model: it is of every model there.
    for (engine, case), group in list(groups.items()):
        models = [each for name, each in groups if name == engine and each]
        if not case and models:
            del groups[engine, case]
            for model in models:
                groups[engine, model].extend(group)
    return groups


def _engine_key(sample: Sample) -> tuple[str, str] | None:
    engine = next(
        (name for prefix, name in _ENGINES.items() if sample.name.startswith(prefix)), None
    )
    if engine is None:
        return None
    labels = sample.labels
    model = labels.get("model_name") or labels.get("model") or ""
    number = labels.get("engine") or labels.get("engine_index")
    return engine, f"{model}, engine {number}" if model and number else model


def _device_key(sample: Sample) -> tuple[str, str] | None:
    if not sample.name.startswith("DCGM_FI_"):
        return None
    instance = sample.labels.get("GPU_I_ID")
    case = f"GPU {sample.labels.get('gpu', '?')}"
    return "dcgm", case + (f", instance {instance}" if instance else "")


def _engine_row(content: Content, engine: str, case: str | None, samples: list[Sample]) -> Row:
    draft = PrintedDraft(content, samples[0].place, None if case is None else shown(case))
    prefix = next(prefix for prefix, name in _ENGINES.items() if name == engine)
    sums: dict[str, Fraction] = {}
    for sample in samples:
        if sample.number is not None:
            name = sample.name.removeprefix(prefix)
            sums[name] = sums.get(name, Fraction(0)) + sample.number
    requests = _requests(draft, engine, samples, sums)
    seen: dict[str, Fraction] = {}
    for name, histogram in histograms(samples):
        metric = _LATENCIES.get(name.removeprefix(prefix))
        if metric is not None:
            _read_histogram(draft, metric, histogram)
            seen[metric] = histogram.count or Fraction(0)
    for name, metric in _TOTALS.items():
        if name in sums and draft.value(metric) is None:
            draft.recompute(metric, "tokens", sums[name], note=_LIFE)
    first, whole = seen.get("latency.ttft"), seen.get("latency.e2e")
    if first is not None and whole is not None and first != whole:
        draft.stated["unfinished"] = (
            f"{format_number(first)} requests have a first token, {format_number(whole)} an end"
        )
    _read_speculation(draft, sums)
    _read_cache(draft, samples, sums)
    draft.envelope["engine"] = engine
    models = {sample.labels.get("model_name") for sample in samples} - {None}
    if len(models) == 1:
        draft.envelope["model"] = shown(str(models.pop()))
    return draft.finish(left_open(draft.envelope), requests)


def _requests(
    draft: PrintedDraft, engine: str, samples: list[Sample], sums: Mapping[str, Fraction]
) -> Requests | None:
    completed: Fraction | None = None
    failed: Fraction | None = None
    attempted: Fraction | None = None
    if engine == "vLLM":
        by_reason: dict[str, Fraction] = {}
        for sample in samples:
            if sample.name == "vllm:request_success_total" and sample.number is not None:
                reason = sample.labels.get("finished_reason", "")
                by_reason[reason] = by_reason.get(reason, Fraction(0)) + sample.number
        if by_reason:
            bad = {reason: by_reason[reason] for reason in _FAILED_REASONS if reason in by_reason}
            failed = sum(bad.values(), Fraction(0)) if bad else None
            completed = sum(by_reason.values(), Fraction(0)) - (failed or 0)
    elif engine == "SGLang":
        failed = sums.get("num_aborted_requests_total")
        completed = sums.get("num_requests_total")
    elif engine == "TGI":
        completed = sums.get("request_success")
        failed = sums.get("request_failure")
        attempted = sums.get("request_count")
        if failed is None and completed is not None and attempted is not None:
            failed = None if attempted < completed else attempted - completed
    else:
        completed = sums.get("request_success")
        failed = sums.get("request_failure")
    for name, value in (
        ("requests.completed", completed),
        ("requests.failed", failed),
        ("requests.attempted", attempted),
    ):
        if value is not None:
            draft.recompute(name, "requests", value, note=_LIFE)
    if not completed and not failed and not attempted:
        draft.stated["requests"] = "none since the server started, or none are counted"
        return None
    # vLLM observes the times of requests that it aborts too.
    timed = engine == "vLLM"
    return Requests(_whole(completed), _whole(failed), _whole(attempted), failed_are_timed=timed)


def _whole(value: Fraction | None) -> int | None:
    return None if value is None else int(value)


def _read_histogram(draft: PrintedDraft, metric: str, histogram: Histogram) -> None:
    if not histogram.count or histogram.total is None:
        return
    if not histogram.rises:
        draft.keep(metric, None, histogram.place or draft.place())
        draft.find(
            IMPOSSIBLE,
            f"the buckets of {metric} do not rise to its count",
            f"there is no figure for it; {UNTOUCHED}",
            metric,
        )
        return
    draft.samples[metric] = int(histogram.count)
    draft.recompute(f"{metric}.mean", "s", histogram.total / histogram.count, note=_LIFE)
    for percent in _PERCENTILES:
        known = histogram.percentile(percent)
        if known is None:
            continue
        value, lower, upper = known
        draft.recompute(
            f"{metric}.p{percent}", "s", value, rounding=max(value - lower, upper - value),
            note=f"{_LIFE}; interpolated in its bucket, from {format_number(lower)} to "
            f"{format_number(upper)} s",
        )  # fmt: skip


def _read_speculation(draft: PrintedDraft, sums: Mapping[str, Fraction]) -> None:
    drafted = sums.get("spec_decode_num_draft_tokens_total")
    accepted = sums.get("spec_decode_num_accepted_tokens_total")
    if drafted and accepted is not None:
        draft.recompute("speculation.acceptance", "%", 100 * accepted / drafted, note=_LIFE)


def _read_cache(draft: PrintedDraft, samples: list[Sample], sums: Mapping[str, Fraction]) -> None:
    asked, hit = sums.get("prefix_cache_queries_total"), sums.get("prefix_cache_hits_total")
    if asked and hit is not None:
        draft.stated["prefix_cache"] = (
            f"{format_number(hit)} of {format_number(asked)} tokens were found in it"
        )
    config = next((each for each in samples if each.name == "vllm:cache_config_info"), None)
    if config is None:
        return
    caching = config.labels.get("enable_prefix_caching")
    if caching in ("True", "False"):
        draft.envelope["prefix_caching"] = caching == "True"
    dtype = config.labels.get("cache_dtype", "auto")
    if dtype != "auto":
        draft.envelope["kv_cache_dtype"] = "fp8" if dtype.startswith("fp8") else shown(dtype)
    tokens = config.labels.get("kv_cache_size_tokens", "")
    if tokens.isdecimal() and len(tokens) < 15:
        draft.put("kv_cache_size_tokens", tokens, config.place)
        draft.report("capacity.tokens", "tokens", "kv_cache_size_tokens")
    for name in _CACHE_FACTS:
        if config.labels.get(name, "None") != "None":
            draft.stated[name] = shown(config.labels[name])


def _device_row(content: Content, case: str, samples: list[Sample]) -> Row:
    readings = DeviceReadings(PrintedDraft(content, samples[0].place, shown(case)))
    stated: dict[str, str] = {}
    for sample in samples:
        number = sample.number
        if number is None or number >= _BLANK:
            continue
        if sample.name in _DEVICES:
            readings.take(_DEVICES[sample.name], str(sample.value), sample.place)
        elif sample.name == "DCGM_FI_DEV_XID_ERRORS" and number:
            stated["last_xid_error"] = str(sample.value)
        elif sample.name in _HELD_BACK and number:
            stated[_HELD_BACK[sample.name]] = f"{format_number(number)} ns"
    models = {sample.labels.get("modelName") for sample in samples} - {None}
    return readings.row(str(models.pop()) if len(models) == 1 else None, stated)
