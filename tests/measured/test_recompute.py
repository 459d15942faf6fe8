from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upheld.measured.recompute import Values, agrees, square_root

LATENCIES = st.lists(
    st.floats(min_value=1e-6, max_value=1e4, allow_nan=False), min_size=1, max_size=200
)


def exactly(numbers: list[float]) -> Values:
    return Values([Decimal(repr(number)) for number in numbers])


@given(LATENCIES, st.sampled_from(["0", "1", "25", "50", "90", "95", "99", "99.9", "100"]))
def test_percentiles_are_numpy_s(numbers: list[float], percent: str) -> None:
    ours = exactly(numbers).percentile(Fraction(percent))
    assert float(ours) == pytest.approx(np.percentile(numbers, float(percent)), rel=1e-9)


@given(LATENCIES)
def test_mean_total_and_bounds_are_numpy_s(numbers: list[float]) -> None:
    values = exactly(numbers)
    assert float(values.mean) == pytest.approx(np.mean(numbers), rel=1e-9)
    assert float(values.total) == pytest.approx(np.sum(numbers), rel=1e-9)
    assert float(values.smallest) == min(numbers)
    assert float(values.largest) == max(numbers)


@given(st.lists(st.integers(1, 10**9), min_size=2, max_size=100), st.sampled_from([0, 1]))
def test_deviations_are_numpy_s(thousandths: list[int], ddof: int) -> None:
    numbers = [each / 1000 for each in thousandths]
    ours = float(exactly(numbers).deviation(ddof))
    magnitude = float(np.mean(numbers))
    assert ours == pytest.approx(np.std(numbers, ddof=ddof), rel=1e-9, abs=1e-9 * magnitude)


def test_sums_are_exact_where_floating_point_is_not() -> None:
    assert Values([Decimal("0.1")] * 10).total == 1


def test_whole_and_broken_numbers_mix() -> None:
    values = Values([2, Decimal("0.5"), Decimal("1E+2")])
    assert (values.smallest, values.largest, values.total) == (
        Fraction(1, 2),
        100,
        Fraction(205, 2),
    )


def test_a_root_is_exact_to_far_more_than_print() -> None:
    assert square_root(Fraction(9, 4)) == Fraction(3, 2)
    assert abs(square_root(Fraction(2)) ** 2 - 2) < Fraction(1, 10**38)


def test_refuses_what_has_no_value() -> None:
    with pytest.raises(ValueError, match="no values"):
        Values([])
    with pytest.raises(ValueError, match="too few"):
        Values([1]).deviation(1)
    with pytest.raises(ValueError, match="between"):
        Values([1]).percentile(Fraction(101))


@pytest.mark.parametrize(
    ("recomputed", "reported", "same"),
    [
        ("12.3456789", "12.3456789", True),
        ("12.34567890001", "12.34567890002", True),
        ("12.3456", "12.35", True),
        ("12.3456", "12.36", False),
        ("0.00000022", "0", False),
        ("0.04", "0.0", False),
        ("3.3", "3", False),
        ("0", "0", True),
    ],
)
def test_agrees_but_for_floating_point_and_print(
    recomputed: str, reported: str, same: bool
) -> None:
    assert agrees(Fraction(recomputed), Decimal(reported)) is same
