from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from upheld.measured.reading import FileReading

Read = Callable[[str], FileReading]
ReadChanged = Callable[[str, Callable[[Any], object]], FileReading]
DETAILED = "sglang-serving-detailed.jsonl"
SPLIT = "sglang-serving-split.jsonl"


def errors(reading: FileReading) -> list[str]:
    return [each.rule for each in reading.all_findings if each.severity == "error"]


def test_single_requests_are_recomputed_to_the_printed_summary(read: Read) -> None:
    reading = read(DETAILED)
    assert reading.format == "sglang-bench-serving"
    assert errors(reading) == []
    (row,) = reading.rows
    for name in ("latency.ttft.std", "latency.itl.p99", "latency.itl.max", "requests.completed"):
        figure = row.figure(name)
        assert figure is not None
        assert figure.origin == "recomputed"
        assert figure.reported is not None
    assert row.requests is not None
    assert (row.requests.completed, row.requests.failed, row.requests.attempted) == (118, 2, 120)


@pytest.mark.parametrize(
    "key",
    [
        "concurrency", "total_throughput", "input_throughput", "total_input_tokens",
        "p99_ttft_ms", "median_itl_ms", "max_itl_ms",
    ],
)  # fmt: skip
def test_a_summary_that_was_edited_is_found(key: str, read_changed: ReadChanged) -> None:
    def edit(run: dict[str, Any]) -> None:
        run[key] = run[key] * 2

    reading = read_changed(DETAILED, edit)
    found = [each for each in reading.all_findings if each.rule == "UPH502"]
    assert any(key in each.message for each in found)


def test_more_requests_open_than_allowed_are_found(read_changed: ReadChanged) -> None:
    reading = read_changed(SPLIT, lambda run: run.update(max_concurrency=4))
    assert any("mean_e2e_latency_ms and duration need" in e.message for e in reading.all_findings)


def test_failures_that_nobody_counts_are_unknown(read: Read) -> None:
    (row,) = read(SPLIT).rows
    assert row.requests is not None
    assert (row.requests.failed, row.requests.attempted) == (None, None)
    assert row.figure("requests.failed") is None


def test_gaps_that_the_client_divided_are_only_reported(read_changed: ReadChanged) -> None:
    reading = read_changed(
        DETAILED, lambda run: run.update(backend="sglang-oai", accept_length=2.5, mean_itl_ms=4.2)
    )
    figure = reading.rows[0].figure("latency.itl.mean")
    assert figure is not None
    assert figure.origin == "reported"
    assert "UPH502" not in errors(reading)


def test_envelope_is_what_the_server_says_of_itself(read: Read) -> None:
    (row,) = read(DETAILED).rows
    assert row.envelope == {
        "engine": "SGLang",
        "model": "example-org/example-8b",
        "engine_version": "0.5.9",
        "weight_dtype": "bf16",
        "tensor_parallel": 2,
        "device_count": 2,
        "max_model_len": 32768,
        "prefix_caching": False,
        "speculative_decoding": "none",
        "concurrency": 8,
    }
    assert row.not_stated == ("model_revision", "kv_cache_dtype", "device")
    assert row.stated["device_kind"] == "cuda"


def test_quantised_weights_have_no_dtype_of_the_model(read_changed: ReadChanged) -> None:
    reading = read_changed(DETAILED, lambda run: run["server_info"].update(quantization="fp8"))
    assert "weight_dtype" not in reading.rows[0].envelope
    assert reading.rows[0].stated["quantization"] == "fp8"


def test_servers_that_differ_leave_an_axis_open(read: Read) -> None:
    (row,) = read(SPLIT).rows
    assert row.envelope["model"] == "example-org/example-8b"
    assert row.stated["prefix_caching"] == "servers differ: off, on"
    assert row.stated["tensor_parallel"] == "servers differ: 2, 4"
    assert {"prefix_caching", "tensor_parallel", "device_count"} <= set(row.not_stated)


def test_lengths_that_were_asked_for_are_no_lengths(read: Read) -> None:
    (row,) = read(DETAILED).rows
    assert "input_tokens" not in row.envelope
    assert row.stated["input_tokens_asked_for"] == "drawn from 1 to 800"


def test_a_server_that_says_nothing_leaves_all_open(read_changed: ReadChanged) -> None:
    (row,) = read_changed(DETAILED, lambda run: run.pop("server_info")).rows
    assert {"model", "engine", "engine_version", "prefix_caching"} <= set(row.not_stated)


def test_a_trace_s_rate_is_no_number(read_changed: ReadChanged) -> None:
    reading = read_changed(DETAILED, lambda run: run.update(request_rate="trace"))
    assert errors(reading) == []
    assert "trace" in reading.rows[0].stated["request_rate"]
