from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from served_row import served
from upheld.measured.reading import Mean, Row
from upheld.measured.sufficiency import first_token_too_soon, shortcomings


def after(first: str, later: str = "12", prompt: int = 2000, **axes: Any) -> Row:
    figures = {"latency.ttft.p50": first, "latency.tpot.p50": later}
    return served(figures, envelope={"input_tokens": prompt, **axes}, samples={"latency.ttft": 200})


def test_a_prompt_of_2000_tokens_in_less_time_than_one_token() -> None:
    (found,) = first_token_too_soon.check(after("9"))
    assert found.message == (
        "the median first token came after 9 ms, though a prompt of 2,000 tokens comes before it "
        "and each later token took 12 ms: the prompt was in a cache, or the first chunk is no token"
    )
    assert [each.rule for each in shortcomings(after("9"), "latency.ttft.p50")] == ["UPH515"]


def test_a_mean_length_is_known_too() -> None:
    row = served(
        {"latency.ttft.p50": "9", "latency.tpot.p50": "12"},
        means={"input_tokens": Mean(Fraction(4001, 2), varies=True)},
    )
    assert list(first_token_too_soon.check(row))


@pytest.mark.parametrize(
    "row",
    [
        after("12"),
        after("40"),
        after("9", prompt=999),
        after("9", prefix_caching=True),
        served({"latency.ttft.p50": "9", "latency.tpot.p50": "12"}),
        served({"latency.ttft.p50": "9"}, envelope={"input_tokens": 2000}),
    ],
)
def test_it_is_silent(row: Row) -> None:
    assert not list(first_token_too_soon.check(row))


def test_caching_that_is_stated_to_be_off_does_not_explain_it() -> None:
    assert list(first_token_too_soon.check(after("9", prefix_caching=False)))
