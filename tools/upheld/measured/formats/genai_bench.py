"""genai-bench: one operating point, its single requests and what was made of them.

Times are in the unit that `_time_unit` names. Statistics are of requests without an error,
percentiles NumPy's `linear`, deviations of a population; throughputs divide by `run_duration`
(genai_bench/metrics/aggregated_metrics_collector.py at 7fd04d8). A run may leave requests of its
warm-up or end out of the statistics without naming them: then nothing is recomputed from single
requests, and the figures are as reported.
"""

from __future__ import annotations

import re
from fractions import Fraction

from upheld.corpus.strict_json import Json, Keys
from upheld.measured import single_values
from upheld.measured.content import Content
from upheld.measured.draft import DISAGREES, IMPOSSIBLE, UNTOUCHED, RowDraft
from upheld.measured.reading import Reading, Requests, Row
from upheld.measured.recompute import Values, agrees

NAME = "genai-bench"
TOOL = "genai-bench"
TITLE = "genai-bench: result of a run, JSON"

_SUMMARY, _SINGLE = "aggregated_metrics", "individual_request_metrics"
_LATENCIES = {"ttft": "latency.ttft", "tpot": "latency.tpot", "e2e_latency": "latency.e2e"}
_TOKENS = {"input": "num_input_tokens", "output": "num_output_tokens"}
_STATISTIC = re.compile(r"mean|min|max|stddev|p\d{1,2}")
_UNITS = ("s", "ms")
_NEVER_STATED = (
    "model", "model_revision", "engine", "engine_version", "weight_dtype", "kv_cache_dtype",
    "device", "device_count", "tensor_parallel", "max_model_len", "prefix_caching",
    "speculative_decoding",
)  # fmt: skip
_STATED = ("scenario", "iteration_type", "batch_size")

Entries = list[tuple[Keys, dict[str, Json]]]


def recognise(content: Content) -> bool:
    """One object with the aggregated metrics of a run and an array of single requests."""
    if len(content.documents) != 1:
        return False
    result = content.documents[0].value
    return (
        isinstance(result, dict)
        and isinstance(result.get(_SUMMARY), dict)
        and isinstance(result.get(_SINGLE), list)
    )


def read(content: Content) -> Reading:
    """One row: the run."""
    result = content.documents[0].value
    assert isinstance(result, dict), "recognise() saw an object"
    return Reading((_read_run(RowDraft(content, 0, (), result)),))


def _read_run(draft: RowDraft) -> Row:
    unit = draft.get("_time_unit") or "s"
    if unit not in _UNITS:
        draft.find(IMPOSSIBLE, "_time_unit is neither s nor ms", UNTOUCHED, "_time_unit")
        return draft.finish(_NEVER_STATED)
    entries = _entries(draft)
    succeeded = [each for each in entries if not each[1].get("error_code")]
    requests = _read_requests(draft, len(succeeded), len(entries) - len(succeeded))
    whole = _has_all(draft, succeeded)
    if succeeded:
        _read_latency(draft, str(unit), succeeded if whole else [], len(succeeded))
        _read_throughput(draft, succeeded if whole else [])
    not_stated = [*_NEVER_STATED, *_read_load(draft)]
    for axis, key in (("input_tokens", _TOKENS["input"]), ("output_tokens", _TOKENS["output"])):
        if single_values.read_lengths(draft, axis, succeeded, key) is None:
            not_stated.append(axis)
    return draft.finish(tuple(not_stated), requests)


def _entries(draft: RowDraft) -> Entries:
    listed = draft.get(_SINGLE)
    assert isinstance(listed, list), "recognise() saw an array"
    entries: Entries = [
        ((_SINGLE, index), each) for index, each in enumerate(listed) if isinstance(each, dict)
    ]
    if len(entries) != len(listed):
        draft.find(IMPOSSIBLE, f"{_SINGLE} holds what is no request", UNTOUCHED, _SINGLE)
    return entries


def _read_requests(draft: RowDraft, completed: int, failed: int) -> Requests:
    for name, count, key in (
        ("requests.completed", completed, "num_completed_requests"),
        ("requests.failed", failed, "num_error_requests"),
        ("requests.attempted", completed + failed, "num_requests"),
    ):
        draft.recompute(name, "requests", Fraction(count), _SUMMARY, key)
    return Requests(completed, failed, completed + failed)


