from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
import yaml

from upheld.measured.read import read_file
from upheld.measured.reading import FileReading

BENCHMARKS = Path(__file__).parents[2] / "corpora" / "benchmarks"
REPORT = (BENCHMARKS / "llmd-benchmark-report.yaml").read_text(encoding="utf-8")

Read = Callable[[str], FileReading]


def rules(reading: FileReading, severity: str = "error") -> list[str]:
    return [each.rule for each in reading.all_findings if each.severity == severity]


def test_each_distribution_has_its_own_unit(read: Read) -> None:
    reading = read("llmd-benchmark-report.yaml")
    assert (reading.format, reading.tool_version) == ("llmd-benchmark-report", "0.1")
    (row,) = reading.rows
    figures = {figure.name: (float(figure.value), figure.unit) for figure in row.figures}
    assert figures["latency.e2e.mean"] == (900.5, "ms")
    assert figures["latency.e2e.p99.9"] == (1190.5, "ms")
    assert figures["latency.ttft.p50"] == (0.06, "s")
    assert figures["latency.tpot.std"] == (1.5, "ms")
    assert figures["throughput.requests"] == (2.0, "requests/s")
    assert row.requests is not None
    assert (row.requests.completed, row.requests.failed, row.requests.attempted) == (120, 5, 128)


def test_version_0_2_keeps_a_stack_and_rates_with_units(read: Read) -> None:
    reading = read("llmd-benchmark-report-0.2.yaml")
    assert (reading.format, reading.tool_version) == ("llmd-benchmark-report", "0.2")
    (row,) = reading.rows
    figures = {figure.name: (float(figure.value), figure.unit) for figure in row.figures}
    assert figures["duration"] == (62.5, "s")
    assert figures["throughput.requests"] == (2.0, "requests/s")
    assert figures["latency.tpot.mean"] == (0.0275, "s")
    assert row.envelope == {
        "model": "example-org/example-8b",
        "engine": "vllm",
        "engine_version": "0.11.2",
        "device": "Example Accelerator 80GB",
        "device_count": 8,
        "tensor_parallel": 4,
        "max_model_len": 8192,
        "request_rate": Fraction(5, 2),
        "input_tokens": 512,
    }
    assert row.stated["concurrency"] == "no limit was set"
    assert rules(reading) == []


def test_a_rate_of_0_2_that_requests_do_not_give_is_found() -> None:
    text = (BENCHMARKS / "llmd-benchmark-report-0.2.yaml").read_text(encoding="utf-8")
    reading = read_file("a.yaml", text.replace("mean: 2.0}", "mean: 3.0}").encode())
    assert rules(reading) == ["UPH502"]
    messages = [finding.message for finding in reading.all_findings]
    assert any("request_rate and duration make" in message for message in messages)


def test_an_unknown_unit_gives_no_number(read: Read) -> None:
    reading = read("llmd-benchmark-report.yaml")
    assert reading.rows[0].figure("latency.itl.mean") is None
    (finding,) = [each for each in reading.all_findings if each.severity == "error"]
    assert (finding.rule, finding.place.line) == ("UPH504", 36)


def test_hosts_that_are_alike_are_the_envelope_and_others_are_not() -> None:
    (row,) = read_file("a.yaml", REPORT.encode()).rows
    assert row.envelope == {
        "model": "example-org/example-8b",
        "weight_dtype": "fp16",
        "engine": "vllm",
        "engine_version": "0.9.0.1",
        "device": "Example Accelerator 80GB",
        "device_count": 8,
        "tensor_parallel": 4,
        "input_tokens": 512,
    }
    (other,) = read_file("a.yaml", REPORT.replace("{tp: 4, pp: 1}", "{tp: 1}", 1).encode()).rows
    assert "tensor_parallel" in other.not_stated


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("requests_per_sec: 2.0", "requests_per_sec: 3.0", "UPH502"),
        ("stop: 1772360160.5", "stop: 1772360000.5", "UPH507"),
        ("total: 128", "total: 5", "UPH507"),
        ("stddev: 80.25", "stddev: 8.25", "UPH507"),
    ],
)
def test_what_can_t_be_is_found(old: str, new: str, rule: str) -> None:
    assert rule in rules(read_file("a.yaml", REPORT.replace(old, new).encode()))


def test_json_says_what_yaml_says() -> None:
    report = yaml.safe_load(REPORT)
    (of_json,) = read_file("a.json", json.dumps(report).encode()).rows
    (of_yaml,) = read_file("a.yaml", REPORT.encode()).rows
    assert of_json.figures == of_yaml.figures
    assert of_json.envelope == of_yaml.envelope


def test_yaml_that_was_cut_in_a_value_is_a_finding() -> None:
    text = REPORT[: REPORT.index("p99p9")]
    reading = read_file("a.yaml", text.encode())
    assert reading.rows == ()
    assert [each.rule for each in reading.findings] == ["UPH503"]
