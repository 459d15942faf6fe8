from __future__ import annotations

import pytest

from served_row import served
from upheld.measured.reading import Requests, Row
from upheld.measured.sufficiency import sent_at_once, shortcomings

BOTH = frozenset({"request_rate", "concurrency"})
NO_RATE = frozenset({"request_rate"})


def test_without_rate_and_limit_all_are_sent_at_once() -> None:
    (found,) = sent_at_once.check(served(sent=200, unlimited=BOTH))
    assert found.rule == "UPH511"
    assert "all 200 requests were sent at once, with no limit" in found.message
    assert found.weakens("latency.ttft.p99")
    assert not found.weakens("throughput.requests")


@pytest.mark.parametrize(("limit", "fires"), [(200, 1), (101, 1), (100, 0), (16, 0), (1, 0)])
def test_a_limit_that_is_hardly_used(limit: int, fires: int) -> None:
    row = served(sent=200, unlimited=NO_RATE, envelope={"concurrency": limit})
    found = list(sent_at_once.check(row))
    assert [each.only_warns for each in found] == [True] * fires


def test_fewer_than_the_limit_is_said_once() -> None:
    row = served({"latency.ttft.mean": "1"}, 10, unlimited=NO_RATE, envelope={"concurrency": 16})
    assert [each.rule for each in shortcomings(row, "latency.ttft.mean")] == ["UPH506"]


@pytest.mark.parametrize(
    "row",
    [
        served(sent=200),
        served(sent=200, unlimited=NO_RATE),
        served(sent=200, unlimited=frozenset({"concurrency"})),
        served(sent=1, unlimited=BOTH),
        served(sent=None, unlimited=BOTH),
        served(requests=Requests(0, 8, 8), unlimited=BOTH),
    ],
)
def test_what_is_not_known_or_not_many_is_not_judged(row: Row) -> None:
    assert not list(sent_at_once.check(row))
