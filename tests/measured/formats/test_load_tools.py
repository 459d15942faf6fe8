from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from upheld.measured.read import read_file
from upheld.measured.reading import FileReading, Row

Read = Callable[[str], FileReading]
ReadChanged = Callable[[str, Callable[[Any], object]], FileReading]
BENCHMARKS = Path(__file__).parents[2] / "corpora" / "benchmarks"


def edited(name: str, old: str, new: str) -> FileReading:
    text = (BENCHMARKS / name).read_text(encoding="utf-8")
    assert old in text
    return read_file(name, text.replace(old, new, 1).encode())


def values(row: Row) -> dict[str, Fraction]:
    return {figure.name: figure.value for figure in row.figures}


def errors(reading: FileReading) -> list[str]:
    return [each.rule for each in reading.all_findings if each.severity == "error"]


def test_a_summary_of_k6_that_handle_summary_wrote(read: Read) -> None:
    reading = read("k6-summary.json")
    (row,) = reading.rows
    found = values(row)
    assert found["requests.failed"] == 8
    assert found["requests.completed"] == 192
    assert found["requests.failed_ratio"] == Fraction(1, 25)
    assert found["latency.e2e.p95"] == Fraction("300.5")
    assert found["duration"] == 40000
    assert row.stated["mean_without_failures"] == "80.25 ms, against 120.5 ms with them"
    messages = [each.message for each in reading.all_findings]
    assert "8 of 200 requests failed; their times are among the latencies" in messages
    assert "thresholds were crossed: http_req_duration p(95)<200" in messages


def test_where_every_request_failed_k6_measured_nothing(read: Read) -> None:
    reading = read("k6-export.json")
    (row,) = reading.rows
    assert not [name for name in values(row) if name.startswith("latency.")]
    assert errors(reading) == ["UPH504"]
    # `false` in the layout of --summary-export means that a threshold was not crossed.
    assert "thresholds were crossed: http_req_failed rate<0.05" in [
        each.message for each in reading.all_findings
    ]


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda metrics: metrics["http_req_failed"]["values"].update(rate=0.5), "UPH502"),
        (lambda metrics: metrics["http_reqs"]["values"].update(count=400), "UPH502"),
        (lambda metrics: metrics["http_req_duration"]["values"].update(med=5000), "UPH507"),
        (lambda metrics: metrics["http_req_duration"]["values"].update(avg=-1), "UPH507"),
    ],
)
def test_what_was_edited_in_a_summary_of_k6_is_found(
    change: Callable[[Any], object], rule: str, read_changed: ReadChanged
) -> None:
    reading = read_changed("k6-summary.json", lambda saved: change(saved["metrics"]))
    assert rule in errors(reading)


def test_points_of_k6_are_worked_out_as_k6_does(read: Read) -> None:
    lines = (BENCHMARKS / "k6-points.ndjson").read_text(encoding="utf-8").splitlines()
    points = [json.loads(line) for line in lines]
    good = [
        point["data"]["value"]
        for point in points
        if point["type"] == "Point"
        and point["metric"] == "http_req_duration"
        and point["data"]["tags"]["expected_response"] == "true"
    ]
    (row,) = read("k6-points.ndjson").rows
    assert row.requests is not None
    assert (row.requests.completed, row.requests.failed) == (117, 3)
    for percent in (50, 90, 95, 99):
        figure = row.figure(f"latency.e2e.p{percent}")
        assert figure is not None
        assert figure.origin == "recomputed"
        assert float(figure.value) == pytest.approx(np.percentile(good, percent), rel=1e-12)


def test_events_of_locust_are_no_requests_of_one_kind(read: Read) -> None:
    reading = read("locust-stats.csv")
    assert [row.case for row in reading.rows] == ["STREAM E2E", "STREAM TTFT", "Aggregated"]
    whole = reading.rows[2].figure("requests")
    assert whole is not None
    assert whole.note is not None
    assert "more than once" in whole.note
    p99 = reading.rows[0].figure("latency.p99")
    assert p99 is not None
    assert (p99.value, p99.rounding) == (4200, 50)


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        (",Aggregated,250,", ",Aggregated,251,", "UPH502"),
        ("E2E,120,0,", "E2E,120,130,", "UPH507"),
        ("2240.25,1010.5", "2240.25,3010.5", "UPH507"),
        ("E2E,120,", "E2E,many,", "UPH507"),
    ],
)
def test_what_was_edited_in_statistics_of_locust_is_found(old: str, new: str, rule: str) -> None:
    assert rule in errors(edited("locust-stats.csv", old, new))


