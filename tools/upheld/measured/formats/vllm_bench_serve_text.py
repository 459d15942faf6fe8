"""vLLM `bench serve`: the table that it prints on the console, one row a table.

Two digits after the point are all that is printed (vllm/benchmarks/serve.py, `benchmark`), so a
rate below one a second may be off by per cents; counts and duration are held against it.
SGLang prints nearly the same table and is told by its line of retokenized tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from upheld.corpus.strict_json import Json, Keys
from upheld.measured.content import NOT_READABLE, Content
from upheld.measured.distribution import Distribution
from upheld.measured.draft import IMPOSSIBLE, UNTOUCHED
from upheld.measured.printed_block import Labels, PrintedDraft, printed_number
from upheld.measured.reading import Mean, Reading, Requests, Row
from upheld.measured.server_axes import SERVER_AXES
from upheld.records.finding import Finding, Place
from upheld.records.units import format_number

NAME = "vllm-bench-serve-text"
TOOL = "vLLM bench serve"
TITLE = "vLLM bench serve: result of a run, as the console shows it"

_BEGINS = re.compile(r"=+ Serving Benchmark Result =+")
_ENDS = re.compile(r"={30,}")
_LINE = re.compile(r"\s*(?P<label>[A-Za-z][^:]{1,60}):\s+(?P<value>\S{1,40})")
_LATENCY = re.compile(
    r"(?P<statistic>mean|median|p(?:100|\d{1,2}(?:\.\d{1,3})?))"
    r" (?P<latency>ttft|tpot|itl|e2el) \(ms\)"
)
_LATENCIES = {
    "ttft": "latency.ttft", "tpot": "latency.tpot", "itl": "latency.itl", "e2el": "latency.e2e",
}  # fmt: skip
_ALWAYS = {"successful requests", "benchmark duration (s)", "total generated tokens"}
_SGLANG = {"total generated tokens (retokenized)", "concurrency"}
_RATES = {
    "request throughput (req/s)": ("throughput.requests", "requests/s"),
    "output token throughput (tok/s)": ("throughput.output_tokens", "tokens/s"),
    "total token throughput (tok/s)": ("throughput.total_tokens", "tokens/s"),
}
_STATED = {
    "peak output token throughput (tok/s)": "peak_output_tokens_in_one_second",
    "peak concurrent requests": "peak_requests_in_one_second",
    "request goodput (req/s)": "request_goodput",
}
_ROUNDED = "printed with two digits after the point"


@dataclass(frozen=True, slots=True)
class _Table:
    places: Labels
    record: dict[str, Json]
    whole: bool


def recognise(content: Content) -> bool:
    """Text with a table of that title whose labels are vLLM's and not SGLang's."""
    if content.documents or "Serving Benchmark Result" not in content.text:
        return False
    return any(
        table.record.keys() >= _ALWAYS and not table.record.keys() & _SGLANG
        for table in _tables(content)
    )


def read(content: Content) -> Reading:
    """One row a table; a table without its last line was cut and has none."""
    tables = list(_tables(content))
    rows: list[Row] = []
    findings: list[Finding] = []
    for number, table in enumerate(tables, start=1):
        if table.whole and table.record.keys() >= _ALWAYS:
            case = f"run {number}" if len(tables) > 1 else None
            rows.append(_row(PrintedDraft(table.places, table.record, case)))
        else:
            findings.append(
                Finding(
                    NOT_READABLE,
                    table.places.at,
                    "the table of results has no last line or lacks counts: it was cut",
                    "add the output as the tool wrote it, to the line of equals signs",
                )
            )
    return Reading(tuple(rows), findings=tuple(findings))


def _tables(content: Content) -> Iterator[_Table]:
    at: Place | None = None
    record: dict[str, Json] = {}
    labels: dict[Keys, Place] = {}
    for number, line in enumerate(content.text.split("\n"), start=1):
        stripped = line.strip()
        begins = _BEGINS.fullmatch(stripped)
        if at is not None and (begins or _ENDS.fullmatch(stripped)):
            yield _Table(Labels(at, labels), record, whole=not begins)
            at = None
        if begins:
            at, record, labels = Place(content.path, number, line.index("=") + 1), {}, {}
        elif at is not None and (match := _LINE.match(line)):
            label = match["label"].lower()
            record.setdefault(label, printed_number(match["value"]))
            labels.setdefault((label,), Place(content.path, number, match.start("label") + 1))
    if at is not None:
        yield _Table(Labels(at, labels), record, whole=False)


def _row(draft: PrintedDraft) -> Row:
    requests = _read_requests(draft)
    draft.report("duration", "s", "benchmark duration (s)")
    draft.report("tokens.input.total", "tokens", "total input tokens")
    draft.report("tokens.output.total", "tokens", "total generated tokens")
    for label, (name, unit) in _RATES.items():
        draft.report(name, unit, label, note=_note(draft, name))
    _refuse_rates(draft)
    _read_latencies(draft, requests.completed)
    draft.report("speculation.acceptance", "%", "acceptance rate (%)")
    draft.report("speculation.length", "tokens", "acceptance length")
    not_stated = ["model", *SERVER_AXES, *_read_load(draft, requests)]
    for label, name in _STATED.items():
        if (value := draft.number(label)) is not None:
            draft.stated[name] = str(value)
    return draft.finish(tuple(not_stated), requests)


def _read_requests(draft: PrintedDraft) -> Requests:
    completed = draft.count("successful requests")
    failed = draft.count("failed requests")
    draft.report("requests.completed", "requests", "successful requests")
    draft.report("requests.failed", "requests", "failed requests")
    draft.report("concurrency.limit", "requests", "maximum request concurrency")
    attempted = completed + failed if completed is not None and failed is not None else None
    return Requests(completed, failed, attempted)


def _numerator(draft: PrintedDraft, name: str) -> Fraction | None:
    parts = {
        "throughput.requests": ("requests.completed",),
        "throughput.output_tokens": ("tokens.output.total",),
        "throughput.total_tokens": ("tokens.input.total", "tokens.output.total"),
    }[name]
    values = [value for part in parts if (value := draft.value(part)) is not None]
    return sum(values, Fraction(0)) if len(values) == len(parts) else None


def _note(draft: PrintedDraft, name: str) -> str:
    numerator, duration = _numerator(draft, name), draft.value("duration")
    if numerator is None or not duration:
        return _ROUNDED
    return f"{_ROUNDED}; counts and duration give {format_number(numerator / duration)}"


def _refuse_rates(draft: PrintedDraft) -> None:
    duration = draft.bounds("duration")
    if duration is None:
        return
    if duration[0] <= 0:
        draft.find(
            IMPOSSIBLE, "duration is 0, so nothing has a rate", UNTOUCHED, "benchmark duration (s)"
        )
        return
    for label, (name, _) in _RATES.items():
        if (numerator := _numerator(draft, name)) is not None:
            draft.refuse_other_ratio(name, numerator, duration, label)


def _read_latencies(draft: PrintedDraft, completed: int | None) -> None:
    keys: dict[str, dict[str, Keys]] = {}
    for label in draft.record:
        if match := _LATENCY.fullmatch(label):
            statistic = {"median": "p50", "p100": "max"}.get(match["statistic"], match["statistic"])
            keys.setdefault(_LATENCIES[match["latency"]], {}).setdefault(statistic, (label,))
    duration = draft.bounds("duration")
    for name, statistics in keys.items() if completed else ():
        distribution = Distribution(name, "ms", statistics)
        if distribution.refuse_zero(draft):
            continue
        if name != "latency.itl" and completed:
            draft.samples[name] = completed
        distribution.report(draft)
        distribution.refuse_impossible(draft, duration and duration[1] * 1000)


def _read_load(draft: PrintedDraft, requests: Requests) -> list[str]:
    not_stated: list[str] = []
    if limit := draft.count("maximum request concurrency"):
        draft.envelope["concurrency"] = limit
    else:
        not_stated.append("concurrency")
    if rate := draft.number("request rate configured (rps)"):
        draft.stated["request_rate"] = f"{rate}/s, rounded to be printed"
    not_stated.append("request_rate")
    for axis in ("input_tokens", "output_tokens"):
        total = draft.value(f"tokens.{axis.removesuffix('_tokens')}.total")
        if not requests.completed or total is None:
            not_stated.append(axis)
            continue
        mean = total / requests.completed
        varies = mean.denominator != 1
        draft.means[axis] = Mean(mean, varies)
        ending = "so lengths varied" if varies else "and no single length is stated"
        draft.stated[axis] = f"{format_number(mean)} is the mean, {ending}"
        if not varies:
            not_stated.append(axis)
    return not_stated
