from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from served_row import served
from upheld.measured.sufficiency import mean_uncertain, shortcomings


def test_values_far_apart_do_not_tell_their_mean() -> None:
    row = served(
        {"latency.ttft.mean": "200", "latency.ttft.std": "300"}, samples={"latency.ttft": 9}
    )
    (found,) = mean_uncertain.check(row)
    assert found.rule == "UPH506"
    assert found.message == (
        "latency.ttft.mean of 200 ms has a standard error of 50 %: its 9 values have a deviation "
        "of 300 ms"
    )
    assert "about 225 such values" in found.help
    assert "UPH506" in [each.rule for each in shortcomings(row, "latency.ttft.mean")]


def test_it_is_the_standard_error_that_counts() -> None:
    values = np.random.default_rng(5).gamma(2, 50, 40)
    error = values.std() / np.sqrt(40) / values.mean()
    for factor, fires in ((0.99, 0), (1.01, 1)):
        # The deviation at which the error of these 40 values is just below, or above, a tenth.
        deviation = values.std() * 0.1 / error * factor
        figures = {
            "latency.ttft.mean": str(Decimal(float(values.mean()))),
            "latency.ttft.std": str(Decimal(float(deviation))),
        }
        row = served(figures, samples={"latency.ttft": 40})
        assert len(list(mean_uncertain.check(row))) == fires


@pytest.mark.parametrize(
    ("figures", "samples"),
    [
        ({"latency.ttft.mean": "200"}, {"latency.ttft": 9}),
        ({"latency.ttft.mean": "200", "latency.ttft.std": "300"}, {}),
        ({"latency.ttft.std": "300"}, {"latency.ttft": 9}),
        ({"latency.ttft.mean": "0", "latency.ttft.std": "0"}, {"latency.ttft": 9}),
    ],
)
def test_what_is_not_known_is_not_judged(figures: dict[str, str], samples: dict[str, int]) -> None:
    assert not list(mean_uncertain.check(served(figures, samples=samples)))
