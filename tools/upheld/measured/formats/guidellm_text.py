"""GuideLLM: the tables that it prints on the console, one row a benchmark.

One digit after the point is all that is printed, and latencies of whole requests are seconds
(guidellm 0.8.1, benchmark/outputs/console.py), so that a latency below 50 ms is 0.0. Latencies
are of completed requests; rates are of all, those that failed or were still open too. A header's
cell that spans columns is followed by nothing but bars.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from upheld.corpus.strict_json import Json, Keys
from upheld.measured.content import NOT_READABLE, Content
from upheld.measured.distribution import Distribution
from upheld.measured.formats.guidellm import DOUBTS
from upheld.measured.printed_block import Labels, PrintedDraft, printed_number
from upheld.measured.reading import Reading, Requests, Row
from upheld.measured.server_axes import SERVER_AXES
from upheld.records.finding import Finding, Place

NAME = "guidellm-text"
TOOL = "GuideLLM"
TITLE = "GuideLLM: benchmarks of a run, as the console shows them"

# The mark before a title depends on the terminal.
_TITLE = re.compile(r"(?:\S{1,3} )?(?P<title>[A-Z][\w ()]{5,80})")
_TITLES = (
    "Run Summary Info",
    "Request Latency Statistics (Completed Requests)",
    "Server Throughput Statistics (All Requests)",
)
_LATENCIES = {
    ("Request Latency", "Sec"): ("latency.e2e", "s"),
    ("TTFT", "ms"): ("latency.ttft", "ms"),
    ("ITL", "ms"): ("latency.itl", "ms"),
    ("TPOT", "ms"): ("latency.tpot", "ms"),
}
_STATISTICS = {"Mean": "mean", "Mdn": "p50", "p95": "p95"}
_RATES = {
    ("Requests", "Per Sec"): ("throughput.requests", "requests/s"),
    ("Input Tokens", "Per Sec"): ("throughput.input_tokens", "tokens/s"),
    ("Output Tokens", "Per Sec"): ("throughput.output_tokens", "tokens/s"),
    ("Total Tokens", "Per Sec"): ("throughput.total_tokens", "tokens/s"),
    ("Requests", "Concurrency"): ("concurrency.mean", "requests"),
}
_OF_ALL = "it is of all requests, those that failed or were still open too"
_NOT_STATED = ("model", *SERVER_AXES, "input_tokens", "output_tokens", "request_rate")


@dataclass(slots=True)
class _Table:
    """A table: its rules, header lines by column, and rows with the lines that they stand on."""

    place: Place
    headers: list[list[str]] = field(default_factory=list)
    rows: list[tuple[int, list[str]]] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        """Whether the last rule is there and every row has a cell for each column."""
        ends = len(self.rules) == 3 and self.rules[0] == self.rules[2]
        return ends and {len(cells) for _, cells in self.rows} == {len(self.columns)}

    @property
    def columns(self) -> list[tuple[str, ...]]:
        """Group, name and statistic of each column."""
        filled = []
        for cells in self.headers:
            line: list[str] = []
            for cell in cells:
                line.append(cell.strip() if cell or not line else line[-1])
            filled.append(line)
        return list(zip(*filled, strict=False))


def recognise(content: Content) -> bool:
    """Text with the titles of the tables that are read."""
    return not content.documents and all(title in content.text for title in _TITLES)


def read(content: Content) -> Reading:
    """One row a benchmark, in the order of the tables; none where one of them was cut."""
    tables = dict(_tables(content))
    cut = [title for title in _TITLES if title not in tables or not tables[title].whole]
    counts = {len(table.rows) for table in tables.values()}
    if cut or len(counts) != 1:
        at = tables[cut[0]].place if cut and cut[0] in tables else Place(content.path, 1, 1)
        what = f"the table {cut[0]!r} has no end" if cut else "the tables differ in length"
        finding = Finding(
            NOT_READABLE,
            at,
            f"{what}: it was cut or edited",
            "add the output as the tool wrote it, complete",
        )
        return Reading((), findings=(finding,))
    rows: list[Row] = []
    (benchmarks,) = counts
    for index in range(benchmarks):
        case = f"benchmark {index + 1}" if benchmarks > 1 else None
        rows.append(_read(_draft(content, tables, index, case)))
    return Reading(tuple(rows))


def _tables(content: Content) -> Iterator[tuple[str, _Table]]:
    title, table = "", None
    for number, line in enumerate(content.text.split("\n"), start=1):
        text = line.rstrip()
        if not text.startswith("|"):
            if table is not None and title in _TITLES:
                yield title, table
            match = _TITLE.match(text)
            title, table = (match["title"].strip() if match else ""), None
            continue
        table = table or _Table(Place(content.path, number, 1))
        cells = text.strip("\r").removeprefix("|").removesuffix("|").split("|")
        if set(text) <= {"|", "=", "-"}:
            table.rules.append(text)
        elif len(table.rules) == 1:
            table.headers.append(cells)
        else:
            table.rows.append((number, [cell.strip() for cell in cells]))
    if table is not None and title in _TITLES:
        yield title, table


def _draft(
    content: Content, tables: dict[str, _Table], index: int, case: str | None
) -> PrintedDraft:
    """The cells of a benchmark's row in each table: `record[table][group, name, statistic]`."""
    record: dict[str, Json] = {}
    labels: dict[Keys, Place] = {}
    for title in _TITLES:
        table = tables[title]
        number, cells = table.rows[index]
        labels[title,] = Place(content.path, number, 1)
        record[title] = {
            " ".join(column): _number(cell)
            for column, cell in zip(table.columns, cells, strict=True)
        }
    number, _ = tables[_TITLES[0]].rows[index]
    return PrintedDraft(Labels(Place(content.path, number, 1), labels), record, case)


