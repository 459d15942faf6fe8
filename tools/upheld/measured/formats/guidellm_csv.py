"""GuideLLM: the CSV of a run, one row a benchmark, in full precision.

Three rows of headers name group, field and statistic; a column with percentiles holds a list of
them between minimum and maximum (guidellm 0.8.1, benchmark/outputs/csv.py). A status without a
value has no columns. Single requests are not in it. The strategy is told in words, and a rate in
these has two digits only, so it is no axis.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from upheld.corpus.strict_json import Json, JsonRefusedError, parse
from upheld.measured.content import NOT_READABLE, Content
from upheld.measured.draft import RowDraft
from upheld.measured.formats import guidellm
from upheld.measured.printed_block import Labels
from upheld.measured.reading import Reading, Row
from upheld.records.finding import Finding, Place

NAME = "guidellm-csv"
TOOL = "GuideLLM"
TITLE = "GuideLLM: benchmarks of a run, CSV"

_HEADERS = 3
_METRICS = {
    ("Request Latency", "Successful Sec"): "request_latency",
    ("Time to First Token", "Successful ms"): "time_to_first_token_ms",
    ("Time per Output Token", "Successful ms"): "time_per_output_token_ms",
    ("Inter Token Latency", "Successful ms"): "inter_token_latency_ms",
    ("Server Throughput", "Successful Requests/Sec"): "requests_per_second",
    ("Server Throughput", "Successful Concurrency"): "request_concurrency",
    ("Token Metrics", "Successful Input Tokens"): "prompt_token_count",
    ("Token Metrics", "Successful Output Tokens"): "output_token_count",
    ("Token Throughput", "Successful Input Tokens/Sec"): "prompt_tokens_per_second",
    ("Token Throughput", "Successful Output Tokens/Sec"): "output_tokens_per_second",
    ("Token Throughput", "Successful Total Tokens/Sec"): "tokens_per_second",
}
_STATISTICS = {"Mean": "mean", "Median": "median", "Std Dev": "std_dev"}
_LISTED = ("p001", "p01", "p05", "p10", "p25", "p75", "p90", "p95", "p99")


def recognise(content: Content) -> bool:
    """A first line of groups of columns that begins as the tool begins it."""
    first = content.text[:20_000].split("\n", 1)[0]
    return first.startswith("Run Info,") and ",Request Counts," in first


def read(content: Content) -> Reading:
    """One row a benchmark; none of a table that was cut."""
    benchmarks: list[tuple[list[str], Place]] = []
    findings: list[Finding] = []
    reader = csv.reader(io.StringIO(content.text, newline=""))
    headers: list[list[str]] = []
    try:
        for number, cells in enumerate(reader):
            place = Place(content.path, reader.line_num, 1)
            if number < _HEADERS:
                headers.append(cells)
            elif len({len(each) for each in (*headers, cells)}) > 1:
                findings.append(_cut(place, "a row has another number of cells than its headers"))
            else:
                benchmarks.append((cells, place))
    except csv.Error as error:
        findings.append(_cut(Place(content.path, reader.line_num, 1), str(error)))
    if not content.text.endswith("\n"):
        findings.append(_cut(Place(content.path, reader.line_num, 1), "its last line has no end"))
    if findings or not benchmarks:
        findings = findings or [_cut(Place(content.path, 1, 1), "it has no benchmark")]
        return Reading((), findings=tuple(findings))
    rows: list[Row] = []
    for number, (cells, place) in enumerate(benchmarks, start=1):
        case = f"benchmark {number}" if len(benchmarks) > 1 else None
        rows.append(_read(headers, cells, place, case))
    return Reading(tuple(rows))


def _read(
    headers: Sequence[Sequence[str]], cells: Sequence[str], place: Place, case: str | None
) -> Row:
    columns = dict(zip(zip(*headers, strict=True), cells, strict=True))
    places = Labels(place, {})
    whole = RowDraft(
        places,
        0,
        (),
        {
            "metadata": _json(columns.get(("Runtime Info", "Metadata", ""))),
            "config": _json(columns.get(("Runtime Info", "Arguments", ""))),
        },
    )
    return guidellm.read_benchmark(RowDraft(places, 0, (), _record(columns), case), whole)


def _record(columns: dict[tuple[str, ...], str]) -> dict[str, Json]:
    """The benchmark as the JSON report has it, as far as the columns go."""
    metrics: dict[str, Json] = {
        "request_totals": {
            status: _json(columns.get(("Request Counts", status.capitalize(), "")))
            for status in ("successful", "incomplete", "errored", "total")
        }
    }
    for (group, field), key in _METRICS.items():
        summary: dict[str, Json] = {
            name: _json(columns.get((group, field, title))) for title, name in _STATISTICS.items()
        }
        listed = _json(columns.get((group, field, "Percentiles")))
        if isinstance(listed, list) and len(listed) == len(_LISTED) + 2:
            summary["min"], summary["max"] = listed[0], listed[-1]
            summary["percentiles"] = dict(zip(_LISTED, listed[1:-1], strict=True))
        metrics[key] = {"successful": summary}
    kind, _, amount = columns.get(("Benchmark", "Strategy", ""), "").partition("@")
    strategy: dict[str, Json] = {"type_": f"{kind}@{amount}" if amount else kind}
    if kind == "concurrent":
        strategy = {"type_": kind, "streams": _json(amount)}
    return {
        "metrics": metrics,
        "duration": _json(columns.get(("Timings", "Duration", "Sec"))),
        "scheduler_metrics": {},
        "config": {
            "strategy": strategy, "backend": _json(columns.get(("Run Info", "Backend", ""))),
        },
    }  # fmt: skip


def _json(cell: str | None) -> Json:
    """A cell as a value: most are numbers or JSON; others stay text, and an empty one is none."""
    if not cell:
        return None
    try:
        return parse(cell)[0].value
    except (JsonRefusedError, IndexError):
        return cell


def _cut(place: Place, why: str) -> Finding:
    return Finding(
        NOT_READABLE,
        place,
        f"the table was cut or edited: {why}",
        "add the file as the tool wrote it, complete",
    )
