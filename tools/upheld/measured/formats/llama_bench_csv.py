"""llama-bench `-o csv`: one test a line, without the samples behind its means."""

from __future__ import annotations

from upheld.measured import llama_bench
from upheld.measured.content import Content
from upheld.measured.draft import RowDraft
from upheld.measured.reading import Reading
from upheld.measured.tables import csv_header, csv_table

NAME = "llama-bench-csv"
TOOL = llama_bench.TOOL
TITLE = "llama-bench: tests, CSV"

_NUMBERS = {
    "build_number", "n_prompt", "n_gen", "n_depth", "avg_ns", "stddev_ns", "avg_ts", "stddev_ts",
}  # fmt: skip


def recognise(content: Content) -> bool:
    """A header with the columns that every version writes."""
    if content.documents or content.refusal is not None:
        return False
    header = csv_header(content)
    return header is not None and set(header[1]) >= llama_bench.ALWAYS


def read(content: Content) -> Reading:
    """One row a test."""
    table = csv_table(content)
    rows = tuple(
        llama_bench.read_test(RowDraft(row, 0, (), row.record(_NUMBERS))) for row in table.rows
    )
    return Reading(rows, llama_bench.one_version(rows), table.findings)
