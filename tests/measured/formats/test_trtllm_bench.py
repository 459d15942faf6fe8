from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from upheld.measured.read import read_file
from upheld.measured.reading import FileReading

BENCHMARKS = Path(__file__).parents[2] / "corpora" / "benchmarks"
LOG = (BENCHMARKS / "trtllm-bench.log").read_text(encoding="utf-8")

Read = Callable[[str], FileReading]

OLD_REPORT = """\
= ENGINE DETAILS
Model:			example-org/example-70b
TensorRT-LLM Version:	0.16.0
Dtype:			float16
KV Cache Dtype:		None
Quantization:		None
Max Sequence Length:	4096
TP Size:		8
PP Size:		1
Issue Rate (req/sec):	12.5000
= PERFORMANCE OVERVIEW
Number of requests:		100
Average Input Length (tokens):	1024.0000
Average Output Length (tokens):	128.0000
Token Throughput (tokens/sec):	1280.0000
Request Throughput (req/sec):	10.0000
Total Latency (ms):		10000.0000
"""


def rules(reading: FileReading, severity: str = "error") -> list[str]:
    return [each.rule for each in reading.all_findings if each.severity == severity]


def test_the_report_is_one_row(read: Read) -> None:
    reading = read("trtllm-bench.log")
    (row,) = reading.rows
    assert reading.tool_version == "1.2.0"
    figures = {figure.name: (float(figure.value), figure.unit) for figure in row.figures}
    assert figures["throughput.output_tokens"] == (4104.0, "tokens/s")
    assert figures["throughput.total_tokens"] == (36872.0, "tokens/s")
    assert figures["throughput.output_tokens_per_gpu"] == (513.0, "tokens/s/device")
    assert figures["duration"] == (12500.0, "ms")
    assert figures["tokens.output.mean"] == (128.25, "tokens")
    assert figures["latency.ttft.p99"] == (4377.6250, "ms")
    assert figures["latency.e2e.p50"] == (9688.25, "ms")
    assert {figure.origin for figure in row.figures} == {"reported"}
    assert row.samples["latency.ttft"] == 400
    assert rules(reading) == []
    assert rules(reading, "warning") == ["UPH505"]


def test_envelope_is_what_the_report_states(read: Read) -> None:
    (row,) = read("trtllm-bench.log").rows
    assert row.envelope == {
        "engine": "TensorRT-LLM",
        "model": "example-org/example-70b",
        "engine_version": "1.2.0",
        "weight_dtype": "nvfp4",
        "kv_cache_dtype": "fp8",
        "device": "Example Accelerator 80GB",
        "tensor_parallel": 4,
        "device_count": 8,
    }
    assert row.stated["request_rate"].startswith("unlimited")
    assert row.means["output_tokens"].varies
    assert not row.means["input_tokens"].varies


def test_token_throughput_of_0_16_is_of_output_tokens() -> None:
    reading = read_file("a.log", OLD_REPORT.encode())
    (row,) = reading.rows
    figure = row.figure("throughput.output_tokens")
    assert figure is not None
    assert figure.value == 1280
    assert row.figure("throughput.total_tokens") is None
    assert row.envelope["weight_dtype"] == "fp16"
    assert "kv_cache_dtype" in row.not_stated
    assert row.envelope["max_model_len"] == 4096
    assert row.stated["request_rate"].startswith("12.5/s")
    assert rules(reading) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("32.0000", "33.0000"),
        ("4104.0000", "4140.0000"),
        ("36872.0000", "38672.0000"),
        ("12500.0000", "12050.0000"),
        ("requests:             400", "requests:             410"),
        ("128.2500", "182.2500"),
    ],
)
def test_an_edited_number_is_found(old: str, new: str) -> None:
    reading = read_file("a.log", LOG.replace(old, new).encode())
    assert "UPH502" in rules(reading)
    assert all(each.place.line > 39 for each in reading.all_findings if each.rule == "UPH502")


def test_a_report_that_was_cut_says_so() -> None:
    reading = read_file("a.log", LOG[: LOG.index("Total Latency")].encode())
    assert "UPH504" in rules(reading)
    assert reading.rows[0].figure("duration") is None


@pytest.mark.parametrize("junk", ["²", "9" * 250, "-4", "many"])
def test_a_size_that_is_no_count_is_not_stated(junk: str) -> None:
    reading = read_file(
        "a.log", LOG.replace("TP Size:                4", f"TP Size: {junk}").encode()
    )
    assert "tensor_parallel" in reading.rows[0].not_stated


def test_two_reports_are_two_rows() -> None:
    reading = read_file("a.log", (LOG + OLD_REPORT).encode())
    assert [row.case for row in reading.rows] == ["report 1", "report 2"]
    assert [row.envelope["engine_version"] for row in reading.rows] == ["1.2.0", "0.16.0"]
    assert reading.tool_version is None
