from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from upheld.measured.reading import FileReading

BENCHMARKS = Path(__file__).parents[2] / "corpora" / "benchmarks"

Read = Callable[[str], FileReading]
ReadChanged = Callable[[str, Callable[[Any], object]], FileReading]


def rules(reading: FileReading, severity: str = "error") -> list[str]:
    return [each.rule for each in reading.all_findings if each.severity == severity]


def test_throughput_of_a_device_is_the_sum_of_input_and_output(read: Read) -> None:
    reading = read("inferencex-agg.json")
    total = reading.rows[0].figure("throughput.total_tokens_per_gpu")
    assert total is not None
    assert (total.value, total.unit, total.origin) == (56, "tokens/s/device", "recomputed")
    assert rules(reading) == []
    assert rules(reading, "warning") == ["UPH504", "UPH505"]


def test_of_several_nodes_the_sum_is_no_identity(read_changed: ReadChanged) -> None:
    def multinode(point: dict[str, Any]) -> None:
        point |= {"is_multinode": True, "output_tput_per_gpu": 90.0}

    reading = read_changed("inferencex-agg.json", multinode)
    total = reading.rows[0].figure("throughput.total_tokens_per_gpu")
    assert total is not None
    assert total.origin == "reported"
    assert "device_count" in reading.rows[0].not_stated
    assert rules(reading) == []


def test_the_99th_of_interactivity_is_the_slow_tail(read: Read) -> None:
    (row,) = read("inferencex-agg.json").rows
    point = json.loads((BENCHMARKS / "inferencex-agg.json").read_text(encoding="utf-8"))
    slow, middle = row.figure("interactivity.p1"), row.figure("interactivity.p50")
    assert slow is not None
    assert middle is not None
    assert float(slow.value) == pytest.approx(1 / point["p99_tpot"])
    assert slow.note == "printed as p99_intvty"
    assert slow.value < middle.value
    assert row.figure("interactivity.p99") is None
    assert row.figure("interactivity.std") is None


@pytest.mark.parametrize("key", ["tput_per_gpu", "p99_intvty", "median_tpot"])
def test_an_edited_number_is_found(key: str, read_changed: ReadChanged) -> None:
    def edit(point: dict[str, Any]) -> None:
        point[key] *= 1.05

    assert "UPH502" in rules(read_changed("inferencex-agg.json", edit))


def test_the_unit_of_times_is_told_by_interactivity_not_by_the_header(read: Read) -> None:
    reading = read("inferencex.csv")
    assert [row.case for row in reading.rows] == [
        "mi355x vllm fp8 tp8 1024/1024 x4", "mi355x vllm fp8 tp8 1024/1024 x8",
    ]  # fmt: skip
    figure = reading.rows[0].figure("latency.ttft.mean")
    assert figure is not None
    assert figure.unit == "s"
    assert "header says ms" in reading.rows[0].stated["unit_of_times"]
    assert [row.place.line for row in reading.rows] == [3, 4]


def test_times_that_are_milliseconds_are_read_as_such(read_changed: ReadChanged) -> None:
    def as_milliseconds(point: dict[str, Any]) -> None:
        for key in point:
            if key.endswith(("_ttft", "_tpot", "_itl", "_e2el")):
                point[key] *= 1000

    reading = read_changed("inferencex-agg.json", as_milliseconds)
    figure = reading.rows[0].figure("latency.tpot.mean")
    assert figure is not None
    assert figure.unit == "ms"
    assert rules(reading) == []


def test_times_of_an_open_unit_are_left_out(read_changed: ReadChanged) -> None:
    reading = read_changed("inferencex-agg.json", lambda point: point.update(mean_intvty=3.0))
    assert "UPH507" in rules(reading)
    assert not [each for each in reading.rows[0].figures if each.name.startswith("latency.")]


def test_envelope_is_what_the_point_states(read: Read) -> None:
    (row,) = read("inferencex-agg.json").rows
    assert row.envelope == {
        "model": "example-org/example-8b",
        "engine": "vllm",
        "engine_version": "v0.21.0",
        "weight_dtype": "fp8",
        "device": "mi355x",
        "device_count": 8,
        "tensor_parallel": 8,
        "concurrency": 4,
        "speculative_decoding": "none",
    }
    assert row.stated["osl"].startswith("1024 tokens at most were asked for")
    assert {"input_tokens", "output_tokens", "prefix_caching"} <= set(row.not_stated)
