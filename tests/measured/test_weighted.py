from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upheld.measured.recompute import Values
from upheld.measured.weighted import WeightedValues

PAIRS = st.lists(
    st.tuples(st.integers(0, 10**6).map(lambda n: Decimal(n) / 1000), st.integers(0, 5)),
    min_size=1, max_size=30,
).filter(lambda pairs: any(weight for _, weight in pairs))  # fmt: skip


@given(PAIRS)
def test_a_weight_is_as_many_values(pairs: list[tuple[Decimal, int]]) -> None:
    weighted = WeightedValues(pairs)
    repeated = [value for value, weight in pairs for _ in range(weight)]
    values = Values(repeated)
    assert len(weighted) == len(values)
    assert (weighted.mean, weighted.smallest, weighted.largest) == (
        values.mean, values.smallest, values.largest,
    )  # fmt: skip
    assert float(weighted.deviation(0)) == pytest.approx(float(values.deviation(0)), abs=1e-12)
    for percent in (10, 50, 90, 99):
        inverted = np.percentile(list(map(float, repeated)), percent, method="inverted_cdf")
        found = float(weighted.percentile(Fraction(percent)))
        # A share on the edge falls as floats add up, to one value or to the next.
        near = sorted({*map(float, repeated)})
        assert abs(near.index(found) - near.index(float(inverted))) <= 1


def test_no_weight_is_no_values() -> None:
    with pytest.raises(ValueError, match="no values"):
        WeightedValues([(1, 0)])


def test_one_value_has_no_deviation_of_a_sample() -> None:
    with pytest.raises(ValueError, match="too few"):
        WeightedValues([(1, 1)]).deviation(1)
