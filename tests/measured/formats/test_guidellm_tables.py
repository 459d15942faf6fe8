"""GuideLLM's benchmarks as CSV and on the console, against the JSON report of the same run."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from upheld.measured.read import read_file
from upheld.measured.reading import FileReading

BENCHMARKS = Path(__file__).parents[2] / "corpora" / "benchmarks"
CSV = (BENCHMARKS / "guidellm-report.csv").read_bytes().decode()
CONSOLE = (BENCHMARKS / "guidellm-console.txt").read_text(encoding="utf-8")

Read = Callable[[str], FileReading]


def errors(reading: FileReading) -> list[str]:
    return [each.rule for each in reading.all_findings if each.severity == "error"]


def test_the_csv_says_what_the_report_says(read: Read) -> None:
    reading, report = read("guidellm-report.csv"), read("guidellm-report.json")
    assert (reading.format, errors(reading)) == ("guidellm-csv", [])
    compared = 0
    for row, other in zip(reading.rows, report.rows, strict=True):
        assert row.case == other.case
        assert row.requests == other.requests
        assert set(row.doubts) == set(other.doubts)
        for figure in row.figures:
            same = other.figure(figure.name)
            assert same is not None
            assert float(figure.value) == pytest.approx(float(same.value), rel=1e-12)
            assert figure.origin == "reported"
            compared += 1
    assert compared > 100
    assert reading.rows[0].envelope == report.rows[0].envelope
    assert "request_rate" in reading.rows[1].not_stated
    assert reading.rows[1].stated["strategy"] == "constant@2.00"


def test_a_csv_cut_short_gives_a_finding_and_no_number() -> None:
    for at in range(40, len(CSV) - 1, 97):
        reading = read_file("a.csv", CSV[:at].encode())
        assert reading.rows == ()
        assert {each.rule for each in reading.findings} <= {"UPH501", "UPH503"}
        assert reading.findings


def test_a_csv_with_other_cells_than_headers_is_found_on_its_line() -> None:
    lines = CSV.split("\r\n")
    lines[4] += ",1"
    (finding,) = read_file("a.csv", "\r\n".join(lines).encode()).findings
    assert (finding.rule, finding.place.line) == ("UPH503", 5)


@pytest.mark.parametrize("cell", ["many", "-1", "NaN"])
def test_what_is_not_a_number_in_a_csv_is_no_figure(cell: str) -> None:
    lines = CSV.split("\r\n")
    duration = lines[3].index(",3.0,") + 1
    lines[3] = f"{lines[3][:duration]}{cell}{lines[3][duration + 3 :]}"
    reading = read_file("a.csv", "\r\n".join(lines).encode())
    assert reading.rows[0].figure("duration") is None
    assert any("duration" in each.message for each in reading.all_findings)


def test_the_console_says_it_with_one_digit(read: Read) -> None:
    reading, report = read("guidellm-console.txt"), read("guidellm-report.json")
    assert (reading.format, errors(reading)) == ("guidellm-text", [])
    for row, other in zip(reading.rows, report.rows, strict=True):
        assert row.requests == other.requests
        for name in ("latency.ttft.mean", "latency.ttft.p95", "latency.e2e.p50", "latency.itl.p50"):
            figure, exact = row.figure(name), other.figure(name)
            assert figure is not None
            assert exact is not None
            assert figure.rounding == Fraction(1, 20)
            assert abs(figure.value - exact.value) <= figure.rounding
    assert reading.rows[0].envelope == {"concurrency": 4}
    assert "concurrency" in reading.rows[1].not_stated


def test_rates_of_all_requests_are_doubted_where_some_failed(read: Read) -> None:
    assert {"throughput.requests", "throughput.output_tokens"} <= set(
        read("guidellm-console.txt").rows[0].doubts
    )
    none_failed = CONSOLE.replace("| 24 | 1 | 1 |", "| 24 | 0 | 0 |")
    row = read_file("a.txt", none_failed.encode()).rows[0]
    assert set(row.doubts) == {"latency.itl"}


def test_what_rounds_to_nothing_is_no_latency() -> None:
    text = CONSOLE.replace("0.1 ± 0.2 | 0.1 | 0.1*", "0.0 | 0.0 | 0.0")
    row = read_file("a.txt", text.encode()).rows[0]
    assert not [figure for figure in row.figures if figure.name.startswith("latency.e2e")]


def test_a_console_cut_short_gives_a_finding_and_no_number() -> None:
    whole = CONSOLE.rstrip()
    for at in range(20, len(whole) - 1, 31):
        reading = read_file("a.txt", whole[:at].encode())
        assert reading.rows == ()
        assert {each.rule for each in reading.findings} <= {"UPH501", "UPH503"}


def test_a_row_with_a_cell_too_many_is_found() -> None:
    text = CONSOLE.replace("| 24 | 1 | 1 |", "| 24 | 1 | 1 | 9 |", 1)
    (finding,) = read_file("a.txt", text.encode()).findings
    assert finding.rule == "UPH503"
