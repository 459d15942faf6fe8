"""SGLang `bench_serving`: one JSON object a run, a line each.

Its client descends from vLLM's (sglang/benchmark/serving.py of 0.5.23, `calculate_metrics`): the
same definitions under other names. With `--output-details` a line holds an entry for each
request. Where a speculative run goes through an OpenAI endpoint, the time between chunks is
divided among the tokens of each before it is summed up, which the entries don't allow to repeat.
`server_info` is what the server says of itself, and the richest envelope of all clients; behind a
router it holds one such object for each server of prefill and decode.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from upheld.corpus.strict_json import Json, Keys
from upheld.measured.content import Content
from upheld.measured.draft import RowDraft
from upheld.measured.engine_log import DTYPES
from upheld.measured.reading import AxisValue, Reading, Row
from upheld.measured.serving_result import (
    Layout,
    read_figures,
    read_load,
    read_other_facts,
    shortened,
)
from upheld.measured.single_requests import SingleRequests

NAME = "sglang-bench-serving"
TOOL = "SGLang bench_serving"
TITLE = "SGLang bench_serving: result of a run, JSON Lines"

_ALWAYS = {
    "backend", "duration", "completed", "request_throughput", "input_throughput",
    "mean_e2e_latency_ms", "total_output_tokens_retokenized",
}  # fmt: skip
_LAYOUT = Layout(
    latencies={
        "ttft_ms": "latency.ttft", "tpot_ms": "latency.tpot", "itl_ms": "latency.itl",
        "e2e_latency_ms": "latency.e2e",
    },
    unit="ms",
    total_throughput="total_throughput",
)  # fmt: skip
_AXES = (
    "model", "model_revision", "engine", "engine_version", "weight_dtype", "kv_cache_dtype",
    "device", "device_count", "tensor_parallel", "max_model_len", "prefix_caching",
    "speculative_decoding",
)  # fmt: skip
_READ_ELSEWHERE = re.compile(
    r"duration|completed|request_rate|max_concurrency|concurrency|total_(input|output)_tokens"
    r"|(request|input|output|total)_throughput|accept_length|random_\w+"
)
_RENAMED = {
    "backend": "client_backend",
    "dataset_name": "dataset",
    "max_output_tokens_per_s": "peak_output_tokens_in_one_second",
    "max_concurrent_requests": "peak_requests_in_one_second",
}
_OF_SERVER = {
    "device": "device_kind", "attention_backend": "attention_backend",
    "mem_fraction_static": "mem_fraction_static", "pp_size": "pipeline_parallel",
    "dp_size": "data_parallel", "dtype": "dtype", "quantization": "quantization",
}  # fmt: skip


def recognise(content: Content) -> bool:
    """Objects, one or several, each with the keys that every version of the tool writes."""
    return bool(content.documents) and all(
        isinstance(each.value, dict) and each.value.keys() >= _ALWAYS for each in content.documents
    )


def read(content: Content) -> Reading:
    """One row a run. The tool's version is that of the server, whose package holds the client."""
    rows: list[Row] = []
    for index, document in enumerate(content.documents):
        assert isinstance(document.value, dict), "recognise() saw objects"
        case = f"run {index + 1}" if len(content.documents) > 1 else None
        rows.append(_read_run(RowDraft(content, index, (), document.value, case)))
    return Reading(tuple(rows))


def _read_run(draft: RowDraft) -> Row:
    single = SingleRequests(draft)
    if draft.number("accept_length") and draft.text("backend") in ("sglang-oai", "sglang-oai-chat"):
        single.itls = None
    requests = read_figures(draft, _LAYOUT, single)
    whole, duration = draft.value("latency.e2e.mean"), draft.value("duration")
    if whole is not None and duration and requests.completed:
        draft.recompute(
            "concurrency.mean", "requests", requests.completed * whole / 1000 / duration,
            "concurrency", note="time that requests spent open, over the run's",
        )  # fmt: skip
    draft.report("speculation.length", "tokens", "accept_length")
    _read_server(draft)
    not_stated = [axis for axis in _AXES if axis not in draft.envelope]
    not_stated += read_load(draft, single, requests)
    _read_random_lengths(draft)
    _read_counts(draft)
    read_other_facts(draft, _LAYOUT, _READ_ELSEWHERE, _RENAMED)
    return draft.finish(tuple(not_stated), requests)


