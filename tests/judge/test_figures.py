from __future__ import annotations

from fractions import Fraction

import pytest

from upheld.judge.figures import beside


@pytest.mark.parametrize(
    ("value", "limit", "shown"),
    [
        (Fraction(1), Fraction(1), "1"),
        (Fraction(3997, 10), Fraction(400), "399.7"),
        (Fraction("400.0001"), Fraction(400), "400.0001"),
        (Fraction("1.00001"), Fraction(1), "1.00001"),
        (400 + Fraction(1, 10**20), Fraction(400), "more than 400"),
        (400 - Fraction(1, 10**20), Fraction(400), "less than 400"),
    ],
)
def test_a_figure_is_told_from_its_limit(value: Fraction, limit: Fraction, shown: str) -> None:
    assert beside(value, limit) == shown
