"""MLPerf LoadGen: `mlperf_log_detail.txt`, lines of `:::MLLOG` and one JSON object each, one run.

Of the token rates `result_completed_tokens_per_second` (Server) and `result_tokens_per_second`
(Offline) are read. `result_token_throughput` divides by the time up to the issue of the last
query, and is of no use in the Server scenario.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

from upheld.corpus.strict_json import JsonRefusedError, parse
from upheld.measured import mlperf
from upheld.measured.content import NOT_READABLE, Content
from upheld.measured.printed import PrintedDraft, damaged, is_text, shown
from upheld.measured.reading import Reading
from upheld.records.finding import Finding, Place

NAME = "mlperf-loadgen-detail"
TOOL = "MLPerf LoadGen"
TITLE = "MLPerf LoadGen: detail log of a run, text with JSON"

_MARK = ":::MLLOG "
_LATENCY = re.compile(
    r"result_(?P<kind>first_token_|)(?:(?P<statistic>min|max|mean)|(?P<percent>\d{1,2}\.\d\d)"
    r"_percentile)_latency_ns"
)
_TPOT = re.compile(
    r"result_time_per_output_token_(?P<percent>\d{1,2}\.\d\d)_percentile_ns"
    r"|result_time_to_output_token_(?P<statistic>min|max|mean)"
)
_RATES = {
    "result_completed_samples_per_sec": "throughput.requests",
    "result_samples_per_second": "throughput.requests",
    "result_completed_tokens_per_second": "throughput.output_tokens",
    "result_tokens_per_second": "throughput.output_tokens",
}
_STATED = (
    "test_datetime", "sut_name", "qsl_name", "effective_test_mode", "generated_samples_per_query",
)  # fmt: skip
_LONGEST_OBJECT = 200_000


def recognise(content: Content) -> bool:
    """Text whose first line is an entry of LoadGen's log."""
    return is_text(content) and content.text.startswith(_MARK)


def read(content: Content) -> Reading:
    """One row. A log without a result has none."""
    draft = PrintedDraft(content, Place(content.path))
    warnings = 0
    place = Place(content.path)
    for number, text in enumerate(content.text.split("\n"), start=1):
        if not text.startswith(_MARK):
            continue
        place = Place(content.path, number)
        try:
            if len(text) > _LONGEST_OBJECT:
                return Reading((), findings=(damaged(place, "a line that no run writes"),))
            entry = parse(text[len(_MARK) :])[0].value
        except JsonRefusedError as refused:
            column = len(_MARK) + refused.offset + 1
            at = Place(content.path, number, column)
            finding = Finding(NOT_READABLE, at, refused.message, refused.help)
            return Reading((), findings=(finding,))
        if not isinstance(entry, dict) or not isinstance(entry.get("key"), str):
            return Reading((), findings=(damaged(place, "an entry without a key"),))
        key = str(entry["key"])
        if key.startswith("result_") and key in draft.record:
            message = f"{shown(key)} is there twice: the log holds more than one run"
            return Reading((), findings=(damaged(place, message),))
        metadata = entry.get("metadata")
        if isinstance(metadata, dict) and metadata.get("is_warning") is True:
            warnings += 1
        draft.keep(key, entry.get("value"), place)
    if "result_validity" not in draft.record:
        return Reading(
            (), findings=(damaged(place, "the log ends before LoadGen says its result"),)
        )
    version = draft.text("loadgen_version")
    scenario = draft.text("effective_scenario")
    samples = _samples(draft)
    _read_figures(draft, scenario)
    _confirm_offline_rate(draft, scenario, samples)
    if scenario == "Server":
        target = draft.number("effective_target_qps")
        if target is not None:
            draft.envelope["request_rate"] = Fraction(target)
    for key in _STATED:
        value = draft.get(key)
        if isinstance(value, str | int | Decimal) and value != "":
            draft.stated[key] = shown(str(value))
    if date := draft.text("test_datetime"):
        draft.stated["date"] = date
        del draft.stated["test_datetime"]
    late = draft.count("result_overlatency_query_count")
    if late is not None and draft.get("effective_target_latency_ns"):
        # Without a limit on the whole latency, as for models of language, every query is late.
        draft.stated["later_than_the_limit"] = f"{late:,}"
    if warnings:
        draft.stated["warnings"] = str(warnings)
    validity = draft.text("result_validity")
    return Reading((mlperf.finish(draft, scenario, validity, samples),), version)


def _samples(draft: PrintedDraft) -> int | None:
    queries = draft.count("result_query_count")
    per_query = draft.count("generated_samples_per_query")
    return queries * per_query if queries is not None and per_query else None


def _confirm_offline_rate(draft: PrintedDraft, scenario: str | None, samples: int | None) -> None:
    """Offline: all samples over the time until the last of them was done."""
    longest = draft.number("result_max_latency_ns")
    if scenario == "Offline" and samples and longest:
        rate = samples * 10**9 / Fraction(longest)
        draft.confirm(
            "result_samples_per_second", rate, "samples/s", Fraction(0),
            f"{samples:,} samples in result_max_latency_ns",
        )  # fmt: skip


def _read_figures(draft: PrintedDraft, scenario: str | None) -> None:
    one_batch = scenario == "Offline"
    draft.report(
        "requests.attempted", "requests", "result_query_count",
        note="one query of all samples" if one_batch else None,
    )  # fmt: skip
    for key in tuple(draft.record):
        if rate := _RATES.get(key):
            unit = "requests/s" if rate == "throughput.requests" else "tokens/s"
            note = mlperf.OF_SAMPLES if rate == "throughput.requests" else None
            draft.report(rate, unit, key, note=note)
            continue
        found = _LATENCY.fullmatch(key)
        name = "latency.e2e"
        if found is not None and found["kind"]:
            name = "latency.ttft"
        if found is None:
            found = _TPOT.fullmatch(key)
            name = "latency.tpot"
        if found is not None:
            statistic = found["statistic"] or "p" + found["percent"].rstrip("0").rstrip(".")
            note = mlperf.OF_A_BATCH if one_batch else None
            draft.report(f"{name}.{statistic}", "ns", key, note=note)
