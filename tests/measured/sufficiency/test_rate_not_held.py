from __future__ import annotations

from fractions import Fraction

import pytest

from served_row import served
from upheld.measured.reading import Row
from upheld.measured.sufficiency import rate_not_held, shortcomings


def at_rate(asked: object, duration: str, sent: int = 400, **axes: object) -> Row:
    figures = {"duration": duration, "latency.ttft.p50": "1", "throughput.requests": "1"}
    return served(figures, sent, envelope={"request_rate": asked, **axes})


def test_a_run_that_takes_far_longer_than_sending_does() -> None:
    (found,) = rate_not_held.check(at_rate(Fraction(8), "100"))
    assert found.rule == "UPH510"
    assert found.message == (
        "a rate of 8/s was asked for and 4/s reached: 400 requests took 100 s, "
        "so the latencies depend on how many were sent"
    )


def test_a_latency_is_insufficient_and_a_throughput_stands() -> None:
    row = at_rate(Fraction(8), "100")
    assert [each.rule for each in shortcomings(row, "latency.ttft.p50")][-1] == "UPH510"
    assert "UPH510" not in [each.rule for each in shortcomings(row, "throughput.requests")]


def test_a_limit_that_holds_requests_back_in_the_client_is_named() -> None:
    (found,) = rate_not_held.check(at_rate(Fraction(8), "100", concurrency=16))
    assert "the limit of 16 at once held some back in the client" in found.message


# Of 400 requests at 8/s, 400 ± 3 × 20 need 57.5 s at most; 90 % of the rate are 55.6 s.
@pytest.mark.parametrize(("duration", "fires"), [("50", 0), ("57.5", 0), ("57.6", 1)])
def test_what_chance_explains_is_left_to_it(duration: str, fires: int) -> None:
    assert len(list(rate_not_held.check(at_rate(Fraction(8), duration)))) == fires


def test_of_many_requests_nine_tenths_of_the_rate_are_the_rate() -> None:
    assert not list(rate_not_held.check(at_rate(8, "13750", sent=100_000)))
    assert list(rate_not_held.check(at_rate(8, "13900", sent=100_000)))


@pytest.mark.parametrize(
    "row",
    [
        served({"duration": "100"}, envelope={}),
        served({}, envelope={"request_rate": Fraction(8)}),
        served({"duration": "100"}, sent=None, envelope={"request_rate": Fraction(8)}),
        served({"duration": "0"}, envelope={"request_rate": Fraction(8)}),
    ],
)
def test_what_is_not_known_is_not_judged(row: Row) -> None:
    assert not list(rate_not_held.check(row))
