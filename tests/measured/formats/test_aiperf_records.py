from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from upheld.measured.read import read_file
from upheld.measured.reading import FileReading

BENCHMARKS = Path(__file__).parents[2] / "corpora" / "benchmarks"
LINES = (BENCHMARKS / "aiperf-records.jsonl").read_text(encoding="utf-8").splitlines()
SUMMARY = json.loads((BENCHMARKS / "aiperf-summary.json").read_text(encoding="utf-8"))

Read = Callable[[str], FileReading]


def read_lines(lines: list[str]) -> FileReading:
    return read_file("a.jsonl", "\n".join(lines).encode())


def read_edited(number: int, edit: Callable[[dict[str, Any]], object]) -> FileReading:
    record = json.loads(LINES[number])
    edit(record)
    return read_lines([*LINES[:number], json.dumps(record), *LINES[number + 1 :]])


def test_statistics_are_those_of_the_summary_of_the_same_run(read: Read) -> None:
    reading = read("aiperf-records.jsonl")
    assert reading.format == "aiperf-records"
    (row,) = reading.rows
    for name, tag in (
        ("latency.ttft", "time_to_first_token"),
        ("latency.tpot", "inter_token_latency"),
        ("latency.e2e", "request_latency"),
    ):
        for statistic, key in (
            ("mean", "avg"), ("std", "std"), ("min", "min"), ("p50", "p50"), ("p99", "p99"),
        ):  # fmt: skip
            figure = row.figure(f"{name}.{statistic}")
            assert figure is not None
            assert float(figure.value) == pytest.approx(SUMMARY[tag][key], rel=1e-9)
    for name, tag in (
        ("duration", "benchmark_duration"), ("tokens.output.total", "total_osl"),
        ("requests.completed", "request_count"), ("requests.failed", "error_request_count"),
        ("requests.recorded", "completed_request_count"),
    ):  # fmt: skip
        figure = row.figure(name)
        assert figure is not None
        assert float(figure.value) == pytest.approx(SUMMARY[tag]["avg"], rel=1e-12)


def test_that_all_requests_are_there_is_not_said() -> None:
    figure = read_lines(LINES[:50]).rows[0].figure("throughput.requests")
    assert figure is not None
    assert figure.note is not None
    assert "does not say" in figure.note


def test_requests_of_a_warm_up_and_cancelled_ones_are_not_measured() -> None:
    warm = read_edited(5, lambda r: r["metadata"].update(benchmark_phase="warmup"))
    recorded = warm.rows[0].figure("requests.recorded")
    assert recorded is not None
    assert recorded.value == 119
    cancelled = read_edited(5, lambda r: r["metadata"].update(was_cancelled=True))
    assert cancelled.rows[0].requests is not None
    assert (cancelled.rows[0].requests.completed, cancelled.rows[0].requests.failed) == (117, 3)


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (lambda r: r["metrics"]["request_latency"].update(value=1e6), "was open for"),
        (lambda r: r["metrics"]["time_to_first_token"].update(value=1e4), "is longer than"),
        (lambda r: r["metrics"]["request_latency"].update(value=-1), "negative"),
        (lambda r: r["metrics"]["request_latency"].update(unit="s"), "is in s here"),
        (lambda r: r["metrics"]["request_latency"].update(unit="MB"), "no unit of time"),
        (lambda r: r["metrics"]["output_sequence_length"].update(value="x"), "not a number"),
    ],
)
def test_a_request_that_was_edited_is_found_on_its_line(
    edit: Callable[[dict[str, Any]], object], says: str
) -> None:
    found = read_edited(7, edit).all_findings
    assert any(says in each.message and each.place.line == 8 for each in found)


def test_many_bad_requests_are_not_as_many_findings() -> None:
    bad = [line.replace('"unit": "ms"', '"unit": "MB"') for line in LINES]
    assert len(read_lines(bad).all_findings) < 80


def test_where_every_request_failed_nothing_was_measured() -> None:
    reading = read_lines(LINES[:2])
    assert "UPH504" in [each.rule for each in reading.all_findings if each.severity == "error"]
    assert not [f for f in reading.rows[0].figures if f.name.startswith("latency")]
