"""The logs are written by hand in TensorRT-LLM's form; their numbers describe no engine."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from upheld.measured.read import read_file
from upheld.measured.reading import FileReading

Read = Callable[[str], FileReading]

# The C++ runtime on two ranks, which print one after the other.
RUNTIME = """\
[TensorRT-LLM] TensorRT-LLM version: 0.16.0
[TensorRT-LLM][INFO] MPI size: 2, MPI local size: 2, rank: 0
[TensorRT-LLM][INFO] MPI size: 2, MPI local size: 2, rank: 1
[TensorRT-LLM][INFO] TRTGptModel maxNumSequences: 2048
[TensorRT-LLM][INFO] TRTGptModel maxSequenceLen: 25000
[TensorRT-LLM][INFO] KV cache block reuse is disabled
[TensorRT-LLM][INFO] Memory usage when calculating max tokens in paged kv cache: total: 79.10 GiB, available: 57.87 GiB
[TensorRT-LLM][INFO] Memory usage when calculating max tokens in paged kv cache: total: 79.10 GiB, available: 61.41 GiB
[TensorRT-LLM][INFO] Number of blocks in KV cache primary pool: 13334
[TensorRT-LLM][INFO] Number of blocks in KV cache primary pool: 13334
[TensorRT-LLM][INFO] Number of tokens per block: 64.
[TensorRT-LLM][INFO] [MemUsageChange] Allocated 52.09 GiB for max tokens in paged KV cache (853376).
[TensorRT-LLM][INFO] [MemUsageChange] Allocated 52.09 GiB for max tokens in paged KV cache (853376).
"""  # noqa: E501


def read_text(text: str) -> FileReading:
    return read_file("engine.log", text.encode())


def test_the_last_pool_counts_since_the_first_is_for_measuring(read: Read) -> None:
    reading = read("tensorrt-llm-startup.log")
    assert (reading.format, reading.tool_version) == ("tensorrt-llm-startup-log", "1.2.1")
    (row,) = reading.rows
    weights, tokens, of_a_token = row.figures
    assert (weights.name, weights.value, weights.unit) == (
        "memory.weights",
        Fraction("14.96"),
        "GiB",
    )
    assert (tokens.name, tokens.value) == ("capacity.tokens", 220480)
    assert tokens.note == "the last of 2 pools that the log allots"
    assert abs(of_a_token.value - 131072) <= of_a_token.rounding < 25
    assert row.envelope == {
        "engine": "TensorRT-LLM",
        "engine_version": "1.2.1",
        "max_model_len": 131072,
    }
    assert row.stated["kv_cache_pool"] == "220,480 tokens in 26.91 GiB"
    assert reading.all_findings == ()


def test_ranks_of_the_runtime_follow_the_one_with_the_least_memory() -> None:
    (row,) = read_text(RUNTIME).rows
    assert row.envelope == {
        "engine": "TensorRT-LLM",
        "engine_version": "0.16.0",
        "device_count": 2,
        "max_model_len": 25000,
        "prefix_caching": False,
    }
    assert row.stated["available_memory"] == "57.87 GiB"
    assert "tensor_parallel" in row.not_stated


def test_early_versions_print_bytes_and_tokens_on_lines_of_their_own() -> None:
    (row,) = read_text(
        "[TensorRT-LLM][INFO] Allocate 69524783104 bytes for k/v cache. \n"
        "[TensorRT-LLM][INFO] Using 132608 tokens in paged KV cache.\n"
    ).rows
    of_a_token = row.figure("memory.kv_cache_per_token")
    assert of_a_token is not None
    assert (of_a_token.value, of_a_token.rounding) == (524288, 0)


def test_a_pool_that_windows_share_says_nothing_of_a_token() -> None:
    (row,) = read_text(
        "[TensorRT-LLM][INFO] Number of blocks in KV cache primary pool for windowSize 512: 100\n"
        "[TensorRT-LLM][INFO] Number of blocks in KV cache primary pool for windowSize 8192: 90\n"
        "[TensorRT-LLM][INFO] [MemUsageChange] Allocated 1.00 GiB for max tokens in paged KV cache "
        "(5760).\n"
    ).rows
    assert [each.name for each in row.figures] == ["capacity.tokens"]


def test_a_log_cut_before_the_cache_says_so() -> None:
    (finding,) = read_text(
        "[03/01/2026-10:14:32] [TRT-LLM] [I] Use 14.96 GB for model weights.\n"
    ).all_findings
    assert (finding.rule, finding.severity) == ("UPH504", "warning")


@pytest.mark.parametrize(
    "text",
    [
        "Allocated 26.91 GiB for max tokens in paged KV cache (220480).",
        "[TensorRT-LLM][INFO] Number of tokens per block: 64.",
    ],
)
def test_a_quoted_line_is_no_log(text: str) -> None:
    assert read_text(text).format == "unknown"


def test_the_log_of_a_benchmark_is_its_report() -> None:
    assert read_text(RUNTIME + "= PERFORMANCE OVERVIEW\n").format == "trtllm-bench"


@pytest.mark.corpus
def test_public_logs_above_a_benchmark_are_read(corpora: Path) -> None:
    files = sorted((corpora / "benchmark-files" / "trtllm-bench").glob("*.txt"))
    assert files
    for file in files:
        log = file.read_text(encoding="utf-8").partition("= ENGINE DETAILS")[0]
        (row,) = read_text(log).rows
        of_a_token = row.figure("memory.kv_cache_per_token")
        assert of_a_token is not None
        # 80 layers, one KV head of 128 on each of 8 ranks, 8 bits.
        assert abs(of_a_token.value - 20480) <= of_a_token.rounding < 3
