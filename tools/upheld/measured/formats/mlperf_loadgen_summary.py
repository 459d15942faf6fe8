"""MLPerf LoadGen: `mlperf_log_summary.txt`, labels and values, one run."""

from __future__ import annotations

import re
from fractions import Fraction

from upheld.measured import mlperf
from upheld.measured.content import Content
from upheld.measured.printed import PrintedDraft, damaged, exact, is_number, is_text, lines_in
from upheld.measured.reading import Reading

NAME = "mlperf-loadgen-summary"
TOOL = "MLPerf LoadGen"
TITLE = "MLPerf LoadGen: summary of a run, text"

_TITLE = "MLPerf Results Summary"
_LATENCY = re.compile(
    r"(?:(?P<statistic>Min|Max|Mean)|(?P<percent>\d{1,2}\.\d\d) percentile) "
    r"(?P<what>latency|first token latency|time to output token) \(ns\)",
    re.IGNORECASE,
)
_NAMES = {
    "latency": "latency.e2e", "first token latency": "latency.ttft",
    "time to output token": "latency.tpot",
}  # fmt: skip
_RATES = {
    "Completed samples per second": "throughput.requests",
    "Samples per second": "throughput.requests",
    "Completed tokens per second": "throughput.output_tokens",
    "Tokens per second": "throughput.output_tokens",
}
_SETTINGS = (
    "samples_per_query", "ttft_latency (ns)", "tpot_latency (ns)", "target_latency (ns)",
    "min_duration (ms)", "performance_sample_count",
)  # fmt: skip
_ENDS = re.compile(r"(?:No errors|\d+ errors?) encountered|ERRORS? encountered", re.IGNORECASE)


def recognise(content: Content) -> bool:
    """Text that begins with the title of a summary."""
    return is_text(content) and _TITLE in content.text[:1000] and ":::MLLOG" not in content.text


def read(content: Content) -> Reading:
    """One row. A summary that ends before LoadGen counts its errors has none."""
    words: dict[str, str] = {}
    draft: PrintedDraft | None = None
    ended = False
    last = None
    for line in lines_in(content):
        last = line.place if line.text.strip() else last
        if line.text.strip() == _TITLE:
            if draft is not None:
                message = "a second summary begins: the file holds more than one run"
                return Reading((), findings=(damaged(line.place, message),))
            draft = PrintedDraft(content, line.place)
        ended = ended or _ENDS.match(line.text) is not None
        label, _, value = (part.strip() for part in line.text.partition(":"))
        if draft is None or not value:
            continue
        words.setdefault(label, value)
        if label in _RATES or _LATENCY.fullmatch(label):
            if draft.record.get(label, exact(value)) != exact(value):
                message = f"{label} is there twice, with different values"
                return Reading((), findings=(damaged(line.place, message),))
            draft.put(label, value, line.place)
    assert last is not None, "recognise() saw the title"
    if draft is None or not ended or "Result is" not in words:
        return Reading((), findings=(damaged(last, "the summary ends before its last line"),))
    scenario = words.get("Scenario")
    for label in draft.record:
        if rate := _RATES.get(label):
            unit = "requests/s" if rate == "throughput.requests" else "tokens/s"
            note = mlperf.OF_SAMPLES if rate == "throughput.requests" else None
            draft.report(rate, unit, label, note=note)
        elif found := _LATENCY.fullmatch(label):
            statistic = found["statistic"] or "p" + found["percent"].rstrip("0").rstrip(".")
            name = _NAMES[found["what"].casefold()]
            note = mlperf.OF_A_BATCH if scenario == "Offline" else None
            draft.report(f"{name}.{statistic.casefold()}", "ns", label, note=note)
    rate_wanted = words.get("target_qps")
    if scenario == "Server" and rate_wanted is not None:
        draft.put("target_qps", rate_wanted)
        if is_number(draft.record["target_qps"]):
            draft.envelope["request_rate"] = Fraction(str(draft.record["target_qps"]))
    for label in ("SUT name", "Mode", *_SETTINGS):
        if label in words:
            draft.stated[label.casefold().replace(" ", "_")] = words[label]
    warned = re.search(r"^(\d+) warnings? encountered", content.text, re.MULTILINE)
    if warned:
        draft.stated["warnings"] = f"{warned[1]}, told in the detail log"
    return Reading((mlperf.finish(draft, scenario, words["Result is"], None),))
