"""llama-bench `-o json`: one array of tests."""

from __future__ import annotations

from upheld.measured import llama_bench
from upheld.measured.content import Content

NAME = "llama-bench-json"
TOOL = llama_bench.TOOL
TITLE = "llama-bench: tests, JSON"

read = llama_bench.read_documents


def recognise(content: Content) -> bool:
    """One array that holds tests and nothing else."""
    if len(content.documents) != 1:
        return False
    tests = content.documents[0].value
    return isinstance(tests, list) and bool(tests) and all(map(llama_bench.is_test, tests))
