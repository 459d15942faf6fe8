from __future__ import annotations

import operator
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upheld.records.expectation import parse_expectation
from upheld.records.units import QuantityError

_COMPARE = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    ">=": operator.ge,
    ">": operator.gt,
}


@given(
    st.sampled_from(sorted(_COMPARE)),
    st.integers(0, 100),
    st.fractions(min_value=0, max_value=100, max_denominator=8),
)
def test_met_by_is_the_exact_comparison(sign: str, limit: int, value: Fraction) -> None:
    expectation = parse_expectation(f"{sign} {limit} KiB")
    assert expectation.met_by(value * 1024) is _COMPARE[sign](value, limit)


def test_the_last_digit_decides() -> None:
    limit = parse_expectation(">= 2")
    assert limit.met_by(Fraction(2))
    assert not limit.met_by(Fraction("1.9999999999999998"))
    assert not parse_expectation("= 9007199254740993 B").met_by(Fraction(2**53))


def test_units_are_not_dropped() -> None:
    assert not parse_expectation("<= 200 ms").met_by(Fraction(35, 100))
    assert not parse_expectation("<= 80 GB").met_by(Fraction("79.6") * 2**30)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<=76 GiB", "<= 76 GiB"),
        ("  >  8,192 tokens ", "> 8,192 tokens"),
        ("= 1", "= 1"),
        ("= -1", "= -1"),
        (">= 99 %", ">= 99 %"),
    ],
)
def test_spacing_does_not_matter(text: str, shown: str) -> None:
    assert str(parse_expectation(text)) == shown


@pytest.mark.parametrize(
    "text", ["", "76 GiB", "≤ 76 GiB", "!= 3 s", "=> 3 s", "about 3 s", "<", "<= ", ["<= 3 s"], 3]
)
def test_what_is_no_comparison(text: object) -> None:
    with pytest.raises(QuantityError):
        parse_expectation(text)


def test_the_message_names_the_operators() -> None:
    with pytest.raises(QuantityError) as caught:
        parse_expectation("76 GiB")
    assert str(caught.value) == ("wants a comparison such as '<= 76 GiB'; operators: < <= = >= > ~")


@pytest.mark.parametrize("text", ["<= nan s", "< inf GiB", "= 1e999 tokens", "> 0x10"])
def test_no_limit_that_is_not_finite_and_plain(text: str) -> None:
    with pytest.raises(QuantityError):
        parse_expectation(text)


@given(st.text(max_size=40))
def test_refused_in_one_way_alone(text: str) -> None:
    try:
        parse_expectation(text)
    except QuantityError:
        return


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("~ 1.78", "1.775", "1.785"),
        ("~ 1.780", "1.7795", "1.7805"),
        ("~ 23 %", "0.225", "0.235"),
        ("~ 442.21 GB/s", "442.205e9", "442.215e9"),
        ("~ 1,949 tokens/s", "1948.5", "1949.5"),
    ],
)
def test_what_rounds_to_the_digits_meets_them(text: str, least: str, most: str) -> None:
    expectation = parse_expectation(text)
    beyond = (Fraction(most) - Fraction(least)) / 1000
    assert expectation.met_by(Fraction(least))
    assert expectation.met_by(Fraction(most))
    assert not expectation.met_by(Fraction(least) - beyond)
    assert not expectation.met_by(Fraction(most) + beyond)


def test_a_range_may_meet_what_neither_end_does() -> None:
    assert parse_expectation("~ 2").may_be_met(Fraction(1), Fraction(3))
    assert parse_expectation("= 2").may_be_met(Fraction(1), Fraction(3))
    assert not parse_expectation("= 2").may_be_met(Fraction(3), Fraction(4))
    assert parse_expectation("> 2").may_be_met(Fraction(1), Fraction(3))
