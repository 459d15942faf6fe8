"""How values go over a run: a slow start, and a drift to its end."""

from __future__ import annotations

import pytest

from served_row import served
from upheld.measured.course import course_of
from upheld.measured.reading import Row
from upheld.measured.sufficiency import cold_start, drift, shortcomings

STEADY = [100, 101, 99, 102, 98, 100] * 5


def row(name: str, values: list[int], opening: int = 1) -> Row:
    course = course_of(values, opening)
    assert course is not None
    return served({f"{name}.mean": "1", f"{name}.p50": "1"}, courses={name: course})


def rules(found: Row, name: str) -> list[str]:
    return [each.rule for each in shortcomings(found, name) if each.rule in ("UPH513", "UPH514")]


def test_thirds_and_the_mean_of_all() -> None:
    course = course_of([7, 1, 2, 3, 4, 5, 6])
    assert course is not None
    assert (course.opening.mean, course.rest.mean, course.mean) == (7, 3.5, 4)
    assert (course.early.least, course.early.most, course.early.count) == (1, 7, 2)
    assert (course.late.least, course.late.most, course.late.mean) == (5, 6, 5.5)


@pytest.mark.parametrize(
    ("values", "opening"), [([], 1), ([1, 2], 1), ([1, 2, 3], 3), ([1] * 9, 0)]
)
def test_too_few_values_have_no_course(values: list[int], opening: int) -> None:
    assert course_of(values, opening) is None


class TestColdStart:
    def test_a_first_value_that_moves_the_mean(self) -> None:
        found = row("latency.ttft", [500, *STEADY])
        (one,) = cold_start.check(found)
        assert one.message == (
            "the mean of latency.ttft is 500 ms for the first value, 100 ms for the 30 after and "
            "112.9 ms for all: the start is in the figures"
        )
        assert rules(found, "latency.ttft.mean") == ["UPH513"]
        assert rules(found, "latency.ttft.p50") == []

    def test_the_opening_is_as_many_as_were_open_at_once(self) -> None:
        (one,) = cold_start.check(row("latency.ttft", [210] * 8 + STEADY, opening=8))
        assert "210 ms for the first 8 values" in one.message

    @pytest.mark.parametrize(
        ("values", "opening"),
        [
            ([200, *STEADY], 1),
            ([230, *STEADY], 1),
            (STEADY, 1),
            ([20, *STEADY], 1),
            ([500] * 31 + STEADY, 31),
        ],
        ids=["not twice", "the mean hardly moves", "steady", "faster", "more than the rest"],
    )
    def test_it_is_silent(self, values: list[int], opening: int) -> None:
        assert not list(cold_start.check(row("latency.ttft", values, opening)))

    def test_of_a_rate_the_slow_ones_are_the_low_ones(self) -> None:
        assert list(cold_start.check(row("throughput.output_tokens", [20, 100, 100, 100])))
        assert not list(cold_start.check(row("throughput.output_tokens", [500, 100, 100, 100])))


class TestDrift:
    def test_a_queue_that_grows(self) -> None:
        found = row("latency.ttft", list(range(100, 130)))
        (one,) = drift.check(found)
        assert one.message.startswith(
            "latency.ttft rises over the run: 104.5 ms is the mean of the first third, 124.5 ms"
        )
        assert rules(found, "latency.ttft.p50") == ["UPH514"]
        assert rules(found, "latency.tpot.p50") == []

    def test_a_fall(self) -> None:
        (one,) = drift.check(row("time", list(range(130, 100, -1))))
        assert "time falls over the run" in one.message

    @pytest.mark.parametrize(
        "values",
        [
            list(range(100, 114)),
            [1000 + each for each in range(30)],
            [*range(100, 129), 104],
            STEADY,
        ],
        ids=["fewer than 15", "less than 5 %", "one is among the others", "steady"],
    )
    def test_it_is_silent(self, values: list[int]) -> None:
        assert not list(drift.check(row("latency.ttft", values)))
