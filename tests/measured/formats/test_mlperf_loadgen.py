from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from upheld.measured.read import read_file
from upheld.measured.reading import FileReading

Read = Callable[[str], FileReading]
BENCHMARKS = Path(__file__).parents[2] / "corpora" / "benchmarks"


def edited(name: str, old: str, new: str) -> FileReading:
    text = (BENCHMARKS / name).read_text(encoding="utf-8")
    assert text.count(old) == 1
    return read_file(name, text.replace(old, new).encode())


def test_a_summary_of_the_server_scenario(read: Read) -> None:
    (row,) = read("mlperf-summary-server.txt").rows
    figures = {figure.name: (figure.value, figure.unit) for figure in row.figures}
    assert figures["throughput.requests"] == (Fraction("4.25"), "requests/s")
    assert figures["throughput.output_tokens"] == (Fraction("1062.5"), "tokens/s")
    assert figures["latency.e2e.p99.9"] == (Fraction(8990000001), "ns")
    assert figures["latency.ttft.p99"] == (Fraction(310000003), "ns")
    assert figures["latency.tpot.mean"] == (Fraction(15500001), "ns")
    assert {figure.origin for figure in row.figures} == {"reported"}
    assert row.envelope == {"request_rate": Fraction("4.3")}
    assert row.stated["scenario"] == "Server"
    assert row.stated["warnings"] == "1, told in the detail log"
    assert row.requests is not None
    assert row.requests.completed is None


def test_the_one_query_of_the_offline_scenario_is_no_latency(read: Read) -> None:
    reading = read("mlperf-detail-offline.txt")
    (row,) = reading.rows
    assert reading.tool_version == "5.0.1 @ 0123456789"
    mean = row.figure("latency.e2e.mean")
    assert mean is not None
    assert mean.note is not None
    assert "not a latency" in mean.note
    assert row.requests is not None
    assert row.requests.completed == 2000
    assert row.samples["latency.e2e"] == 2000
    assert row.stated["date"] == "2026-11-20T08:00:00Z"
    assert "request_rate" in row.not_stated


def test_an_offline_rate_that_was_edited_is_found() -> None:
    reading = edited(
        "mlperf-detail-offline.txt",
        '"result_samples_per_second", "value": 8,',
        '"result_samples_per_second", "value": 9,',
    )
    (finding,) = [each for each in reading.all_findings if each.severity == "error"]
    assert finding.rule == "UPH502"
    assert finding.place.line == 13
    assert "give 8 samples/s" in finding.message


def test_an_invalid_result_is_no_measurement() -> None:
    reading = edited("mlperf-summary-server.txt", "Result is : VALID", "Result is : INVALID")
    assert [each.rule for each in reading.all_findings if each.severity == "error"] == ["UPH504"]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("mlperf-summary-server.txt", "No errors encountered during test.", ""),
        ("mlperf-summary-server.txt", "Result is : VALID", ""),
        ("mlperf-detail-offline.txt", '"key": "result_validity"', '"key": "other"'),
        ("mlperf-detail-offline.txt", '{"key": "sut_name"', '{"key" "sut_name"'),
        ("mlperf-detail-offline.txt", '"key": "sut_name", ', '"kez": "sut_name", '),
    ],
)
def test_what_is_not_complete_has_no_figures(name: str, old: str, new: str) -> None:
    reading = edited(name, old, new)
    assert reading.rows == ()
    assert [each.rule for each in reading.findings] == ["UPH503"]
