from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from upheld.measured.reading import FileReading
from upheld.measured.sufficiency import shortcomings

Read = Callable[[str], FileReading]
ReadChanged = Callable[[str, Callable[[Any], object]], FileReading]
SUMMARY = "aiperf-summary.json"


def errors(reading: FileReading) -> list[str]:
    return [each.rule for each in reading.all_findings if each.severity == "error"]


def test_figures_have_the_units_that_the_file_states(read: Read) -> None:
    reading = read(SUMMARY)
    assert (reading.format, reading.tool_version) == ("aiperf", "0.13.0")
    assert errors(reading) == []
    (row,) = reading.rows
    for name, unit in (
        ("latency.ttft.p99", "ms"), ("duration", "s"), ("throughput.requests", "requests/s"),
        ("throughput.total_tokens", "tokens/s"), ("tokens.output.total", "tokens"),
    ):  # fmt: skip
        figure = row.figure(name)
        assert figure is not None
        assert figure.unit == unit
    assert row.requests is not None
    assert (row.requests.completed, row.requests.failed, row.requests.attempted) == (118, 2, 120)
    assert row.samples["latency.ttft"] == 118


def test_another_unit_is_kept_and_an_unknown_one_is_no_figure(read_changed: ReadChanged) -> None:
    row = read_changed(SUMMARY, lambda s: s["request_latency"].update(unit="sec")).rows[0]
    figure = row.figure("latency.e2e.mean")
    assert figure is not None
    assert figure.unit == "s"
    reading = read_changed(SUMMARY, lambda s: s["request_latency"].update(unit="fortnights"))
    assert reading.rows[0].figure("latency.e2e.mean") is None
    assert "UPH507" in errors(reading)


def test_the_window_of_rates_is_named_where_it_is_not_the_duration(
    read: Read, read_changed: ReadChanged
) -> None:
    assert "7.25 s from start_time to end_time" in read(SUMMARY).rows[0].stated["rates"]

    def divide_by_duration(summary: dict[str, Any]) -> None:
        rate = summary["request_count"]["avg"] / summary["benchmark_duration"]["avg"]
        tokens = rate * summary["output_sequence_length"]["avg"]
        summary["request_throughput"]["avg"] = rate
        summary["output_token_throughput"]["avg"] = tokens

    older = read_changed(SUMMARY, divide_by_duration)
    assert errors(older) == []
    assert "rates" not in older.rows[0].stated


@pytest.mark.parametrize(
    ("tag", "key", "rule"),
    [
        ("request_throughput", "avg", "UPH502"),
        ("output_token_throughput", "avg", "UPH502"),
        ("completed_request_count", "avg", "UPH502"),
        ("time_to_first_token", "p50", "UPH507"),
        ("time_to_first_token", "min", "UPH507"),
    ],
)
def test_a_summary_that_was_edited_is_found(
    tag: str, key: str, rule: str, read_changed: ReadChanged
) -> None:
    def edit(summary: dict[str, Any]) -> None:
        summary[tag][key] *= 3

    assert rule in errors(read_changed(SUMMARY, edit))


def test_time_between_tokens_is_told_to_be_none_between_chunks(read: Read) -> None:
    (row,) = read(SUMMARY).rows
    tpot, itl = row.figure("latency.tpot.p99"), row.figure("latency.itl.p99")
    assert tpot is not None
    assert itl is not None
    assert tpot.value == itl.value
    assert set(row.doubts) == {"latency.itl"}
    assert "UPH520" in [each.rule for each in shortcomings(row, "latency.itl.p99")]
    assert shortcomings(row, "latency.tpot.mean") == shortcomings(row, "latency.e2e.mean")


def test_failures_are_added_up_where_they_are_not_counted(read_changed: ReadChanged) -> None:
    def older(summary: dict[str, Any]) -> None:
        del summary["error_request_count"], summary["completed_request_count"]

    figure = read_changed(SUMMARY, older).rows[0].figure("requests.failed")
    assert figure is not None
    assert (figure.value, figure.origin) == (2, "recomputed")

    def oldest(summary: dict[str, Any]) -> None:
        older(summary)
        del summary["error_summary"]

    requests = read_changed(SUMMARY, oldest).rows[0].requests
    assert requests is not None
    assert requests.failed is None


def test_a_cancelled_run_is_told(read_changed: ReadChanged) -> None:
    reading = read_changed(SUMMARY, lambda summary: summary.update(was_cancelled=True))
    assert any("cancelled" in each.message for each in reading.all_findings)


def test_envelope_is_what_the_file_states(read: Read) -> None:
    (row,) = read(SUMMARY).rows
    assert row.envelope == {
        "model": "example-org/example-8b",
        "concurrency": 4,
        "input_tokens": 256,
    }
    assert row.stated["gpus_that_telemetry_saw"] == "Example GPU 80GB"
    assert "device" in row.not_stated
    assert row.means["output_tokens"].varies
    assert row.stated["output_tokens_asked_for"] == "20 on average"
    assert {"engine", "engine_version", "device_count", "request_rate"} <= set(row.not_stated)


def test_the_configuration_of_older_versions_is_read(read_changed: ReadChanged) -> None:
    def older(summary: dict[str, Any]) -> None:
        summary["input_config"] = {
            "endpoint": {"model_names": ["example-org/older"], "streaming": False},
            "loadgen": {"request_rate": 2.5},
            "input": {"prompt": {"output_tokens": {"mean": 20}}},
        }

    (row,) = read_changed(SUMMARY, older).rows
    assert row.envelope["model"] == "example-org/older"
    assert row.envelope["request_rate"] == Fraction(5, 2)
    assert "concurrency" in row.not_stated
    assert row.stated["streaming"].startswith("no")


def test_the_layout_of_early_builds_is_read(read_changed: ReadChanged) -> None:
    def early(summary: dict[str, Any]) -> None:
        records = {
            "Time to First Token": summary.pop("time_to_first_token"),
            "Inter Token Latency": summary.pop("inter_token_latency"),
            "Time to Last Token": summary.pop("request_latency"),
        }
        kept = {key: summary[key] for key in ("input_config", "was_cancelled")}
        summary.clear()
        summary.update(kept, records=records)

    reading = read_changed(SUMMARY, early)
    assert reading.format == "aiperf"
    figure = reading.rows[0].figure("latency.e2e.p99")
    assert figure is not None
    completed = reading.rows[0].figure("requests.completed")
    assert completed is not None
    assert (completed.value, completed.note) == (118, "those with a latency")
