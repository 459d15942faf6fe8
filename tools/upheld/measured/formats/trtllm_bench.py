"""trtllm-bench `throughput`: the report that ends its log, one row a report.

All requests are sent at once unless a rate was set, and throughputs divide by the time from the
first request to the last token. Up to 0.16 `Token Throughput` is that of output tokens alone;
later reports print output and total apart (TensorRT-LLM, tensorrt_llm/bench/dataclasses/
reporting.py, `report_statistics`). No request is kept, so nothing is recomputed; what is printed
is held against itself as far as its last digits allow.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from upheld.corpus.strict_json import Json, Keys
from upheld.measured.content import Content
from upheld.measured.draft import NOT_MEASURED
from upheld.measured.engine_log import DTYPES, is_text, lines_of, whole
from upheld.measured.printed_row import PrintedRow
from upheld.measured.reading import Mean, Reading, Requests, Row
from upheld.measured.yaml_content import scalar
from upheld.records.finding import Place
from upheld.records.units import format_number

NAME = "trtllm-bench"
TOOL = "trtllm-bench"
TITLE = "trtllm-bench throughput: log that ends in its report, text"

_OVERVIEW = re.compile(r"^= PERFORMANCE OVERVIEW\s*$")
_FIRST = re.compile(r"^= (?:ENGINE DETAILS|PYTORCH BACKEND)\s*$")
_MACHINE = re.compile(r"^(?P<device>[^,]{1,100}), memory [\d.]+ GB, ")
_LINE = re.compile(
    r"^(?P<label>(?:\[(?:Latency|TTFT|TPOT)\] )?[A-Z][\w .+/()\[\]-]{1,70}?)\s*:"
    r"\s+(?P<value>\S.{0,300})$"
)

_REQUESTS = "Number of requests"
_INPUT, _OUTPUT = "Average Input Length (tokens)", "Average Output Length (tokens)"
_LATENCY = "Total Latency (ms)"
_RATE = "Request Throughput (req/sec)"
_FIGURES = {
    _RATE: ("throughput.requests", "requests/s"),
    "Token Throughput (tokens/sec)": ("throughput.output_tokens", "tokens/s"),
    "Total Output Throughput (tokens/sec)": ("throughput.output_tokens", "tokens/s"),
    "Total Token Throughput (tokens/sec)": ("throughput.total_tokens", "tokens/s"),
    "Per GPU Output Throughput (tps/gpu)": ("throughput.output_tokens_per_gpu", "tokens/s/device"),
    "Per User Output Speed (tps/user)": ("interactivity.mean", "tokens/s/user"),
    _LATENCY: ("duration", "ms"),
    "Average request latency (ms)": ("latency.e2e.mean", "ms"),
    _INPUT: ("tokens.input.mean", "tokens"),
    _OUTPUT: ("tokens.output.mean", "tokens"),
}  # fmt: skip
_BREAKDOWNS = {"Latency": "latency.e2e", "TTFT": "latency.ttft", "TPOT": "latency.tpot"}
_BREAKDOWN = re.compile(r"\[(?P<kind>Latency|TTFT|TPOT)\] (?P<statistic>[A-Z]\w{1,6})")
_STATISTICS = {"MINIMUM": "min", "MAXIMUM": "max", "AVERAGE": "mean"}

_STATED = (
    "Max Runtime Batch Size", "Max Runtime Tokens", "Scheduling Policy", "KV Memory Percentage",
    "Number of concurrent requests", "Quantization", "Dtype",
)  # fmt: skip
_AXES = (
    "model", "model_revision", "engine_version", "weight_dtype", "kv_cache_dtype", "device",
    "device_count", "tensor_parallel", "max_model_len", "input_tokens", "output_tokens",
    "concurrency", "request_rate", "prefix_caching", "speculative_decoding",
)  # fmt: skip

# A rate that no client reaches: all requests were sent at once.
_UNLIMITED_RATE = 10**6


class _Report:
    """The printed lines of one report, by label, and where each stands."""

    def __init__(self, path: str) -> None:
        self.at = Place(path)
        self.lines: dict[str, str] = {}
        self.device: str | None = None
        self._path = path
        self._places: dict[str, Place] = {}

    def take(self, number: int, line: str) -> None:
        """Keep a line that has a label; the first of each label counts."""
        if found := _LINE.match(line):
            if found["label"] not in self.lines:
                self.lines[found["label"]] = found["value"].rstrip()
                self._places[found["label"]] = Place(self._path, number, found.start("value") + 1)
        elif found := _MACHINE.match(line):
            self.device = found["device"]

    def place(self, document: int = 0, keys: Keys = ()) -> Place:
        """Where the line of a label stands, or the report where there is none."""
        del document  # a report is one
        return self._places.get(str(keys[0]), self.at) if keys else self.at


def recognise(content: Content) -> bool:
    """Text with the heading of the report's figures."""
    return (
        is_text(content)
        and "= PERFORMANCE OVERVIEW" in content.text
        and any(_OVERVIEW.match(line) for _, line in lines_of(content))
    )


def read(content: Content) -> Reading:
    """One row a report."""
    reports: list[_Report] = []
    latest = _Report(content.path)
    for number, line in lines_of(content):
        if _FIRST.match(line):
            latest = _Report(content.path)
        elif _OVERVIEW.match(line):
            if latest in reports:
                latest = _Report(content.path)
            latest.at = Place(content.path, number)
            reports.append(latest)
        else:
            latest.take(number, line)
    cases = [
        f"report {number}" if len(reports) > 1 else None for number in range(1, len(reports) + 1)
    ]
    rows = tuple(_row(report, case) for report, case in zip(reports, cases, strict=True))
    versions = {row.envelope.get("engine_version") for row in rows}
    version = versions.pop() if len(versions) == 1 else None
    return Reading(rows, version if isinstance(version, str) else None)


