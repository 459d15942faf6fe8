from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from statistics import mean, stdev

import pytest

from upheld.measured.read import read_file
from upheld.measured.reading import FileReading

FILE = Path(__file__).parents[2] / "corpora" / "benchmarks" / "aiperf-telemetry.jsonl"


def test_each_gpu_is_a_row_with_statistics_of_its_readings(
    read: Callable[[str], FileReading],
) -> None:
    reading = read(FILE.name)
    assert reading.format == "aiperf-telemetry"
    assert [row.case for row in reading.rows] == [
        f"GPU {index} at http://localhost:9400/metrics" for index in (0, 1)
    ]
    readings = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    power = [
        each["telemetry_data"]["gpu_power_usage"] for each in readings if each["gpu_index"] == 1
    ]
    row = reading.rows[1]
    for statistic, expected in (("mean", mean(power)), ("std", stdev(power)), ("max", max(power))):
        figure = row.figure(f"device.power.{statistic}")
        assert figure is not None
        assert figure.unit == "W"
        assert float(figure.value) == pytest.approx(expected, rel=1e-12)
    assert row.samples["device.power"] == 5
    assert row.envelope == {"device": "Example GPU 80GB"}
    assert row.requests is None


def test_more_memory_in_use_than_there_is_is_found() -> None:
    text = FILE.read_text(encoding="utf-8").replace(
        '"gpu_memory_used": 70.5', '"gpu_memory_used": 99', 1
    )
    reading = read_file("a.jsonl", text.encode())
    assert any("more memory is in use" in each.message for each in reading.all_findings)
