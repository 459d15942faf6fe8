from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from upheld.measured.reading import FileReading

Read = Callable[[str], FileReading]
ReadChanged = Callable[[str, Callable[[Any], object]], FileReading]


def rules(reading: FileReading, severity: str = "error") -> list[str]:
    return [each.rule for each in reading.all_findings if each.severity == severity]


def test_every_statistic_follows_from_the_times(read: Read) -> None:
    reading = read("optimum-benchmark.json")
    assert (reading.format, reading.tool_version) == ("optimum-benchmark", "0.6.0")
    (row,) = reading.rows
    for figure in row.figures:
        assert figure.origin == "recomputed"
        if figure.reported is not None:
            assert float(figure.value) == pytest.approx(float(figure.reported), rel=1e-9)
    assert dict(row.samples) == {"latency.load": 1, "latency.prefill": 10, "latency.decode": 10}
    decode = row.figure("throughput.decode")
    assert decode is not None
    assert (decode.unit, decode.note) == ("tokens/s", "126 in one call over the mean time")
    assert rules(reading) == []


@pytest.mark.parametrize(
    "keys",
    [
        ("latency", "mean"), ("latency", "p99"), ("latency", "stdev"), ("latency", "stdev_"),
        ("latency", "total"), ("latency", "count"), ("throughput", "value"),
    ],
)  # fmt: skip
def test_an_edited_summary_is_found(keys: tuple[str, str], read_changed: ReadChanged) -> None:
    def edit(report: dict[str, Any]) -> None:
        report["decode"][keys[0]][keys[1]] *= 1.3

    reading = read_changed("optimum-benchmark-report.json", edit)
    assert set(rules(reading)) <= {"UPH502", "UPH507"}
    assert rules(reading)


def test_a_section_without_times_is_found(read_changed: ReadChanged) -> None:
    reading = read_changed(
        "optimum-benchmark-report.json", lambda report: report["decode"]["latency"].pop("values")
    )
    assert rules(reading) == ["UPH504"]
    assert reading.rows[0].figure("latency.decode.mean") is None
    assert reading.rows[0].figure("latency.prefill.mean") is not None


def test_training_is_not_read_and_says_so(read_changed: ReadChanged) -> None:
    def train(report: dict[str, Any]) -> None:
        report["train"] = report.pop("decode")

    (row,) = read_changed("optimum-benchmark-report.json", train).rows
    assert "no part of inference" in row.stated["train"]
    assert row.figure("latency.decode.mean") is None


def test_a_configuration_alone_is_an_envelope(read: Read) -> None:
    reading = read("optimum-benchmark-config.json")
    assert reading.format == "optimum-benchmark-config"
    (row,) = reading.rows
    assert row.figures == ()
    assert row.envelope == {
        "model": "example-org/example-8b",
        "engine": "pytorch",
        "engine_version": "2.6.0",
        "weight_dtype": "bf16",
        "python_version": "3.11.9",
        "processor": "Example CPU 9000",
        "processor_count": 64,
        "operating_system": "Linux",
        "device": "Example Accelerator 80GB",
        "device_count": 1,
        "input_tokens": 64,
        "output_tokens": 64,
        "concurrency": 2,
    }
    assert read("optimum-benchmark.json").rows[0].envelope == row.envelope


@pytest.mark.parametrize(
    ("changes", "axis"),
    [
        ({"device": "cpu"}, "device"),
        ({"device_ids": None}, "device_count"),
        ({"device_ids": "²,x"}, "device_count"),
        ({"device_ids": "7"}, "device"),
        ({"quantization_scheme": "gptq"}, "weight_dtype"),
    ],
)
def test_what_was_not_used_is_not_stated(
    changes: dict[str, Any], axis: str, read_changed: ReadChanged
) -> None:
    reading = read_changed(
        "optimum-benchmark-config.json", lambda config: config["backend"].update(changes)
    )
    assert axis in reading.rows[0].not_stated