def test_statistics_of_locust_without_their_last_line_are_cut_short() -> None:
    text = (BENCHMARKS / "locust-stats.csv").read_text(encoding="utf-8")
    reading = read_file("a.csv", text[: text.index(",Aggregated")].encode())
    assert reading.rows == ()
    assert [each.rule for each in reading.findings] == ["UPH503"]


def test_the_history_of_locust_is_its_last_totals(read: Read) -> None:
    (row,) = read("locust-history.csv").rows
    assert values(row)["requests"] == 150
    assert values(row)["latency.mean"] == Fraction("68.25")
    assert "latency.p99" not in values(row)
    assert row.stated["users"] == "from 0 to 4"
    assert errors(edited("locust-history.csv", ",150,6,", ",40,6,")) == ["UPH507"]


def test_failures_of_locust_are_counted(read: Read) -> None:
    (row,) = read("locust-failures.csv").rows
    assert values(row) == {"requests.failed": 7}
    assert row.stated["failure_2"] == "2 × POST /v1/completions: ReadTimeout('a, b')"
    assert errors(edited("locust-failures.csv", ",5,", ",-5,")) == ["UPH507"]


def test_the_json_of_locust_is_worked_out_from_its_buckets(
    read: Read, read_changed: ReadChanged
) -> None:
    (row,) = read("locust.json").rows
    found = values(row)
    assert found["latency.e2e.mean"] == Fraction("15000.5") / 200
    assert found["latency.e2e.p50"] == 70
    assert found["latency.e2e.p90"] == 90
    # 198 of 200 lie below the last bucket, which is then Locust's p99.
    assert found["latency.e2e.p99"] == 250
    assert found["throughput.requests"] == 20
    p99 = row.figure("latency.e2e.p99")
    assert p99 is not None
    assert p99.rounding == 5
    changed = read_changed("locust.json", lambda saved: saved[0]["response_times"].pop("40"))
    assert errors(changed) == ["UPH502"]
    assert changed.rows[0].figure("latency.e2e.p99") is None


def test_a_report_of_wrk(read: Read) -> None:
    good, missing = read("wrk.txt").rows
    found = values(good)
    assert found["latency.e2e.mean"] == Fraction("3.29")
    assert found["latency.e2e.max"] == 1200
    assert found["latency.e2e.p99"] == Fraction("6.25")
    assert found["throughput.requests"] == Fraction("2000.4")
    assert good.envelope == {"concurrency": 8}
    assert good.figures[0].rounding == Fraction(5, 1000)
    assert values(missing)["requests.completed"] == 0
    assert not [name for name in values(missing) if name.startswith("latency.")]
    assert errors(read("wrk.txt")) == ["UPH504"]


def test_a_rate_of_wrk_that_was_edited_is_found() -> None:
    reading = edited("wrk.txt", "Requests/sec:   2000.40", "Requests/sec:   2100.40")
    assert "UPH502" in errors(reading)


def test_a_report_of_hey(read: Read) -> None:
    reading = read("hey.txt")
    (row,) = reading.rows
    found = values(row)
    assert (found["requests.attempted"], found["requests.failed"]) == (202, 6)
    assert found["latency.e2e.p99"] == Fraction("0.04")
    assert errors(reading) == []
    assert errors(edited("hey.txt", "101.0000", "202.0000")) == ["UPH502"]
    assert errors(edited("hey.txt", "Average:\t0.0060", "Average:\t0.9")) == ["UPH507"]


def test_single_requests_of_hey_by_its_own_rule(read: Read) -> None:
    (row,) = read("hey.csv").rows
    lines = (BENCHMARKS / "hey.csv").read_text(encoding="utf-8").splitlines()[1:]
    times = sorted(float(line.split(",")[0]) for line in lines)
    found = values(row)
    assert float(found["latency.e2e.p99"]) == times[198]
    assert float(found["latency.e2e.p50"]) == times[100]
    assert found["requests.completed"] == 198
    assert row.requests is not None
    assert row.requests.failed == 2
    assert errors(edited("hey.csv", "0.0001,0.0000", "x,0.0000")) == []
    cut = read_file("a.csv", "\n".join(["a", *lines]).encode())
    assert cut.format == "unknown"
