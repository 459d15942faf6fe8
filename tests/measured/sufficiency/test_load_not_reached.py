from __future__ import annotations

import pytest

from served_row import served
from upheld.measured.sufficiency import load_not_reached

NO_RATE = frozenset({"request_rate"})


def test_fewer_requests_than_the_limit() -> None:
    (found,) = load_not_reached.check(served(sent=10, envelope={"concurrency": 16}))
    assert found.message == "10 requests were sent, so 16 were never open at once"


@pytest.mark.parametrize(("seconds", "fires"), [("1000", 1), ("1300", 1), ("1400", 0), ("4000", 0)])
def test_rate_times_latency_is_how_many_were_open(seconds: str, fires: int) -> None:
    figures = {"throughput.requests": "4", "latency.e2e.mean": seconds}
    row = served(figures, 200, unlimited=NO_RATE, envelope={"concurrency": 16})
    assert len(list(load_not_reached.check(row))) == fires


def test_a_rate_explains_a_limit_that_is_not_reached() -> None:
    figures = {"throughput.requests": "4", "latency.e2e.mean": "10"}
    assert not list(load_not_reached.check(served(figures, envelope={"concurrency": 16})))


def test_without_a_limit_nothing_is_judged() -> None:
    figures = {"throughput.requests": "4", "latency.e2e.mean": "10"}
    assert not list(load_not_reached.check(served(figures, unlimited=NO_RATE)))
