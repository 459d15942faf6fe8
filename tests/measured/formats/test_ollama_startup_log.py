"""The logs are written by hand in Ollama's form; their numbers describe no engine."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from upheld.measured.read import read_file
from upheld.measured.reading import FileReading

LOG = Path(__file__).parents[2] / "corpora" / "benchmarks" / "ollama-startup.log"
Read = Callable[[str], FileReading]


def test_the_summary_of_the_committed_load_is_read(read: Read) -> None:
    reading = read("ollama-startup.log")
    assert (reading.format, reading.tool_version) == ("ollama-startup-log", "0.13.4")
    (row,) = reading.rows
    assert [(each.name, each.value, each.unit, each.rounding) for each in row.figures] == [
        ("memory.weights", Fraction("4.3"), "GiB", Fraction("0.05")),
        ("memory.kv_cache", Fraction("1.1"), "GiB", Fraction("0.05")),
    ]
    assert row.figures[0].note == "on CUDA0, of 2 that hold some"
    assert row.stated["model_weights"] == "CUDA0 4.3 GiB, CPU 281.8 MiB"
    assert reading.all_findings == ()


def test_the_cache_is_shared_by_the_slots(read: Read) -> None:
    (row,) = read("ollama-startup.log").rows
    assert row.envelope == {
        "engine": "Ollama",
        "engine_version": "0.13.4",
        "device_count": 1,
        "max_model_len": 8192,
        "kv_cache_dtype": "q8_0",
    }
    assert row.stated["kv_size"] == "16384 tokens"


def test_a_cache_of_no_named_type_has_16_bits() -> None:
    text = LOG.read_text(encoding="utf-8").replace("KvCacheType:q8_0", "KvCacheType:")
    (row,) = read_file("engine.log", text.encode()).rows
    assert row.envelope["kv_cache_dtype"] == "fp16"


def test_each_load_is_a_row_and_a_host_alone_holds_everything() -> None:
    text = LOG.read_text(encoding="utf-8")
    on_host = text.replace("CUDA0", "CPU")
    first, second = read_file("engine.log", (text + on_host).encode()).rows
    assert (first.case, second.case) == ("load 1", "load 2")
    assert "device_count" not in second.envelope
    weights = second.figure("memory.weights")
    assert weights is not None
    assert weights.value == Fraction("4.3")


def test_a_model_that_llama_cpp_serves_is_not_read_here() -> None:
    text = LOG.read_text(encoding="utf-8") + "llama_kv_cache: size =  384.00 MiB\n"
    assert read_file("engine.log", text.encode()).format != "ollama-startup-log"


@pytest.mark.parametrize(
    "text",
    [
        'msg="model weights" device=CUDA0 size="4.3 GiB"',
        'time=2026-03-01T10:14:46.230Z level=DEBUG source=device.go:240 msg="model weights" '
        'device=CUDA0 size="4.3 GiB"',
    ],
)
def test_a_quoted_line_and_a_layout_that_was_tried_are_no_log(text: str) -> None:
    assert read_file("engine.log", text.encode()).format == "unknown"
