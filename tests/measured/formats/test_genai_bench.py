from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from upheld.measured.reading import FileReading

Read = Callable[[str], FileReading]
ReadChanged = Callable[[str, Callable[[Any], object]], FileReading]


def rules(reading: FileReading, severity: str = "error") -> list[str]:
    return [each.rule for each in reading.all_findings if each.severity == severity]


def test_every_figure_follows_from_single_requests(read: Read) -> None:
    reading = read("genai-bench.json")
    (row,) = reading.rows
    assert {figure.name for figure in row.figures if figure.origin == "reported"} == {"duration"}
    for figure in row.figures:
        if figure.reported is not None:
            assert float(figure.value) == pytest.approx(float(figure.reported), rel=1e-9)
    assert row.samples["latency.tpot"] == 120
    assert row.requests is not None
    assert (row.requests.completed, row.requests.failed, row.requests.attempted) == (120, 1, 121)
    assert row.envelope == {"concurrency": 4, "input_tokens": 106}
    assert rules(reading) == []


@pytest.mark.parametrize(
    "keys",
    [
        ("stats", "ttft", "p99"), ("stats", "tpot", "stddev"), ("stats", "e2e_latency", "mean"),
        ("stats", "num_output_tokens", "sum"), ("requests_per_second",), ("num_requests",),
        ("mean_output_throughput_tokens_per_s",), ("run_duration",),
    ],
)  # fmt: skip
def test_an_edited_summary_is_found(keys: tuple[str, ...], read_changed: ReadChanged) -> None:
    def edit(result: dict[str, Any]) -> None:
        *path, last = keys
        holder = result["aggregated_metrics"]
        for key in path:
            holder = holder[key]
        holder[last] = holder[last] * 1.01 if isinstance(holder[last], float) else holder[last] + 1

    assert "UPH502" in rules(read_changed("genai-bench.json", edit))


def test_an_edited_request_is_found_at_its_place(read_changed: ReadChanged) -> None:
    def edit(result: dict[str, Any]) -> None:
        result["individual_request_metrics"][5]["tpot"] *= 1.5

    reading = read_changed("genai-bench.json", edit)
    assert any("tpot is not the time after" in each.message for each in reading.all_findings)


def test_statistics_of_fewer_requests_are_only_reported(read_changed: ReadChanged) -> None:
    def without_warm_up(result: dict[str, Any]) -> None:
        stats = result["aggregated_metrics"]["stats"]
        for statistics in stats.values():
            statistics["sum"] = statistics["mean"] * 100

    reading = read_changed("genai-bench.json", without_warm_up)
    (row,) = reading.rows
    assert "100 of 120 requests" in row.stated["left_out"]
    figure = row.figure("latency.ttft.p99")
    assert figure is not None
    assert figure.origin == "reported"
    assert rules(reading) == []


def test_times_are_in_the_unit_that_the_file_names(read_changed: ReadChanged) -> None:
    def as_milliseconds(result: dict[str, Any]) -> None:
        result["_time_unit"] = "ms"
        stats = result["aggregated_metrics"]["stats"]
        for key in ("ttft", "tpot", "e2e_latency", "output_latency"):
            stats[key] = {name: value * 1000 for name, value in stats[key].items()}
            for request in result["individual_request_metrics"][:-1]:
                request[key] *= 1000

    reading = read_changed("genai-bench.json", as_milliseconds)
    figure = reading.rows[0].figure("latency.ttft.mean")
    assert figure is not None
    assert (figure.unit, figure.value > 100) == ("ms", True)
    assert rules(reading) == []


def test_an_unknown_unit_gives_no_number(read_changed: ReadChanged) -> None:
    reading = read_changed("genai-bench.json", lambda result: result.update(_time_unit="h"))
    assert rules(reading) == ["UPH507"]
    assert reading.rows[0].figures == ()


def test_an_open_loop_has_a_rate(read_changed: ReadChanged) -> None:
    def by_rate(result: dict[str, Any]) -> None:
        result["aggregated_metrics"] |= {"iteration_type": "request_rate", "request_rate": 2.5}
        del result["aggregated_metrics"]["num_concurrency"]

    (row,) = read_changed("genai-bench.json", by_rate).rows
    assert row.envelope["request_rate"] == Fraction(5, 2)
    assert "concurrency" in row.not_stated
