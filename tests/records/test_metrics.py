from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upheld.records.metrics import BASES, METRICS, OPEN, MetricError, resolve

# What only a clock, a bill or a person can tell.
_OF_HARDWARE = (
    "latency.", "throughput.", "cost.", "quality.", "speculation.", "requests.", "tokens.",
    "time", "duration", "concurrency.", "deployment.",
)  # fmt: skip


def test_no_speed_cost_or_quality_is_ever_carried_by_a_formula() -> None:
    found = [metric for metric in METRICS.values() if metric.name.startswith(_OF_HARDWARE)]
    assert len(found) > 15
    for metric in found:
        assert not metric.shown_by & {"arithmetic", "control"}, metric.name


def test_what_the_engine_takes_at_run_time_is_measured_and_never_derived() -> None:
    assert "arithmetic" not in METRICS["memory.runtime"].shown_by


def test_an_order_of_events_follows_from_rules_and_not_from_a_benchmark() -> None:
    for metric in METRICS.values():
        if metric.name.startswith("safety."):
            assert metric.shown_by == {"control", "tested"}
            assert metric.dimension is None


def test_a_claim_may_always_be_declared_open() -> None:
    for metric in METRICS.values():
        assert OPEN <= metric.bases <= set(BASES)
        assert metric.shown_by
        assert not metric.shown_by & OPEN


def test_what_one_run_gives_many_values_of() -> None:
    assert {name for name, metric in METRICS.items() if metric.distribution} == {
        "device.memory_used", "device.memory_total", "device.utilisation", "device.power",
        "device.power_limit", "device.temperature", "device.clock", "latency",
        "latency.ttft", "latency.tpot", "latency.itl", "latency.e2e", "latency.call",
        "latency.decode", "latency.forward", "latency.generate", "latency.load",
        "latency.per_token", "latency.prefill", "interactivity", "tokens.input", "tokens.output",
        "time",
    }  # fmt: skip


def test_a_name_that_is_like_no_other_gets_no_suggestion() -> None:
    with pytest.raises(MetricError) as caught:
        resolve("zzz")
    assert str(caught.value) == "unknown metric 'zzz'"


def test_every_metric_is_named_as_it_is_filed() -> None:
    assert all(name == metric.name for name, metric in METRICS.items())
    titles = [metric.title for metric in METRICS.values()]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize(
    ("name", "metric", "statistic"),
    [
        ("memory.kv_cache", "memory.kv_cache", None),
        ("latency.ttft", "latency.ttft", None),
        ("latency.ttft.p99", "latency.ttft", "p99"),
        ("latency.ttft.p99.9", "latency.ttft", "p99.9"),
        ("latency.e2e.mean", "latency.e2e", "mean"),
        ("time.min", "time", "min"),
        ("time.p99.9", "time", "p99.9"),
    ],
)
def test_resolve(name: str, metric: str, statistic: str | None) -> None:
    assert resolve(name) == (METRICS[metric], statistic)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("latency.ttfft", "unknown metric 'latency.ttfft'; did you mean latency.ttft"),
        ("speed", "unknown metric 'speed'"),
        ("", "unknown metric ''"),
        (".", "unknown metric '.'"),
        ("latency.ttft.p100", "latency.ttft has no statistic 'p100'; it has: mean, min, max"),
        ("latency.ttft.p٩٩", "latency.ttft has no statistic 'p٩٩'"),
        ("latency.ttft.", "latency.ttft has no statistic ''"),
        ("throughput.requests.p99", "throughput.requests has no statistic 'p99'; it has: none"),
        ("memory.weights.mean", "memory.weights has no statistic 'mean'; it has: none"),
    ],
)
def test_what_does_not_resolve(name: str, message: str) -> None:
    with pytest.raises(MetricError) as caught:
        resolve(name)
    assert str(caught.value).startswith(message)


@given(st.text(max_size=60))
def test_refused_in_one_way_alone(name: str) -> None:
    try:
        resolve(name)
    except MetricError:
        return


def test_a_message_does_not_repeat_a_megabyte() -> None:
    for name in ("x" * 10**6, "latency.ttft." + "9" * 10**6):
        with pytest.raises(MetricError) as caught:
            resolve(name)
        assert len(str(caught.value)) < 250
