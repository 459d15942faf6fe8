from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from served_row import served
from upheld.measured.reading import Mean, Requests, Row
from upheld.measured.sufficiency import identities
from upheld.records.finding import Finding, Place


def messages(row: Row) -> list[str]:
    found = list(identities.check(row))
    assert {each.rule for each in found} <= {"UPH516"}
    return [each.message for each in found]


def parts(tpot: str, median: str | None = None, **facts: Any) -> Row:
    """e2e 1100 ms = ttft 100 ms + 10 ms for each of 100 tokens after the first."""
    figures = {
        "latency.e2e.mean": "1100", "latency.ttft.mean": "100", "latency.tpot.mean": tpot,
    }  # fmt: skip
    if median is not None:
        figures["latency.tpot.p50"] = median
    means = {"output_tokens": Mean(Fraction(101), varies=True)}
    return served(figures, **{"means": means, **facts})


class TestTheWholeIsItsParts:
    @pytest.mark.parametrize(("tpot", "fires"), [("10", 0), ("10.09", 0), ("10.2", 1), ("9.8", 1)])
    def test_exactly_where_all_outputs_have_one_length(self, tpot: str, fires: int) -> None:
        assert len(messages(parts(tpot, envelope={"output_tokens": 101}))) == fires

    @pytest.mark.parametrize(
        ("mean", "median", "fires"),
        [("5", "5", 1), ("20", "20", 1), ("30", "10", 0), ("7", "7", 0), ("5", None, 0)],
    )
    def test_where_lengths_differ_mean_and_median_must_both_be_off(
        self, mean: str, median: str | None, fires: int
    ) -> None:
        assert len(messages(parts(mean, median))) == fires

    def test_the_figures_are_named(self) -> None:
        (message,) = messages(parts("5", "5"))
        assert message == (
            "latency.tpot.mean is 5 ms, but latency.e2e.mean of 1,100 ms less latency.ttft.mean of "
            "100 ms leaves 10 ms for each of 100 tokens"
        )

    def test_a_tool_that_means_something_else_is_not_held_to_it(self) -> None:
        doubts = {"latency.tpot": "it counts the first token"}
        assert not messages(parts("5", "5", doubts=doubts))

    def test_outputs_of_one_token_have_no_parts(self) -> None:
        figures = {
            "latency.e2e.mean": "100", "latency.ttft.mean": "100", "latency.tpot.mean": "5",
        }  # fmt: skip
        assert not messages(served(figures, envelope={"output_tokens": 1}))


@pytest.mark.parametrize(("rate", "fires"), [("4", 0), ("4.3", 0), ("4.5", 1), ("3.5", 1)])
def test_a_rate_times_the_duration_is_what_was_done(rate: str, fires: int) -> None:
    figures = {"throughput.requests": rate, "duration": "50", "requests.completed": "200"}
    assert len(messages(served(figures))) == fires


@pytest.mark.parametrize(("total", "fires"), [("110", 0), ("111", 0), ("112", 1), ("100", 1)])
def test_input_and_output_are_the_total(total: str, fires: int) -> None:
    figures = {
        "throughput.input_tokens": "100", "throughput.output_tokens": "10",
        "throughput.total_tokens": total,
    }  # fmt: skip
    assert len(messages(served(figures))) == fires


@pytest.mark.parametrize(("seconds", "fires"), [("4000", 0), ("4030", 0), ("4050", 1)])
def test_no_more_are_open_than_the_limit(seconds: str, fires: int) -> None:
    figures = {"throughput.requests": "4", "latency.e2e.mean": seconds}
    row = served(figures, envelope={"concurrency": 16})
    assert len(messages(row)) == fires


def test_what_the_reader_refused_is_not_said_again() -> None:
    figures = {"throughput.requests": "4", "latency.e2e.mean": "9000"}
    refused = Finding("UPH507", Place("a.json"), "more at once than allowed", "…")
    row = served(figures, envelope={"concurrency": 16}, findings=(refused,))
    assert not messages(row)


def test_more_requests_than_were_sent() -> None:
    assert messages(served(requests=Requests(190, 20, 200))) == [
        "200 requests were sent, but 190 completed and 20 failed"
    ]
    assert not messages(served(requests=Requests(190, 5, 200)))
    assert not messages(served(requests=Requests(190, 20, None)))


def test_a_first_token_after_the_last_and_a_request_longer_than_the_run() -> None:
    (first,) = messages(served({"latency.ttft.mean": "300", "latency.e2e.mean": "200"}))
    assert "latency.ttft.mean of 300 ms is longer than latency.e2e.mean of 200 ms" in first
    (longest,) = messages(served({"latency.e2e.max": "6000", "duration": "5"}))
    assert "latency.e2e.max of 6,000 ms is longer than the run of 5,000 ms" in longest
    assert not messages(served({"latency.e2e.max": "5400", "duration": "5"}))
