from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from upheld.measured.reading import FileReading

Read = Callable[[str], FileReading]
ReadChanged = Callable[[str, Callable[[Any], object]], FileReading]


def rules(reading: FileReading) -> list[str]:
    return [each.rule for each in reading.all_findings]


def test_single_rounds_are_recomputed_to_the_printed_statistics(read: Read) -> None:
    reading = read("pytest-benchmark-data.json")
    assert reading.tool_version == "5.1.0"
    assert rules(reading) == []
    assert [row.case for row in reading.rows] == [
        "benchmarks/test_speed.py::test_parse",
        "benchmarks/test_speed.py::test_link[warm]",
    ]
    for row in reading.rows:
        assert [figure.name for figure in row.figures] == [
            "time.mean", "time.p50", "time.min", "time.max", "time.std",
        ]  # fmt: skip
        assert {figure.origin for figure in row.figures} == {"recomputed"}
        assert row.samples == {"time": 40}
        assert row.requests is None


def test_without_the_rounds_statistics_are_only_reported(read: Read) -> None:
    for row in read("pytest-benchmark-summary.json").rows:
        assert {figure.origin for figure in row.figures} == {"reported"}
        assert row.samples == {"time": 40}


@pytest.mark.parametrize("key", ["mean", "median", "stddev", "min", "max"])
def test_a_statistic_that_was_edited_is_found(key: str, read_changed: ReadChanged) -> None:
    def edit(saved: dict[str, Any]) -> None:
        saved["benchmarks"][1]["stats"][key] *= 1.001

    reading = read_changed("pytest-benchmark-data.json", edit)
    assert rules(reading) == ["UPH502"]
    assert f"stats.{key}" in reading.all_findings[0].message


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"stddev": 0}, "stddev is 0"),
        ({"mean": 1.0}, "mean is not between"),
        ({"median": 1e-9}, "median is not between"),
        ({"min": 1.0}, "min is greater"),
        ({"stddev": 1e-9}, "mean and median of time are further apart"),
        ({"stddev": 0.5}, "wider than"),
        ({"rounds": 1}, "one round"),
        ({"max": -1}, "negative"),
        ({"rounds": "many"}, "not a number"),
    ],
)
def test_what_can_t_be_is_found(
    changes: dict[str, Any], says: str, read_changed: ReadChanged
) -> None:
    reading = read_changed(
        "pytest-benchmark-summary.json",
        lambda saved: saved["benchmarks"][0]["stats"].update(changes),
    )
    assert "UPH507" in rules(reading)
    assert any(says in each.message for each in reading.all_findings)
    assert all(each.place.line > 0 for each in reading.all_findings)


def test_rounds_that_are_not_there_are_found(read_changed: ReadChanged) -> None:
    reading = read_changed(
        "pytest-benchmark-data.json",
        lambda saved: saved["benchmarks"][0]["stats"].update(rounds=400),
    )
    assert rules(reading) == ["UPH502"]
    assert reading.rows[0].samples == {"time": 40}


def test_a_benchmark_that_did_not_end_has_no_figures(read_changed: ReadChanged) -> None:
    reading = read_changed(
        "pytest-benchmark-data.json", lambda saved: saved["benchmarks"][0].update(stats=None)
    )
    assert reading.rows[0].figures == ()
    assert rules(reading) == ["UPH504"]


def test_a_file_without_benchmarks_says_so(read_changed: ReadChanged) -> None:
    reading = read_changed("pytest-benchmark-data.json", lambda saved: saved.update(benchmarks=[]))
    assert (reading.format, reading.rows) == ("pytest-benchmark", ())
    assert rules(reading) == ["UPH504"]


def test_envelope_is_the_machine_and_the_benchmark(read: Read, read_changed: ReadChanged) -> None:
    row = read("pytest-benchmark-data.json").rows[0]
    assert row.envelope == {
        "benchmark": "benchmarks/test_speed.py::test_parse",
        "python_version": "3.11.9",
        "processor": "Example CPU 9000",
        "processor_count": 4,
        "operating_system": "Linux",
    }
    assert row.not_stated == ()
    assert row.stated["uncommitted_changes"] == "yes"
    older = read_changed(
        "pytest-benchmark-data.json", lambda saved: saved["machine_info"].pop("cpu")
    )
    assert older.rows[0].not_stated == ("processor", "processor_count")
