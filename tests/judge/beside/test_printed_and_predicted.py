from __future__ import annotations

from fractions import Fraction

import pytest

from upheld.judge.beside.figures import Interval, in_interval, same_digits


@pytest.mark.parametrize(
    ("printed", "value", "verdict", "shown"),
    [
        ("14.99", Fraction("14.9888"), "exact", "14.99"),
        ("1,034,544", Fraction(1034544), "exact", "1,034,544"),
        ("0.12", Fraction("0.125"), "exact", "0.12"),
        ("14.98", Fraction("14.9888"), "within", "14.99"),
        ("16.00", Fraction("14.9888"), "off", "14.99"),
    ],
)
def test_digits_are_rounded_half_to_even(
    printed: str, value: Fraction, verdict: str, shown: str
) -> None:
    check = same_digits("weights", printed, value)
    assert (check.verdict, check.predicted, check.compared) == (verdict, shown, "digits")


@pytest.mark.parametrize(
    ("printed", "differs_by"),
    [("100", Fraction(0)), ("110", Fraction(0)), ("121", Fraction(1, 10)), ("50", Fraction(-1, 2))],
)
def test_the_difference_is_from_the_nearest_end(printed: str, differs_by: Fraction) -> None:
    check = in_interval("tokens", printed, Fraction(100), Fraction(110))
    assert check.differs_by == differs_by
    assert (check.verdict == "exact") is (differs_by == 0)
    assert check.predicted == "100 … 110"


def test_a_rounded_input_is_anything_that_prints_so() -> None:
    assert Interval.of("5.27", 100) == Interval(Fraction("526.5"), Fraction("527.5"))
    assert Interval.of("24.0", 100) == Interval(Fraction("2399.5"), Fraction("2400.5"))
