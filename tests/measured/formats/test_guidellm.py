from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from upheld.measured.reading import FileReading

Read = Callable[[str], FileReading]
ReadChanged = Callable[[str, Callable[[Any], object]], FileReading]
REPORT = "guidellm-report.json"
FIRST = "guidellm-first.json"


def errors(reading: FileReading) -> list[str]:
    return [each.rule for each in reading.all_findings if each.severity == "error"]


def test_statistics_are_recomputed_as_the_tool_weighs_them(read: Read) -> None:
    reading = read(REPORT)
    assert (reading.format, reading.tool_version) == ("guidellm", "0.8.1")
    assert errors(reading) == []
    assert [row.case for row in reading.rows] == ["benchmark 1", "benchmark 2"]
    for row in reading.rows:
        for name in ("latency.e2e", "latency.ttft", "latency.tpot", "latency.itl"):
            for statistic in ("mean", "std", "min", "max", "p50", "p90", "p99", "p99.9"):
                figure = row.figure(f"{name}.{statistic}")
                assert figure is not None
                assert figure.origin == "recomputed"
                assert figure.reported is not None
            assert row.samples[name] == 24
    latency = reading.rows[0].figure("latency.e2e.mean")
    first = reading.rows[0].figure("latency.ttft.mean")
    assert latency is not None
    assert first is not None
    assert (latency.unit, first.unit) == ("s", "ms")


@pytest.mark.parametrize(
    "keys",
    [
        ("request_latency", "mean"), ("request_latency", "std_dev"),
        ("time_to_first_token_ms", "percentiles", "p90"), ("time_per_output_token_ms", "mean"),
        ("inter_token_latency_ms", "percentiles", "p50"),
    ],
)  # fmt: skip
def test_a_summary_that_was_edited_is_found(
    keys: tuple[str, ...], read_changed: ReadChanged
) -> None:
    def edit(report: dict[str, Any]) -> None:
        target = report["benchmarks"][1]["metrics"][keys[0]]["successful"]
        for key in keys[1:-1]:
            target = target[key]
        target[keys[-1]] *= 1.01

    reading = read_changed(REPORT, edit)
    assert "UPH502" in errors(reading)
    assert reading.rows[0].findings[0].severity == "warning"


def test_without_all_requests_nothing_is_recomputed(read: Read, read_changed: ReadChanged) -> None:
    sampled = read_changed(
        REPORT, lambda report: report["benchmarks"][0]["requests"]["successful"].pop()
    )
    for row in (sampled.rows[0], read(FIRST).rows[0]):
        figure = row.figure("latency.ttft.p99")
        assert figure is not None
        assert figure.origin == "reported"
        assert "nothing is recomputed" in row.stated["requests_kept"]


def test_what_became_of_requests_is_kept_apart(read: Read, read_changed: ReadChanged) -> None:
    (row, _) = read(REPORT).rows
    assert row.requests is not None
    assert (row.requests.completed, row.requests.failed, row.requests.attempted) == (24, 1, 26)
    assert row.stated["requests_open_at_the_end"] == "1 of 26"
    reading = read_changed(
        REPORT, lambda report: report["benchmarks"][0]["metrics"]["request_totals"].update(total=9)
    )
    assert "UPH502" in errors(reading)


def test_a_rate_that_is_far_from_its_counts_is_doubted(
    read: Read, read_changed: ReadChanged
) -> None:
    (row, _) = read(REPORT).rows
    assert set(row.doubts) == {"latency.tpot", "latency.itl", "throughput.total_tokens"}
    figure = row.figure("throughput.output_tokens")
    assert figure is not None
    assert figure.note is not None
    assert "counts over the duration give" in figure.note

    def edit(report: dict[str, Any]) -> None:
        report["benchmarks"][0]["metrics"]["requests_per_second"]["successful"]["mean"] = 9.0

    assert "UPH502" in errors(read_changed(REPORT, edit))


def test_envelope_is_what_the_report_states(read: Read) -> None:
    concurrent, constant = read(REPORT).rows
    assert concurrent.envelope == {
        "model": "example-org/example-8b", "concurrency": 4, "input_tokens": 64,
    }  # fmt: skip
    assert constant.envelope["request_rate"] == Fraction(2)
    assert "concurrency" in constant.not_stated
    assert concurrent.stated["input_tokens_asked_for"] == "48"
    assert concurrent.stated["the_tool_warns_1"] == "mean generation delay was 2%."
    assert concurrent.means["output_tokens"].varies


def test_the_first_schema_is_read(read: Read) -> None:
    reading = read(FIRST)
    assert errors(reading) == []
    (row,) = reading.rows
    assert row.case is None
    assert row.envelope["model"] == "example-org/example-8b"
    assert row.envelope["concurrency"] == 1
    assert row.stated["dataset"] == "prompt_tokens=48,output_tokens=9"
    assert row.requests is not None
    assert row.requests.attempted == 26
    assert row.figure("latency.e2e.p50") is not None


def test_zero_is_no_latency_where_nothing_completed(read_changed: ReadChanged) -> None:
    def edit(report: dict[str, Any]) -> None:
        del report["benchmarks"][1]
        metrics = report["benchmarks"][0]["metrics"]
        metrics["request_totals"].update(successful=0, errored=25)
        for key, summary in metrics.items():
            if key != "request_totals":
                summary["successful"] = {"mean": 0.0, "median": 0.0, "count": 0}

    reading = read_changed(REPORT, edit)
    assert errors(reading) == ["UPH504"]
    assert not [f for f in reading.rows[0].figures if f.name.startswith(("latency", "through"))]
