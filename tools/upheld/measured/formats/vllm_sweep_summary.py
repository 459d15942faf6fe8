"""vLLM `bench sweep`: an array of `bench serve` results, one run after another."""

from __future__ import annotations

from upheld.measured.content import Content
from upheld.measured.formats import vllm_bench_serve

NAME = "vllm-sweep-summary"
TOOL = "vLLM bench sweep"
TITLE = "vLLM bench sweep: summary, JSON"

read = vllm_bench_serve.read


def recognise(content: Content) -> bool:
    """One array that holds `bench serve` results and nothing else."""
    if len(content.documents) != 1:
        return False
    runs = content.documents[0].value
    return isinstance(runs, list) and bool(runs) and all(map(vllm_bench_serve.is_result, runs))
