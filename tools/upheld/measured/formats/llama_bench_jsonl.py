"""llama-bench `-o jsonl`: one test a line."""

from __future__ import annotations

from upheld.measured import llama_bench
from upheld.measured.content import Content

NAME = "llama-bench-jsonl"
TOOL = llama_bench.TOOL
TITLE = "llama-bench: tests, JSON Lines"

read = llama_bench.read_documents


def recognise(content: Content) -> bool:
    """Objects, one or several, each a test."""
    return bool(content.documents) and all(
        llama_bench.is_test(each.value) for each in content.documents
    )
