"""The formats that are read: one module a format, listed here and nowhere else.

A format is a module with five names:

- `NAME`: how records and reports call it, such as `vllm-bench-serve`;
- `TOOL`: the tool that writes it;
- `TITLE`: what it is, in a few words;
- `recognise(content)`: whether the content, never the file's name, is of this format;
- `read(content)`: the rows that it holds. Called only where `recognise` said so, and never
  raising: what is wrong with the content is a finding.

Another package adds one through the entry-point group `upheld.formats`; those are asked only
about content that no format here recognises, so that they can't change what a file means.
"""

from __future__ import annotations

from typing import Protocol

from upheld.measured.content import Content
from upheld.measured.formats import (
    llama_cpp_startup_log,
    lmdeploy_startup_log,
    ollama_startup_log,
    pytest_benchmark,
    sglang_startup_log,
    tensorrt_llm_startup_log,
    vllm_bench_serve,
    vllm_startup_log,
    vllm_sweep_summary,
)
from upheld.measured.reading import Reading


class Format(Protocol):
    """What a format module offers."""

    NAME: str
    TOOL: str
    TITLE: str

    def recognise(self, content: Content) -> bool:
        """Whether the content is of this format."""

    def read(self, content: Content) -> Reading:
        """The rows that the content holds."""


FORMATS: dict[str, Format] = {
    "llama-cpp-startup-log": llama_cpp_startup_log,
    "lmdeploy-startup-log": lmdeploy_startup_log,
    "ollama-startup-log": ollama_startup_log,
    "pytest-benchmark": pytest_benchmark,
    "sglang-startup-log": sglang_startup_log,
    "tensorrt-llm-startup-log": tensorrt_llm_startup_log,
    "vllm-bench-serve": vllm_bench_serve,
    "vllm-startup-log": vllm_startup_log,
    "vllm-sweep-summary": vllm_sweep_summary,
}


def plugged_in() -> dict[str, Format]:
    """The formats that other installed packages add."""
    from importlib.metadata import entry_points

    return {point.name: point.load() for point in entry_points(group="upheld.formats")}