def _number(cell: str) -> Json:
    """`35.3 ± 3.8` and `54.1*` are numbers too: margin and mark are left aside."""
    if cell in ("", "--"):
        return None
    return printed_number(cell.partition(" ±")[0].rstrip("*"))


def _read(draft: PrintedDraft) -> Row:
    summary, latencies, rates = _TITLES
    draft.report("requests.completed", "requests", summary, "Requests Comp Tot")
    draft.report("requests.failed", "requests", summary, "Requests Err Tot")
    completed = draft.count(summary, "Requests Comp Tot")
    failed, still_open = (
        draft.count(summary, f"Requests {status} Tot") for status in ("Err", "Inc")
    )
    draft.report("duration", "s", summary, "Timings Dur Sec")
    for (group, name), (metric, unit) in _RATES.items():
        keys = (rates, f"{group} {name} Mean")
        if completed and draft.get(*keys) is not None:
            draft.report(metric, unit, *keys)
            if metric != "concurrency.mean" and (failed or still_open):
                draft.doubts[metric] = _OF_ALL
    for (group, name), (metric, unit) in _LATENCIES.items():
        statistics: dict[str, Keys] = {
            statistic: (latencies, f"{group} {name} {title}")
            for title, statistic in _STATISTICS.items()
            if draft.get(latencies, f"{group} {name} {title}") is not None
        }
        if statistics and completed:
            _read_latency(draft, Distribution(metric, unit, statistics), completed)
    parts = (completed, failed, still_open)
    attempted = None if None in parts else sum(part or 0 for part in parts)
    if still_open:
        draft.stated["requests_open_at_the_end"] = f"{still_open:,} of {attempted or 0:,}"
    return _finish(draft, Requests(completed, failed, attempted))


def _read_latency(draft: PrintedDraft, distribution: Distribution, completed: int) -> None:
    if distribution.refuse_zero(draft):
        return
    if distribution.name in DOUBTS:
        draft.doubts[distribution.name] = DOUBTS[distribution.name]
    draft.samples[distribution.name] = completed
    distribution.report(draft, "printed with one digit after the point")
    distribution.refuse_impossible(draft)


def _finish(draft: PrintedDraft, requests: Requests) -> Row:
    open_axes: Sequence[str] = _NOT_STATED
    strategy = draft.text(_TITLES[0], "Benchmark Strategy ")
    kind, _, amount = (strategy or "").partition("@")
    if strategy is not None:
        draft.stated["strategy"] = strategy
    if kind == "synchronous":
        draft.envelope["concurrency"] = 1
    elif kind == "concurrent" and amount.isdecimal() and len(amount) < 9:
        draft.envelope["concurrency"] = int(amount)
    else:
        open_axes = ("concurrency", *_NOT_STATED)
    return draft.finish(tuple(open_axes), requests)
