from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from upheld.measured.read import read_file
from upheld.measured.reading import FileReading

BENCHMARKS = Path(__file__).parents[2] / "corpora" / "benchmarks"
TEXT = (BENCHMARKS / "vllm-serve-console.txt").read_text(encoding="utf-8")
FIRST = TEXT[: TEXT.index("\n\n") + 1]


def read_text(text: str) -> FileReading:
    return read_file("a.txt", text.encode())


def errors(reading: FileReading) -> list[str]:
    return [each.rule for each in reading.all_findings if each.severity == "error"]


def test_each_table_is_a_row_with_its_printed_figures(
    read: Callable[[str], FileReading],
) -> None:
    reading = read("vllm-serve-console.txt")
    assert reading.format == "vllm-bench-serve-text"
    assert [row.case for row in reading.rows] == ["run 1", "run 2"]
    assert [row.place.line for row in reading.rows] == [1, 35]
    assert errors(reading) == []
    row = reading.rows[0]
    assert row.requests is not None
    assert (row.requests.completed, row.requests.failed, row.requests.attempted) == (119, 1, 120)
    assert row.envelope == {"concurrency": 8}
    assert row.samples["latency.ttft"] == 119
    assert "latency.itl" not in row.samples


def test_a_printed_figure_is_as_far_off_as_its_last_digit() -> None:
    (row,) = read_text(FIRST).rows
    figure = row.figure("latency.ttft.p99")
    assert figure is not None
    assert (figure.value, figure.rounding) == (Fraction("298.80"), Fraction(1, 200))
    rate = row.figure("throughput.requests")
    assert rate is not None
    assert rate.note is not None
    assert "24.8434" in rate.note


def test_labels_may_be_written_either_way() -> None:
    (row,) = read_text(FIRST.replace("Total token thr", "Total Token thr")).rows
    assert row.figure("throughput.total_tokens") is not None


def test_failures_that_an_older_table_does_not_count_are_unknown() -> None:
    lines = [line for line in FIRST.split("\n") if not line.startswith("Failed")]
    (row,) = read_text("\n".join(lines)).rows
    assert row.requests is not None
    assert row.requests.failed is None
    assert row.requests.attempted is None


@pytest.mark.parametrize(
    ("old", "new", "rule", "says"),
    [
        ("24.82 ", "24.90 ", "UPH502", "request throughput (req/s) says 24.9 "),
        ("459.35", "469.35", "UPH502", "output token throughput (tok/s) says 469.35"),
        ("4.79 ", "0.00 ", "UPH507", "duration is 0"),
        ("298.80", "9298.80", "UPH507", "longer than the whole run"),
        ("201.34", "101.34", "UPH507", "median ttft (ms) is greater than p90 ttft (ms)"),
        ("117.57", "many", "UPH507", "median ttft (ms) is not a number"),
    ],
)
def test_a_line_that_was_edited_is_found_where_it_stands(
    old: str, new: str, rule: str, says: str
) -> None:
    assert FIRST.count(old) == 1
    found = [each for each in read_text(FIRST.replace(old, new)).all_findings if each.rule == rule]
    assert any(says in each.message and each.place.line > 1 for each in found)


def test_rates_within_their_rounding_agree() -> None:
    """4.79 s may be up to 4.795 s, so 119 requests are at least 24.817 a second."""
    assert errors(read_text(FIRST.replace("24.82 ", "24.87 "))) == []


@pytest.mark.parametrize("lines", [4, 8, 20, 32])
def test_a_table_cut_short_gives_a_finding_and_no_number(lines: int) -> None:
    reading = read_text("\n".join(FIRST.split("\n")[:lines]))
    assert reading.rows == ()
    (finding,) = reading.findings
    assert finding.rule in ("UPH501", "UPH503")


def test_zero_is_no_latency_where_nothing_completed() -> None:
    text = FIRST.replace("requests:                     119", "requests:                     0")
    assert not [f for f in read_text(text).rows[0].figures if f.name.startswith("latency")]


def test_the_table_of_sglang_is_not_vllm_s() -> None:
    line = "Total generated tokens (retokenized):    2202\n"
    assert read_text(FIRST.replace("Request throughput", line + "Request throughput")).rows == ()