def _row(report: _Report, case: str | None) -> Row:
    record: dict[str, Json] = {
        label: scalar(text)
        for label, text in report.lines.items()
        if label in (*_FIGURES, _REQUESTS) or _BREAKDOWN.fullmatch(label)
    }
    draft = PrintedRow(report, 0, (), record, case)
    sent = draft.count(_REQUESTS)
    draft.report("requests.attempted", "requests", _REQUESTS)
    for label, (name, unit) in _FIGURES.items():
        draft.report(name, unit, label)
    _read_breakdowns(draft, sent)
    if _LATENCY not in record or sent is None:
        draft.find(
            NOT_MEASURED,
            "the report ends before it says how many requests took how long",
            "add the whole log, to the end of the report",
        )
    else:
        _hold_together(draft, sent)
    _read_envelope(draft, report)
    if sent:
        draft.samples.setdefault("latency.e2e", sent)
    not_stated = tuple(axis for axis in _AXES if axis not in draft.envelope)
    return draft.finish(not_stated, Requests(sent, None, sent))


def _read_breakdowns(draft: PrintedRow, sent: int | None) -> None:
    for label in draft.record:
        if found := _BREAKDOWN.fullmatch(label):
            name = _BREAKDOWNS[found["kind"]]
            statistic = _STATISTICS.get(found["statistic"], found["statistic"].lower())
            if statistic in _STATISTICS.values() or re.fullmatch(r"p\d{1,2}", statistic):
                draft.report(f"{name}.{statistic}", "ms", label)
            if sent:
                draft.samples[name] = sent


def _hold_together(draft: PrintedRow, sent: int) -> None:
    """Rates times the whole time are the requests and tokens that the report counts."""
    amounts: dict[str, tuple[Fraction, Fraction]] = {_RATE: (Fraction(sent), Fraction(0))}
    tokens = {label: draft.number(label) for label in (_INPUT, _OUTPUT)}
    output, both = tokens[_OUTPUT], list(tokens.values())
    if output is not None:
        whole = sent * Fraction(output), sent * draft.rounding_of(output)
        amounts["Token Throughput (tokens/sec)"] = whole
        amounts["Total Output Throughput (tokens/sec)"] = whole
    known = [each for each in both if each is not None]
    if len(known) == len(both):
        amounts["Total Token Throughput (tokens/sec)"] = (
            sent * sum(map(Fraction, known), Fraction(0)),
            sent * sum(map(draft.rounding_of, known), Fraction(0)),
        )
    for label, (amount, slack) in amounts.items():
        draft.hold_rate(label, amount, _LATENCY, Fraction(1000), slack)


def _read_envelope(draft: PrintedRow, report: _Report) -> None:
    lines = report.lines
    draft.envelope["engine"] = "TensorRT-LLM"
    version = lines.get("TensorRT-LLM Version") or lines.get("TensorRT LLM Version")
    for axis, text in (
        ("model", lines.get("Model")), ("engine_version", version),
        ("weight_dtype", _weight_dtype(lines)), ("kv_cache_dtype", _dtype(lines, "KV Cache Dtype")),
        ("device", report.device),
    ):  # fmt: skip
        if text is not None:
            draft.envelope[axis] = text
    _read_parallelism(draft, lines)
    limit = whole(lines.get("Max Sequence Length"))
    if limit is not None:
        draft.envelope["max_model_len"] = limit
    _read_rate(draft, scalar(lines.get("Issue Rate (req/sec)", "").replace("E+", "e")))
    for label in _STATED:
        if label in lines:
            draft.stated[label.lower().replace(" ", "_")] = lines[label]
    for axis, label in (("input_tokens", _INPUT), ("output_tokens", _OUTPUT)):
        mean = draft.number(label)
        if mean is not None:
            varies = mean != int(mean)
            draft.means[axis] = Mean(Fraction(mean), varies)
            ending = "so lengths varied" if varies else "and no single length is stated"
            draft.stated[axis] = f"{format_number(Fraction(mean))} is the mean, {ending}"


def _read_parallelism(draft: PrintedRow, lines: Mapping[str, str]) -> None:
    tensor, pipeline = whole(lines.get("TP Size")), whole(lines.get("PP Size"))
    if tensor is not None:
        draft.envelope["tensor_parallel"] = tensor
        if pipeline is not None:
            draft.envelope["device_count"] = tensor * pipeline
            draft.stated["pipeline_parallel"] = str(pipeline)


def _read_rate(draft: PrintedRow, rate: Json) -> None:
    if isinstance(rate, bool) or not isinstance(rate, int | Decimal):
        return
    if rate >= _UNLIMITED_RATE:
        draft.stated["request_rate"] = "unlimited: all requests were sent at once"
    elif rate > 0:
        text = f"{format_number(Fraction(rate))}/s, as the requests were issued"
        draft.stated["request_rate"] = text


def _weight_dtype(lines: Mapping[str, str]) -> str | None:
    """What the weights are stored in: the quantisation, or the dtype where there is none."""
    quantised = lines.get("Quantization")
    if quantised is None:
        return None
    return quantised.lower() if quantised not in ("None", "NO_QUANT") else _dtype(lines, "Dtype")


def _dtype(lines: Mapping[str, str], label: str) -> str | None:
    text = lines.get(label)
    if text is None or text == "None":
        return None
    return DTYPES.get(text, text.lower())
