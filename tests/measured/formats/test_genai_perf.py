from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from upheld.measured.read import read_file
from upheld.measured.reading import FileReading

BENCHMARKS = Path(__file__).parents[2] / "corpora" / "benchmarks"

Read = Callable[[str], FileReading]
ReadChanged = Callable[[str, Callable[[Any], object]], FileReading]
CSVS = ("aiperf-summary.csv", "genai-perf.csv")


def csv_text(name: str) -> str:
    return (BENCHMARKS / name).read_bytes().decode()


def errors(reading: FileReading) -> list[str]:
    return [each.rule for each in reading.all_findings if each.severity == "error"]


def test_the_summary_in_json_is_read(read: Read) -> None:
    reading = read("genai-perf.json")
    assert reading.format == "genai-perf"
    assert errors(reading) == []
    (row,) = reading.rows
    assert row.envelope == {
        "model": "example-org/example-8b", "concurrency": 4, "input_tokens": 256,
    }  # fmt: skip
    assert row.requests is not None
    assert (row.requests.completed, row.requests.failed) == (118, None)
    assert row.stated["streaming"] == "yes"


def test_options_of_older_versions_are_read(read_changed: ReadChanged) -> None:
    def older(summary: dict[str, Any]) -> None:
        summary["input_config"] = {
            "model": ["example-org/older"], "request_rate": 2.5, "endpoint_type": "completions",
        }  # fmt: skip

    (row,) = read_changed("genai-perf.json", older).rows
    assert row.envelope["model"] == "example-org/older"
    assert row.envelope["request_rate"] == Fraction(5, 2)
    assert row.stated["client_backend"] == "completions"


def test_an_edited_rate_is_found(read_changed: ReadChanged) -> None:
    reading = read_changed(
        "genai-perf.json", lambda s: s["output_token_throughput"].update(avg=310.0)
    )
    assert errors(reading) == ["UPH502"]


@pytest.mark.parametrize("name", CSVS)
def test_numbers_of_a_csv_are_as_far_off_as_their_last_digit(name: str, read: Read) -> None:
    reading = read(name)
    assert reading.format == name.replace("-summary", "").replace(".", "-")
    assert errors(reading) == []
    (row,) = reading.rows
    figure = row.figure("latency.e2e.p99")
    assert figure is not None
    assert figure.unit == "ms"
    assert figure.rounding == Fraction(1, 200)
    assert row.requests is not None
    assert row.requests.completed == 118
    tokens = row.figure("throughput.output_tokens")
    assert tokens is not None
    assert tokens.unit == "tokens/s"


def test_thousands_are_set_apart_and_what_is_not_measured_is_left_out() -> None:
    text = csv_text("genai-perf.csv").replace("790.79", '"1,790.79"')
    figure = read_file("a.csv", text.encode()).rows[0].figure("latency.e2e.max")
    assert figure is not None
    assert figure.value == Fraction("1790.79")
    lines = text.split("\r\n")
    lines[1] = "Time To First Token (ms)" + ",N/A" * 12
    (row,) = read_file("a.csv", "\r\n".join(lines).encode()).rows
    assert not [f for f in row.figures if f.name.startswith("latency.ttft")]
    assert row.figure("latency.e2e.p99") is not None


@pytest.mark.parametrize("name", CSVS)
def test_a_csv_cut_short_gives_a_finding_and_no_number(name: str) -> None:
    text = csv_text(name)
    for at in range(len(text) // 8, len(text) - 1, 13):
        reading = read_file(name, text[:at].encode())
        if text[:at].endswith("\n") and "Value" in text[:at]:
            continue  # whole lines of both tables: nothing shows that there were more
        assert reading.rows == ()
        assert {each.rule for each in reading.findings} <= {"UPH501", "UPH503"}
        assert reading.findings


@pytest.mark.parametrize("name", CSVS)
def test_edited_cells_are_found(name: str) -> None:
    text = csv_text(name)
    swapped = text.replace("300.69", "310.69")
    assert "UPH502" in errors(read_file(name, swapped.encode()))
    wider = text.replace("Request Latency (ms),", "Request Latency (ms),1.00,")
    assert [each.rule for each in read_file(name, wider.encode()).findings] == ["UPH503"]
    words = text.replace("300.69", "many")
    assert "UPH507" in errors(read_file(name, words.encode()))


@pytest.mark.parametrize("name", CSVS)
def test_a_line_that_is_no_csv_is_found(name: str) -> None:
    broken = csv_text(name).replace("Request Latency (ms),", "Request Latency (ms),1\r2,", 1)
    assert {each.rule for each in read_file(name, broken.encode()).findings} == {"UPH503"}