def _has_all(draft: RowDraft, succeeded: Entries) -> bool:
    """Whether the statistics are of all successful requests; a note where they are of fewer."""
    total = draft.number(_SUMMARY, "stats", "e2e_latency", "sum")
    mean = draft.number(_SUMMARY, "stats", "e2e_latency", "mean")
    if not total or not mean:
        return True
    behind = Fraction(total) / Fraction(mean)
    count = round(behind)
    if not 0 < count < len(succeeded) or abs(behind - count) > Fraction(1, 1000):
        return True
    draft.stated["left_out"] = (
        f"the statistics are of {count:,} of {len(succeeded):,} requests: those of a warm-up or of "
        "the end were left out, and which is not said"
    )
    return False


def _read_latency(draft: RowDraft, unit: str, entries: Entries, completed: int) -> None:
    for key, name in _LATENCIES.items():
        statistics = draft.get(_SUMMARY, "stats", key)
        summary: dict[str, Keys] = {
            "std" if each == "stddev" else each: (_SUMMARY, "stats", key, each)
            for each in (statistics if isinstance(statistics, dict) else {})
            if _STATISTIC.fullmatch(each)
        }
        with_value = [each for each in entries if each[1].get(key) is not None]
        numbers = single_values.column(draft, with_value, key)
        if numbers and max(numbers) > 0:
            single_values.recompute(draft, name, unit, Values(numbers), 0, summary)
        elif not numbers and draft.get(_SUMMARY, "stats", key, "mean") not in (None, 0):
            draft.samples[name] = completed
            for statistic, keys in summary.items():
                draft.report(f"{name}.{statistic}", unit, *keys)
    _confirm_tpot(draft, entries)


def _confirm_tpot(draft: RowDraft, entries: Entries) -> None:
    """A finding at the first request whose time per token is not its own times over its tokens."""
    for keys, entry in entries:
        whole, first = entry.get("e2e_latency"), entry.get("ttft")
        tokens, stated = entry.get(_TOKENS["output"]), entry.get("tpot")
        numbers = single_values.numbers_of(whole, first, tokens, stated)
        if numbers is None or numbers[2] <= 1:
            continue
        follows = (Fraction(numbers[0]) - Fraction(numbers[1])) / (Fraction(numbers[2]) - 1)
        if not agrees(follows, numbers[3], Fraction(numbers[0])):
            draft.find(
                DISAGREES,
                "tpot is not the time after the first token over the tokens after it",
                UNTOUCHED,
                *keys, "tpot",
            )  # fmt: skip
            return


def _read_throughput(draft: RowDraft, entries: Entries) -> None:
    draft.report("duration", "s", _SUMMARY, "run_duration")
    duration = draft.value("duration")
    totals: dict[str, Fraction] = {}
    for kind, key in _TOKENS.items():
        numbers = single_values.column(draft, entries, key)
        if numbers:
            totals[kind] = Values(numbers).total
            draft.recompute(
                f"tokens.{kind}.total", "tokens", totals[kind], _SUMMARY, "stats", key, "sum"
            )
    if len(totals) == len(_TOKENS):
        totals["total"] = totals["input"] + totals["output"]
    for kind, stated in (
        ("input", "mean_input_throughput_tokens_per_s"),
        ("output", "mean_output_throughput_tokens_per_s"),
        ("total", "mean_total_tokens_throughput_tokens_per_s"),
    ):
        name = f"throughput.{kind}_tokens"
        if kind in totals and duration:
            draft.recompute(name, "tokens/s", totals[kind] / duration, _SUMMARY, stated)
        else:
            draft.report(name, "tokens/s", _SUMMARY, stated)
    completed = draft.value("requests.completed")
    if completed is not None and duration:
        draft.recompute(
            "throughput.requests", "requests/s", completed / duration,
            _SUMMARY, "requests_per_second",
        )  # fmt: skip


def _read_load(draft: RowDraft) -> list[str]:
    open_axes = []
    concurrency = draft.count(_SUMMARY, "num_concurrency")
    if concurrency:
        draft.envelope["concurrency"] = concurrency
    else:
        open_axes.append("concurrency")
    rate = draft.number(_SUMMARY, "request_rate")
    if rate:
        draft.envelope["request_rate"] = Fraction(rate)
    elif draft.get(_SUMMARY, "iteration_type") != "num_concurrency":
        open_axes.append("request_rate")
    for key in _STATED:
        value = draft.get(_SUMMARY, key)
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            draft.stated[key] = str(value)
    return open_axes
