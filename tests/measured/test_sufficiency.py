from __future__ import annotations

from fractions import Fraction

import pytest

from upheld.measured.reading import Figure, Requests, Row
from upheld.measured.sufficiency import shortcomings, shortcomings_of_row, values_needed
from upheld.records.finding import Place


def row(
    completed: int | None = 200,
    failed: int | None = 0,
    values: int | None = 200,
    statistic: str = "p99",
) -> Row:
    return Row(
        case=None,
        place=Place("a.json"),
        figures=(Figure(f"latency.ttft.{statistic}", Fraction(1), "ms", "reported"),),
        requests=Requests(completed, failed, 200),
        samples={} if values is None else {"latency.ttft": values},
    )


def test_enough_is_enough() -> None:
    assert shortcomings(row(), "latency.ttft.p99") == ()
    assert shortcomings_of_row(row()) == ()


@pytest.mark.parametrize(
    ("given", "name", "rule", "says"),
    [
        (row(completed=0), "latency.ttft.p99", "UPH504", "no request completed"),
        (row(completed=None), "latency.ttft.p99", "UPH504", "how many requests completed"),
        (row(completed=197, failed=3), "latency.ttft.p99", "UPH505", "3 of 200 requests failed"),
        (row(failed=None), "latency.ttft.p99", "UPH505", "not the same as none"),
        (row(values=99), "latency.ttft.p99", "UPH506", "rests on 99 values; it needs at least 100"),
        (row(values=None), "latency.ttft.p99", "UPH506", "does not say how many values"),
        (row(), "latency.ttft.p50", "UPH504", "no latency.ttft.p50; it has latency.ttft.p99"),
        (row(values=1, statistic="std"), "latency.ttft.std", "UPH506", "a single value"),
    ],
)
def test_each_reason_is_named(given: Row, name: str, rule: str, says: str) -> None:
    (reason,) = shortcomings(given, name)
    assert reason.rule == rule
    assert says in reason.message


def test_a_count_of_requests_is_not_judged_by_itself() -> None:
    counted = Row(
        case=None,
        place=Place("a.json"),
        figures=(Figure("requests.failed", Fraction(3), "requests", "reported"),),
        requests=Requests(197, 3, 200),
    )
    assert shortcomings(counted, "requests.failed") == ()


def test_a_tool_that_sends_no_requests_has_none_that_failed() -> None:
    timed = Row(
        case=None,
        place=Place("a.json"),
        figures=(Figure("time.mean", Fraction(1), "s", "reported"),),
        samples={"time": 5},
    )
    assert shortcomings(timed, "time.mean") == ()


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        ("latency.ttft.p50", 2), ("latency.ttft.p90", 10), ("latency.ttft.p95", 20),
        ("latency.ttft.p99", 100), ("latency.ttft.p99.9", 1000), ("latency.ttft.mean", None),
        ("throughput.requests", None),
    ],
)  # fmt: skip
def test_values_that_a_percentile_needs(name: str, needed: int | None) -> None:
    assert values_needed(name) == needed


@pytest.mark.parametrize(
    ("name", "needed"),
    [("time.p1", 100), ("time.p5", 20), ("time.p25", 4), ("time.p0", None)],
)
def test_a_low_percentile_needs_as_many_as_a_high_one(name: str, needed: int | None) -> None:
    assert values_needed(name) == needed


@pytest.mark.parametrize("name", ["latency.ttft.mean", "latency.ttft.max", "throughput.requests"])
def test_one_request_is_no_measurement_of_many(name: str) -> None:
    once = Row(
        case=None,
        place=Place("a.json"),
        figures=(Figure(name, Fraction(1), "s", "reported"),),
        requests=Requests(1, 0, 1),
        samples={"latency.ttft": 1},
    )
    (reason,) = shortcomings(once, name)
    assert (reason.rule, reason.message) == ("UPH506", f"{name} rests on a single measurement")
