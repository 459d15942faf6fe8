"""llama-bench's default output: Markdown tables, as printed, in a log or pasted in a document."""

from __future__ import annotations

from upheld.measured import llama_bench, llama_bench_tables
from upheld.measured.content import Content
from upheld.measured.engine_log import is_text
from upheld.measured.formats import llama_batched_bench, llama_bench_doc
from upheld.measured.reading import Reading
from upheld.measured.tables import markdown_tables

NAME = "llama-bench-md"
TOOL = llama_bench.TOOL
TITLE = "llama-bench: tables, Markdown or a log"


def recognise(content: Content) -> bool:
    """Text with a table of llama-bench, no other output of it, and none of its batched sibling."""
    return (
        is_text(content)
        and llama_bench_tables.has_tests(content)
        and not llama_batched_bench.recognise(content)
        and not llama_bench_doc.recognise(content)
    )


def read(content: Content) -> Reading:
    """One row a test."""
    tables = tuple(markdown_tables(content))
    rows = tuple(llama_bench_tables.rows_of(tables, llama_bench_tables.Around.of(content)))
    findings = tuple(
        finding
        for table in tables
        if llama_bench_tables.is_tests(table)
        for finding in table.findings
    )
    return Reading(rows, llama_bench.one_version(rows), findings)