def _read_server(draft: RowDraft) -> None:
    """An axis is stated where all servers agree on it; where they differ, each value is shown."""
    servers = list(_servers(draft))
    if servers:
        draft.envelope["engine"] = "SGLang"
    found: dict[str, set[AxisValue]] = {}
    for keys in servers:
        for axis, value in _axes_of(draft, keys).items():
            found.setdefault(axis, set()).add(value)
    if len(servers) > 1:
        found.pop("device_count", None)  # that of one server; nothing says that none are shared
    for axis, values in found.items():
        if len(values) == 1:
            draft.envelope[axis] = values.pop()
        else:
            draft.stated[axis] = f"servers differ: {', '.join(sorted(map(_shown, values)))}"
    if len(servers) > 1:
        draft.stated["servers"] = "prefill and decode apart, behind a router"
    for key, name in _OF_SERVER.items():
        told = {str(each) for keys in servers if _told(each := draft.get(*keys, key))}
        if told:
            draft.stated[name] = shortened(", ".join(sorted(told)))


def _servers(draft: RowDraft) -> Iterator[Keys]:
    """The keys of each object in which a server describes itself."""
    apart = [
        ("server_info", role, index)
        for role in ("prefill", "decode")
        if isinstance(described := draft.get("server_info", role), list)
        for index in range(len(described))
    ]
    if apart:
        yield from apart
    elif isinstance(draft.get("server_info"), dict):
        yield ("server_info",)


def _axes_of(draft: RowDraft, keys: Keys) -> dict[str, AxisValue]:
    axes: dict[str, AxisValue | None] = {
        "model": draft.text(*keys, "model_path"),
        "model_revision": draft.text(*keys, "revision"),
        "engine_version": draft.text(*keys, "version"),
        "kv_cache_dtype": DTYPES.get(draft.text(*keys, "kv_cache_dtype") or ""),
        "tensor_parallel": draft.count(*keys, "tp_size") or None,
        "max_model_len": draft.count(*keys, "context_length") or None,
    }
    if draft.get(*keys, "quantization") is None:
        axes["weight_dtype"] = DTYPES.get(draft.text(*keys, "dtype") or "")
    parallel = [draft.count(*keys, key) for key in ("tp_size", "pp_size")]
    # Attention that is data parallel shares its devices with the tensor parallel ones.
    if all(parallel) and draft.get(*keys, "dp_size") == 1:
        axes["device_count"] = (parallel[0] or 1) * (parallel[1] or 1)
    off = draft.get(*keys, "disable_radix_cache")
    if isinstance(off, bool):
        axes["prefix_caching"] = not off
    server = draft.get(*keys)
    if isinstance(server, dict) and "speculative_algorithm" in server:
        axes["speculative_decoding"] = draft.text(*keys, "speculative_algorithm") or "none"
    return {axis: value for axis, value in axes.items() if value is not None}


def _shown(value: AxisValue) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def _told(value: Json) -> bool:
    return value is not None and value not in ("", "auto")


def _read_random_lengths(draft: RowDraft) -> None:
    """What `--random-range-ratio` made of the lengths that were asked for."""
    if not (draft.text("dataset_name") or "").startswith("random"):
        return
    ratio = draft.number("random_range_ratio")
    for axis, key in (("input", "random_input_len"), ("output", "random_output_len")):
        asked = draft.count(key)
        if asked is None or ratio is None:
            continue
        draft.asked[f"{axis}_tokens"] = Fraction(asked)
        least = max(int(asked * Fraction(ratio)), 1)
        drawn = f"exactly {asked:,}" if least >= asked else f"drawn from {least:,} to {asked:,}"
        draft.stated[f"{axis}_tokens_asked_for"] = drawn


def _read_counts(draft: RowDraft) -> None:
    """Output tokens as the server counts them, and as the client does by tokenising their text."""
    by_server = draft.count("total_output_tokens")
    by_client = draft.count("total_output_tokens_retokenized")
    if by_server is not None and by_client is not None:
        draft.counted["tokens.output.total"] = {
            "the server": by_server,
            "the client, which tokenised the text again": by_client,
        }
