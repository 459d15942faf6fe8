from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from upheld.measured.read import read_file
from upheld.measured.reading import FileReading, Row

Read = Callable[[str], FileReading]
BENCHMARKS = Path(__file__).parents[2] / "corpora" / "benchmarks"


def edited(old: str, new: str) -> FileReading:
    text = (BENCHMARKS / "prometheus-vllm.txt").read_text(encoding="utf-8")
    assert old in text
    return read_file("metrics.txt", text.replace(old, new, 1).encode())


def values(row: Row) -> dict[str, Fraction]:
    return {figure.name: figure.value for figure in row.figures}


def test_means_are_sums_over_counts_and_percentiles_lie_in_a_bucket(read: Read) -> None:
    (row,) = read("prometheus-vllm.txt").rows
    found = values(row)
    assert found["latency.ttft.mean"] == Fraction(1, 8)
    assert found["latency.e2e.mean"] == Fraction("1.65")
    p50 = row.figure("latency.ttft.p50")
    assert p50 is not None
    # 102 of 204 lie below it: 2 of the 80 between 0.1 and 0.2 s.
    assert p50.value == Fraction("0.1") + Fraction("0.1") * Fraction(2, 80)
    assert p50.value - p50.rounding <= Fraction("0.1")
    assert p50.value + p50.rounding >= Fraction("0.2")
    assert p50.note is not None
    assert p50.note.endswith("not one run; interpolated in its bucket, from 0.1 to 0.2 s")
    # 202 of 204 are beyond the last bound.
    assert "latency.ttft.p99" not in found


def test_counts_envelope_and_cache_of_vllm(read: Read) -> None:
    (row,) = read("prometheus-vllm.txt").rows
    assert row.requests is not None
    assert (row.requests.completed, row.requests.failed) == (198, 2)
    assert values(row)["capacity.tokens"] == 400448
    assert row.envelope == {
        "engine": "vLLM", "model": "example-org/example-8b", "prefix_caching": True,
        "kv_cache_dtype": "fp8",
    }  # fmt: skip
    assert row.stated["unfinished"] == "204 requests have a first token, 200 an end"
    assert row.stated["prefix_cache"] == "2,048 of 204,800 tokens were found in it"


def test_other_engines_and_devices(read: Read) -> None:
    sglang, tgi, device = read("prometheus-sglang-tgi-dcgm.txt").rows
    assert sglang.envelope["engine"] == "SGLang"
    assert values(sglang)["latency.itl.mean"] == Fraction("0.02")
    assert sglang.requests is not None
    assert sglang.requests.failed is None
    assert values(tgi)["latency.e2e.mean"] == Fraction("1.3")
    assert tgi.requests is not None
    assert (tgi.requests.completed, tgi.requests.failed, tgi.requests.attempted) == (20, 5, 25)
    assert device.envelope == {"device": "Example GPU 80GB"}
    assert values(device) == {"device.utilisation.mean": 88, "device.memory_used.mean": 70000}


def test_a_server_that_nobody_asked_has_no_failures_and_no_latency() -> None:
    text = (
        "# TYPE vllm:request_success_total counter\n"
        'vllm:request_success_total{model_name="m",finished_reason="stop"} 0.0\n'
    )
    reading = read_file("metrics.txt", text.encode())
    (row,) = reading.rows
    assert row.requests is None
    assert reading.all_findings == ()


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ('le="0.2",model_name="example-org/example-8b"} 180.0', 'le="0.2"} 80.0', "UPH507"),
        ("_count{engine=\"0\",model_name=\"example-org/example-8b\"} 204.0",
         "_count{engine=\"0\",model_name=\"example-org/example-8b\"} 209.0", "UPH507"),
        ('prompt_tokens_total{engine="0"', 'prompt_tokens_total{engine=0', "UPH503"),
        ('num_gpu_blocks="25028"} 1.0\n', 'num_gpu_blocks="25028"} 1.0', "UPH503"),
        ("} 25.5", "} many", "UPH503"),
    ],
)  # fmt: skip
def test_what_was_edited_is_found(old: str, new: str, rule: str) -> None:
    reading = edited(old, new)
    assert rule in [each.rule for each in reading.all_findings]
    if rule == "UPH503":
        assert reading.rows == ()
    else:
        assert not [name for name in values(reading.rows[0]) if "ttft" in name]


def test_metrics_of_something_else_are_no_measurement() -> None:
    data = b"# TYPE go_gc_duration_seconds summary\ngo_gc_duration_seconds_count 5\n"
    reading = read_file("metrics.txt", data)
    assert reading.format == "prometheus"
    assert [each.rule for each in reading.findings] == ["UPH504"]
