from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from served_row import served
from upheld.measured.reading import Row
from upheld.measured.sufficiency import statistics
from upheld.records.finding import Finding, Place


def times(count: int | None = 9, **values: float) -> Row:
    figures = {f"latency.ttft.{name}": repr(value) for name, value in values.items()}
    return served(figures, samples={} if count is None else {"latency.ttft": count})


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (times(p50=110.0, p99=100.0), "latency.ttft.p50 of 110 ms is greater than"),
        (times(p99=110.0, max=100.0), "is greater than latency.ttft.max of 100 ms"),
        (times(min=110.0, p50=100.0), "latency.ttft.min of 110 ms is greater than"),
        (times(mean=90.0, min=100.0), "is less than latency.ttft.min"),
        (times(mean=110.0, max=100.0), "is greater than latency.ttft.max"),
        (times(mean=100.0, p50=50.0, std=10.0), "are further apart than latency.ttft.std"),
        (times(p50=100.0, p99=200.0, std=0.0), "latency.ttft.std of 0 ms, but"),
        (times(min=100.0, max=120.0, std=20.0), "is wider than"),
    ],
)
def test_what_no_values_have(row: Row, says: str) -> None:
    (found,) = statistics.check(row)
    assert (found.rule, found.severity) == ("UPH507", "error")
    assert says in found.message


@pytest.mark.parametrize(
    "row",
    [
        times(p50=100.0, p99=100.0, std=0.0),
        times(p99=5300.0, max=5297.0),
        times(None, min=100.0, max=120.0, std=20.0),
        times(1, mean=100.0),
    ],
    ids=["all equal", "a percentile rounded to two digits", "unknown count", "a single value"],
)
def test_what_values_may_have(row: Row) -> None:
    assert not list(statistics.check(row))


def test_what_the_reader_refused_is_not_said_again() -> None:
    refused = Finding("UPH507", Place("a.json"), "p50 is greater than p99", "…")
    row = served({"latency.ttft.p50": "110", "latency.ttft.p99": "100"}, findings=(refused,))
    assert not list(statistics.check(row))


@given(
    st.lists(st.floats(min_value=1e-3, max_value=1e6, allow_nan=False), min_size=2, max_size=60),
    st.sampled_from([0, 1]),
)
def test_no_values_are_refused(values: list[float], ddof: int) -> None:
    array = np.array(values)
    row = times(
        len(values),
        mean=float(array.mean()),
        std=float(array.std(ddof=ddof)),
        min=float(array.min()),
        max=float(array.max()),
        p50=float(np.percentile(array, 50)),
        p90=float(np.percentile(array, 90)),
        p99=float(np.percentile(array, 99)),
    )
    assert not list(statistics.check(row))
