"""LLMPerf: the summary of a run, one flat object.

`results_mean_output_throughput_token_per_s` and `results_num_completed_requests_per_min` divide
by one wall time, which the file does not name and the second gives.
"""

from __future__ import annotations

import re
from fractions import Fraction

from upheld.corpus.strict_json import Json
from upheld.measured import llmperf
from upheld.measured.content import Content
from upheld.measured.draft import DISAGREES, NOT_MEASURED, UNTOUCHED, RowDraft
from upheld.measured.reading import Mean, Reading, Requests, Row
from upheld.records.units import format_number

NAME = "llmperf-summary"
TOOL = llmperf.TOOL
TITLE = "LLMPerf: summary of a run, JSON"

_ALWAYS = {
    "model", "num_concurrent_requests", "results_ttft_s_mean", "results_num_completed_requests",
}  # fmt: skip
_PER_MINUTE = "results_num_completed_requests_per_min"
_STATISTICS = {"mean": "mean", "min": "min", "max": "max", "stddev": "std"}
_QUANTILE = re.compile(r"quantiles_(p\d{1,2})")
_STATED = ("name", "framework", "api", "model_size")


def recognise(content: Content) -> bool:
    """One object with the keys of a summary."""
    return len(content.documents) == 1 and is_summary(content.documents[0].value)


def is_summary(value: Json) -> bool:
    """Whether a JSON value is the summary of one run."""
    return isinstance(value, dict) and value.keys() >= _ALWAYS


def read(content: Content) -> Reading:
    """One row: the run."""
    run = content.documents[0].value
    assert isinstance(run, dict), "recognise() saw an object"
    return Reading((read_summary(RowDraft(content, 0, (), run)),))


def read_summary(draft: RowDraft) -> Row:
    """The row of one summary."""
    requests = _read_requests(draft)
    if requests.completed:
        _read_latency(draft, requests.completed)
        _read_throughput(draft, requests.completed)
    else:
        draft.report("throughput.requests_per_min", "requests/min", _PER_MINUTE)
    not_stated = [*llmperf.NEVER_STATED]
    _read_load(draft, not_stated)
    for axis, kind in (("input_tokens", "input"), ("output_tokens", "output")):
        if not _read_length(draft, axis, kind):
            not_stated.append(axis)
    return draft.finish(tuple(not_stated), requests)


def _read_requests(draft: RowDraft) -> Requests:
    completed = draft.count("results_num_completed_requests")
    failed = draft.count("results_number_errors")
    attempted = draft.count("results_num_requests_started")
    draft.report("requests.completed", "requests", "results_num_completed_requests")
    draft.report("requests.failed", "requests", "results_number_errors")
    draft.report("requests.attempted", "requests", "results_num_requests_started")
    if completed is not None and failed is not None and attempted not in (None, completed + failed):
        draft.find(
            DISAGREES,
            f"{completed} completed and {failed} failed requests are not the {attempted} started",
            UNTOUCHED,
            "results_num_requests_started",
        )
    if failed is not None and attempted:
        draft.cross_check(
            "errors over requests started", Fraction(failed, attempted), "results_error_rate"
        )
    return Requests(completed, failed, attempted)


def _read_latency(draft: RowDraft, completed: int) -> None:
    for key, name in llmperf.LATENCIES.items():
        prefix = f"results_{key}_"
        if draft.get(f"{prefix}mean") == 0:
            draft.find(
                NOT_MEASURED,
                f"{prefix}mean is 0: it was not measured",
                "there is no figure for it; what is not streamed leaves none",
                f"{prefix}mean",
                severity="warning",
            )
            continue
        draft.samples[name] = completed
        for stated in draft.record:
            if not stated.startswith(prefix):
                continue
            statistic = _statistic(stated.removeprefix(prefix))
            if statistic is not None:
                draft.report(f"{name}.{statistic}", "s", stated)
        draft.refuse_far_median(name, f"{prefix}mean")
    draft.doubts["latency.itl"] = llmperf.ITL_DOUBT


def _statistic(key: str) -> str | None:
    quantile = _QUANTILE.fullmatch(key)
    return quantile[1] if quantile else _STATISTICS.get(key)


def _read_throughput(draft: RowDraft, completed: int) -> None:
    per_minute = draft.number(_PER_MINUTE)
    draft.report("throughput.requests_per_min", "requests/min", _PER_MINUTE)
    stated = "results_mean_output_throughput_token_per_s"
    if not per_minute:
        draft.report("throughput.output_tokens", "tokens/s", stated)
        return
    wall = 60 * completed / Fraction(per_minute)
    note = f"completed requests over {_PER_MINUTE}"
    draft.recompute("duration", "s", wall, note=note)
    draft.recompute("throughput.requests", "requests/s", Fraction(per_minute) / 60, note=note)
    mean = draft.number("results_number_output_tokens_mean")
    if mean is None:
        draft.report("throughput.output_tokens", "tokens/s", stated)
        return
    total = Fraction(round(Fraction(mean) * completed))
    draft.recompute("tokens.output.total", "tokens", total, note="mean times completed requests")
    draft.recompute("throughput.output_tokens", "tokens/s", total / wall, stated)


def _read_load(draft: RowDraft, not_stated: list[str]) -> None:
    model = draft.text("model")
    if model is not None:
        draft.envelope["model"] = model
    else:
        not_stated.insert(0, "model")
    concurrency = draft.count("num_concurrent_requests")
    if concurrency:
        draft.envelope["concurrency"] = concurrency
    else:
        not_stated.append("concurrency")
    for key in _STATED:
        if (text := draft.text(key)) is not None:
            draft.stated[key] = text
    started = draft.count("timestamp")
    if started:
        draft.stated["timestamp"] = str(started)
    draft.stated["tokens_counted_by"] = llmperf.TOKENIZER


def _read_length(draft: RowDraft, axis: str, kind: str) -> bool:
    """The tokens that requests had; the lengths that were asked for are stated beside them."""
    prefix = f"results_number_{kind}_tokens_"
    mean, spread = draft.number(f"{prefix}mean"), draft.number(f"{prefix}stddev")
    asked = draft.number(f"mean_{kind}_tokens")
    if mean is None or spread is None:
        return False
    if spread == 0 and mean == int(mean):
        draft.envelope[axis] = int(mean)
        return True
    draft.means[axis] = Mean(Fraction(mean), varies=True)
    text = (
        f"{format_number(Fraction(mean))} in the mean, deviation {format_number(Fraction(spread))}"
    )
    if asked is not None:
        text += f"; {format_number(Fraction(asked))} were asked for"
    draft.stated[axis] = text
    return True
