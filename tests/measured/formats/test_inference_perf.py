from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from upheld.measured.read import read_file
from upheld.measured.reading import FileReading
from upheld.measured.sufficiency import shortcomings

Read = Callable[[str], FileReading]
ReadChanged = Callable[[str, Callable[[Any], object]], FileReading]


def rules(reading: FileReading, severity: str = "error") -> list[str]:
    return [each.rule for each in reading.all_findings if each.severity == severity]


def test_rates_follow_from_counts_means_and_the_wall_time(read: Read) -> None:
    reading = read("inference-perf-stage.json")
    (row,) = reading.rows
    requests = row.figure("throughput.requests")
    assert requests is not None
    assert requests.origin == "reported", "the wall time follows from it, not it from the wall time"
    for name in ("input_tokens", "output_tokens", "total_tokens"):
        figure = row.figure(f"throughput.{name}")
        assert figure is not None
        assert figure.origin == "recomputed"
        assert figure.reported is not None
        assert float(figure.value) == pytest.approx(float(figure.reported), rel=1e-9)
    duration = row.figure("duration")
    assert duration is not None
    assert float(duration.value) == pytest.approx(61.5)
    assert row.samples["latency.ttft"] == 240
    assert row.envelope["request_rate"] == 4
    assert row.means["output_tokens"].varies
    assert rules(reading) == []
    (few,) = reading.all_findings
    assert "at least 1,000 are needed" in few.message


def test_yaml_says_what_json_says(read: Read) -> None:
    (json_row,), (yaml_row,) = (
        read(f"inference-perf-stage.{suffix}").rows for suffix in ("json", "yaml")
    )
    assert yaml_row.figures == json_row.figures
    assert yaml_row.envelope == json_row.envelope


@pytest.mark.parametrize(
    ("keys", "rule"),
    [
        (("successes", "throughput", "requests_per_sec"), "UPH502"),
        (("successes", "throughput", "output_tokens_per_sec"), "UPH502"),
        (("successes", "throughput", "total_tokens_per_sec"), "UPH502"),
        (("successes", "output_len", "mean"), "UPH502"),
        (("successes", "count"), "UPH502"),
        (("load_summary", "achieved_rate"), "UPH502"),
        (("failures", "count"), "UPH502"),
    ],
)
def test_an_edited_number_is_found(
    keys: tuple[str, ...], rule: str, read_changed: ReadChanged
) -> None:
    def edit(report: dict[str, Any]) -> None:
        *path, last = keys
        for key in path:
            report = report[key]
        report[last] = report[last] * 2 + 1

    assert rule in rules(read_changed("inference-perf-stage.json", edit))


def test_time_per_chunk_is_no_time_per_token(read_changed: ReadChanged) -> None:
    def halve(report: dict[str, Any]) -> None:
        latency = report["successes"]["latency"]["time_per_output_token"]
        latency.update({key: value / 2 for key, value in latency.items()})

    reading = read_changed("inference-perf-stage.json", halve)
    (row,) = reading.rows
    assert "UPH520" in rules(reading, "warning")
    assert "chunks are taken for tokens" in row.doubts["latency.tpot"]
    (why, *_) = shortcomings(row, "latency.tpot.mean")
    assert "not what its name says" in why.message
    assert not shortcomings(row, "latency.ttft.mean")


def test_a_report_on_all_stages_is_no_operating_point(read_changed: ReadChanged) -> None:
    def of_all(report: dict[str, Any]) -> None:
        for key in ("requested_rate", "achieved_rate", "send_duration"):
            del report["load_summary"][key]

    (row,) = read_changed("inference-perf-stage.json", of_all).rows
    assert "request_rate" in row.not_stated
    assert "no single operating point" in row.stated["load"]


def test_requests_that_were_sent_late_are_told(read_changed: ReadChanged) -> None:
    (row,) = read_changed(
        "inference-perf-stage.json", lambda report: report["load_summary"].update(requested_rate=8)
    ).rows
    assert "sent late" in row.stated["achieved_rate"]


def test_what_was_not_streamed_has_no_time_to_first_token(read_changed: ReadChanged) -> None:
    def null(report: dict[str, Any]) -> None:
        for key in ("time_to_first_token", "time_per_output_token", "inter_token_latency"):
            report["successes"]["latency"][key] = None

    reading = read_changed("inference-perf-stage.json", null)
    (row,) = reading.rows
    assert row.figure("latency.ttft.mean") is None
    assert row.figure("latency.e2e.mean") is not None
    assert rules(reading) == []


def test_the_wall_time_that_a_newer_report_states_is_used(read_changed: ReadChanged) -> None:
    def newer(report: dict[str, Any]) -> None:
        report["benchmark_time_seconds"] = 61.5
        outputs = round(report["successes"]["output_len"]["mean"] * 240)
        report["successes"]["output_tokens"] = {"total": outputs + 240}
        rates = report["successes"]["throughput"]
        rates["output_tokens_per_sec"] = (outputs + 240) / 61.5
        rates["total_tokens_per_sec"] = (
            rates["input_tokens_per_sec"] + rates["output_tokens_per_sec"]
        )

    reading = read_changed("inference-perf-stage.json", newer)
    duration = reading.rows[0].figure("duration")
    assert duration is not None
    assert (duration.value, duration.origin) == (Fraction("61.5"), "reported")
    requests = reading.rows[0].figure("throughput.requests")
    assert requests is not None
    assert requests.origin == "recomputed"
    assert rules(reading) == []


def test_the_server_s_side_counts_no_failures_and_0_is_no_latency(read: Read) -> None:
    reading = read("inference-perf-server.json")
    (row,) = reading.rows
    assert row.requests is not None
    assert (row.requests.completed, row.requests.failed) == (611, None)
    assert row.figure("latency.tpot.mean") is None
    assert row.stated["side"].startswith("server")
    assert sorted(rules(reading, "warning")) == ["UPH504", "UPH505"]


@pytest.mark.parametrize(
    "text",
    [
        "load_summary: {}\nsuccesses: {}\nfailures: [\n",
        "load_summary: {}\nsuccesses: {}\nfailures: {}\nfailures: {}\n",
    ],
)
def test_damaged_yaml_is_a_finding_with_its_place(text: str) -> None:
    reading = read_file("a.yaml", text.encode())
    assert reading.rows == ()
    (finding,) = reading.findings
    assert finding.rule == "UPH503"
    assert finding.place.line > 2


def test_yaml_without_latencies_is_a_finding() -> None:
    reading = read_file("a.yaml", b"load_summary: 1\nsuccesses: {count: 3}\nfailures: {}\n")
    assert [each.figures for each in reading.rows] == [()]
    assert rules(reading) == ["UPH504"]
