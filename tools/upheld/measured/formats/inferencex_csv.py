"""InferenceX: operating points exported to CSV, one a line.

Headers say "(ms)" over times that are seconds; which they are is told by the interactivity beside
them, never by the header.
"""

from __future__ import annotations

from upheld.corpus.strict_json import Keys
from upheld.measured import inferencex
from upheld.measured.content import Content
from upheld.measured.draft import RowDraft
from upheld.measured.reading import Reading, Row
from upheld.measured.tables import TableRow, csv_header, csv_table
from upheld.records.finding import Place

NAME = "inferencex-csv"
TOOL = "InferenceX"
TITLE = "InferenceX: operating points, CSV"

_FACTS = {
    "Model": "model", "ISL": "isl", "OSL": "osl", "Hardware": "hw", "Framework": "framework",
    "Precision": "precision", "TP": "tp", "Concurrency": "conc", "Date": "date", "EP": "ep",
    "Disaggregated": "disagg", "Num Prefill GPUs": "num_prefill_gpu",
    "Num Decode GPUs": "num_decode_gpu", "Spec Decoding": "spec_decoding",
    "DP Attention": "dp_attention", "Is Multinode": "is_multinode",
    "Throughput/GPU (tok/s)": "tput_per_gpu",
    "Output Throughput/GPU (tok/s)": "output_tput_per_gpu",
    "Input Throughput/GPU (tok/s)": "input_tput_per_gpu",
}  # fmt: skip
_STATISTICS = {"Mean": "mean", "Median": "median", "P90": "p90", "P99": "p99", "Std": "std"}
_MEASURED = {
    "TTFT (ms)": "ttft", "TPOT (ms)": "tpot", "ITL (ms)": "itl", "E2E Latency (ms)": "e2el",
    "Interactivity (tok/s/user)": "intvty",
}  # fmt: skip
_COLUMNS = _FACTS | {
    f"{statistic} {measured}": f"{short}_{key}"
    for statistic, short in _STATISTICS.items()
    for measured, key in _MEASURED.items()
}
_TEXT = {"model", "hw", "framework", "precision", "date", "spec_decoding", "disagg",
         "dp_attention", "is_multinode"}  # fmt: skip
_UNIT_NOTE = "the header says ms, but interactivity shows that the times are seconds"


class _Point:
    """A line of the table by the keys of the JSON form."""

    def __init__(self, row: TableRow) -> None:
        names = {_COLUMNS.get(name, name): cell for name, cell in row.cells.items()}
        self._row = TableRow(row.path, row.line, names)
        self.record = self._row.record(frozenset(names) - _TEXT)

    def place(self, document: int = 0, keys: Keys = ()) -> Place:
        """Where the cell of a key stands."""
        return self._row.place(document, keys)


def recognise(content: Content) -> bool:
    """A CSV header with the columns that an operating point needs."""
    if content.documents or content.refusal is not None:
        return False
    header = csv_header(content)
    return header is not None and {_COLUMNS.get(each) for each in header[1]} >= inferencex.ALWAYS


def read(content: Content) -> Reading:
    """One row an operating point."""
    table = csv_table(content)
    return Reading(tuple(map(_read_line, table.rows)), findings=table.findings)


def _read_line(line: TableRow) -> Row:
    point = _Point(line)
    draft = RowDraft(point, 0, (), point.record)
    facts = [str(draft.get(key)) for key in ("hw", "framework", "precision")]
    lengths = f"{draft.get('isl')}/{draft.get('osl')}"
    draft.case = f"{' '.join(facts)} tp{draft.get('tp')} {lengths} x{draft.get('conc')}"
    row = inferencex.read_point(draft)
    figure = row.figure("latency.tpot.mean")
    if figure is not None and figure.unit == "s":
        draft.stated["unit_of_times"] = _UNIT_NOTE
    return row
