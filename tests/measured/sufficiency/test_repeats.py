from __future__ import annotations

from typing import Any

import pytest

from served_row import served
from upheld.measured.reading import Requests, Row
from upheld.measured.sufficiency import repeats


def run(number: int, ttft: str, **facts: Any) -> Row:
    return served({"latency.ttft.mean": ttft}, **{"case": f"run {number}", **facts})


def test_a_run_far_from_the_first_alike_to_it() -> None:
    rows = [run(1, "200"), run(2, "40"), run(3, "190")]
    ((at, found),) = repeats.check(rows)
    assert (at, found.rule) == (1, "UPH519")
    assert found.message.startswith(
        "run 2 is run 1 again, in all that the file states, but latency.ttft.mean is 40 ms and "
        "was 200 ms, 5 times apart"
    )
    assert found.only_warns


@pytest.mark.parametrize(("ttft", "fires"), [("160", 0), ("159", 1), ("250", 0), ("251", 1)])
def test_a_quarter_is_far(ttft: str, fires: int) -> None:
    assert len(list(repeats.check([run(1, "200"), run(2, ttft)]))) == fires


def test_when_each_was_and_what_came_of_it_are_no_conditions() -> None:
    one = run(1, "200", stated={"date": "20260301-101500", "peak_requests_in_one_second": "8"})
    other = run(2, "40", stated={"date": "20260301-101600", "peak_requests_in_one_second": "9"})
    assert list(repeats.check([one, other]))


@pytest.mark.parametrize(
    "other",
    [
        run(2, "40", stated={"framework": "sgl"}),
        run(2, "40", envelope={"concurrency": 8}),
        run(2, "40", sent=100),
        run(2, "40", case="pp512"),
        run(2, "40", requests=Requests(190, 10, 200)),
        run(2, "40", requests=None),
    ],
    ids=["another fact", "another load", "other requests", "a name", "failures", "no requests"],
)
def test_runs_that_are_not_alike_are_not_compared(other: Row) -> None:
    assert not list(repeats.check([run(1, "200"), other]))
