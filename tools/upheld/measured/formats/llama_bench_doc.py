"""A document that shows several of llama-bench's output formats: each in a block of its own.

Tables, CSV, JSON and JSON Lines are read; SQL holds what CSV holds and is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from upheld.measured import llama_bench, llama_bench_tables
from upheld.measured.content import Content
from upheld.measured.engine_log import is_text
from upheld.measured.formats import llama_bench_csv, llama_bench_json, llama_bench_jsonl
from upheld.measured.reading import Reading
from upheld.measured.tables import markdown_tables
from upheld.records.finding import Finding

NAME = "llama-bench-doc"
TOOL = llama_bench.TOOL
TITLE = "llama-bench: a document with several of its outputs"

_FENCE = re.compile(r"^```.*$\n(?P<block>(?:(?!```).*\n)*)^```\s*$", re.MULTILINE)
_OTHER_OUTPUT = re.compile(r'^\s*(?:build_commit,|\{?\s*"build_commit":)', re.MULTILINE)


def recognise(content: Content) -> bool:
    """Text with a table of llama-bench, and another of its outputs in a fenced block."""
    return (
        is_text(content)
        and "```" in content.text
        and _OTHER_OUTPUT.search(content.text) is not None
        and llama_bench_tables.has_tests(content)
    )


def read(content: Content) -> Reading:
    """One row a test, tables first, then the blocks in their order."""
    tables = tuple(markdown_tables(content))
    rows = list(llama_bench_tables.rows_of(tables, llama_bench_tables.Around.of(content)))
    findings: list[Finding] = [finding for table in tables for finding in table.findings]
    for block in _blocks(content):
        reading = _read_block(block)
        rows += reading.rows
        findings += reading.findings
    return Reading(tuple(rows), llama_bench.one_version(rows), tuple(findings))


def _blocks(content: Content) -> Iterator[Content]:
    """Each fenced block with an output, on the lines where it stands in the document."""
    for found in _FENCE.finditer(content.text):
        if _OTHER_OUTPUT.search(found["block"]):
            above = "\n" * content.text.count("\n", 0, found.start("block"))
            yield Content(content.path, (above + found["block"]).encode("utf-8"))


def _read_block(block: Content) -> Reading:
    if llama_bench_json.recognise(block) or llama_bench_jsonl.recognise(block):
        return llama_bench.read_documents(block)
    if llama_bench_csv.recognise(block):
        return llama_bench_csv.read(block)
    return Reading((), findings=() if block.refusal is None else (block.refusal,))
