"""The logs are written by hand in vLLM's form; their numbers describe no engine."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from upheld.measured.read import read_file
from upheld.measured.reading import FileReading, Row

LOGS = Path(__file__).parents[2] / "corpora" / "benchmarks"

Read = Callable[[str], FileReading]


def text_of(name: str) -> str:
    return (LOGS / name).read_text(encoding="utf-8")


def read_text(text: str) -> FileReading:
    return read_file("engine.log", text.encode())


def figures(row: Row) -> dict[str, tuple[Fraction, str]]:
    return {each.name: (each.value, each.unit) for each in row.figures}


def test_of_several_ranks_the_one_that_limits_is_taken(read: Read) -> None:
    reading = read("vllm-startup-v1.log")
    assert (reading.format, reading.tool_version) == ("vllm-startup-log", "0.8.5")
    (row,) = reading.rows
    assert figures(row) == {
        "memory.weights": (Fraction("7.5126"), "GiB"),
        "capacity.tokens": (Fraction(1034544), "tokens"),
        "capacity.sequences": (Fraction(126), "sequences"),
    }
    assert {each.origin for each in row.figures} == {"reported"}
    assert [each.note for each in row.figures] == [
        "the most of 2 that ranks or engines print",
        "the fewest of 2 that ranks or engines print",
        "whole ones of 126.29 that the log prints",
    ]
    assert [each.rounding for each in row.figures] == [Fraction("0.00005"), 0, 0]
    assert row.stated["weights_of_each_rank"] == "7.5123, 7.5126 GiB"
    assert reading.all_findings == ()


def test_the_settings_of_the_engine_are_the_envelope(read: Read) -> None:
    (row,) = read("vllm-startup-v1.log").rows
    assert row.envelope == {
        "engine": "vLLM",
        "engine_version": "0.8.5",
        "model": "example-org/example-8b",
        "weight_dtype": "bf16",
        "kv_cache_dtype": "bf16",
        "tensor_parallel": 2,
        "device_count": 2,
        "max_model_len": 8192,
        "prefix_caching": True,
        "speculative_decoding": "none",
    }
    assert row.not_stated == ("model_revision", "device")


def test_a_quantised_model_leaves_the_weight_dtype_open(read: Read) -> None:
    (row,) = read("vllm-startup-v0.log").rows
    assert "weight_dtype" in row.not_stated
    assert row.stated["quantization"] == "awq"
    assert row.envelope["kv_cache_dtype"] == "fp8"
    assert row.envelope["prefix_caching"] is False


def test_older_lines_say_gb_and_mean_gib_and_blocks_are_no_tokens(read: Read) -> None:
    (row,) = read("vllm-startup-v0.log").rows
    assert figures(row)["memory.weights"] == (Fraction("37.0612"), "GiB")
    assert "capacity.tokens" not in figures(row)
    assert row.stated["gpu_blocks"] == "2,764"


def test_two_times_over_may_be_a_little_less_than_two_sequences() -> None:
    (row,) = read_text(text_of("vllm-startup-v0.log").replace("2.21x", "2.00x")).rows
    sequences = row.figure("capacity.sequences")
    assert sequences is not None
    assert (sequences.value, sequences.rounding) == (2, 1)


def test_an_engine_that_could_not_start_is_an_error(read: Read) -> None:
    (finding,) = read("vllm-startup-too-small.log").all_findings
    assert (finding.rule, finding.severity, finding.place.line) == ("UPH504", "error", 5)
    assert "did not start" in finding.message


def test_a_log_cut_short_says_so() -> None:
    reading = read_text("\n".join(text_of("vllm-startup-v1.log").splitlines()[:4]))
    (finding,) = reading.all_findings
    assert (finding.rule, finding.severity) == ("UPH504", "warning")
    assert "the log ends, or was cut" in finding.message


def test_each_start_is_a_row_of_its_own() -> None:
    reading = read_text(text_of("vllm-startup-v1.log") + text_of("vllm-startup-v0.log"))
    assert [row.case for row in reading.rows] == ["start 1", "start 2"]
    assert [row.envelope["engine_version"] for row in reading.rows] == ["0.8.5", "0.5.4"]
    assert reading.tool_version is None


def test_a_log_that_begins_after_the_start_has_figures_and_no_settings() -> None:
    lines = text_of("vllm-startup-v1.log").splitlines()[2:]
    (row,) = read_text("\n".join(lines)).rows
    assert len(row.figures) == 3
    assert row.envelope == {"engine": "vLLM", "max_model_len": 8192}


def test_colours_and_what_a_container_puts_before_a_line_do_not_matter(read: Read) -> None:
    painted = "\n".join(
        f"\x1b[1;36m2026-03-01T10:00:00Z stderr F {line}\x1b[0;0m"
        for line in text_of("vllm-startup-v1.log").splitlines()
    )
    assert read_text(painted).rows[0].figures == read("vllm-startup-v1.log").rows[0].figures


@pytest.mark.parametrize(
    "text",
    [
        "The engine printed `GPU KV cache size: 1,034,544 tokens` yesterday.",
        "GPU KV cache size: 1,034,544 tokens",
        "INFO 03-01 10:14:40 [__init__.py:239] Automatically detected platform cuda.",
        "INFO 03-01 10:14:40 [a.py:1] GPU KV cache size: " + "9" * 5000 + " tokens",
        "Loading the dishes took 3 GB",
    ],
)
def test_prose_about_a_log_is_no_log(text: str) -> None:
    assert read_text(text).format == "unknown"
