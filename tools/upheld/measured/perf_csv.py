"""The CSV of GenAI-Perf and AIPerf: a table of statistics, one of single values, then GPUs.

Numbers have two digits after the point, and GenAI-Perf writes `"1,146.31"`. A metric's name ends
with its unit in brackets. Tables of GPUs are left alone.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from upheld.corpus.strict_json import Json, Keys
from upheld.measured.content import NOT_READABLE, Content
from upheld.measured.printed_block import Labels, printed_number
from upheld.records.finding import Finding, Place

_TAGS = {
    "time to first token": "time_to_first_token",
    "inter token latency": "inter_token_latency",
    "request latency": "request_latency",
    "input sequence length": "input_sequence_length",
    "output sequence length": "output_sequence_length",
    "total input sequence length": "total_isl",
    "total output sequence length": "total_osl",
    "benchmark duration": "benchmark_duration",
    "effective concurrency": "effective_concurrency",
    "request throughput": "request_throughput",
    "input token throughput": "input_token_throughput",
    "output token throughput": "output_token_throughput",
    "total token throughput": "total_token_throughput",
    "request count": "request_count",
    "error request count": "error_request_count",
    "completed requests (success + error)": "completed_request_count",
}
_COUNTS = {
    "request_count",
    "error_request_count",
    "completed_request_count",
    "total_isl",
    "total_osl",
}
_LONGEST_LINE = 10_000
_NOT_MEASURED = ("", "N/A")


@dataclass(frozen=True, slots=True)
class PerfCsv:
    """What both tables say by tag, as the JSON of the tools has it, and where; or why it is cut."""

    record: dict[str, Json]
    places: Labels
    findings: tuple[Finding, ...]


def header(content: Content) -> list[str]:
    """The columns of the first table, none where the text does not begin with one."""
    first = content.text[:_LONGEST_LINE].split("\n", 1)[0].rstrip("\r")
    columns = first.split(",")
    return columns if columns[:4] == ["Metric", "avg", "min", "max"] else []


def parse(content: Content) -> PerfCsv:
    """Both tables. A table that is cut or edited is a finding."""
    record: dict[str, Json] = {}
    labels: dict[Keys, Place] = {}
    findings: list[Finding] = []
    columns: Sequence[str] = ()
    tables = 0
    for number, line in enumerate(content.text.split("\n"), start=1):
        cells = _cells(line)
        if cells is None:
            findings.append(_cut(Place(content.path, number, 1), "a line that is no CSV"))
        elif not cells:
            columns = ()
        elif not columns:
            columns = cells
            tables += columns[0] == "Metric"
        elif columns[0] == "Metric" and "GPU" not in columns:
            place = Place(content.path, number, 1)
            if len(cells) != len(columns):
                findings.append(_cut(place, f"{len(cells)} cells under {len(columns)} columns"))
            else:
                _take(cells, columns, place, record, labels)
    if not content.text.endswith("\n"):
        findings.append(_cut(Place(content.path, number, 1), "no end of its last line"))
    elif tables < 2:
        findings.append(_cut(Place(content.path, number, 1), "no table of single values"))
    return PerfCsv(record, Labels(Place(content.path, 1, 1), labels), tuple(findings))


def _cells(line: str) -> list[str] | None:
    try:
        return next(csv.reader([line[:_LONGEST_LINE].rstrip("\r")]), [])
    except csv.Error:
        return None


def _take(
    cells: Sequence[str],
    columns: Sequence[str],
    place: Place,
    record: dict[str, Json],
    labels: dict[Keys, Place],
) -> None:
    name, bracket, rest = cells[0].rpartition(" (")
    unit = rest.removesuffix(")") if bracket else ""
    tag = _TAGS.get(cells[0].lower()) or _TAGS.get(name.lower())
    if tag is None or tag in record:
        return
    metric: dict[str, Json] = {"unit": "" if tag in _COUNTS and "token" not in unit else unit}
    for column, cell in zip(columns[1:], cells[1:], strict=True):
        if cell not in _NOT_MEASURED:
            value = printed_number(cell)
            counted = tag in _COUNTS and isinstance(value, Decimal) and value == int(value)
            metric["avg" if column == "Value" else column] = int(value) if counted else value
    record[tag] = metric
    labels[(tag,)] = place


def _cut(place: Place, there: str) -> Finding:
    return Finding(
        NOT_READABLE,
        place,
        f"the table has {there}: it was cut or edited",
        "add the file as the tool wrote it, complete",
    )
