from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from upheld.measured.reading import FileReading

Read = Callable[[str], FileReading]
ReadChanged = Callable[[str, Callable[[Any], object]], FileReading]
NEWER = "vllm-bench-latency.json"


def errors(reading: FileReading) -> list[str]:
    return [each.rule for each in reading.all_findings if each.severity == "error"]


@pytest.mark.parametrize("name", [NEWER, "vllm-bench-latency-2024.json"])
def test_repetitions_are_recomputed_to_the_printed_statistics(name: str, read: Read) -> None:
    reading = read(name)
    assert reading.format == "vllm-bench-latency"
    assert errors(reading) == []
    (row,) = reading.rows
    assert {figure.unit for figure in row.figures} == {"s"}
    for statistic in ("mean", "p10", "p50", "p99"):
        figure = row.figure(f"latency.e2e.{statistic}")
        assert figure is not None
        assert figure.origin == "recomputed"
        assert figure.reported is not None
    assert (row.figure("latency.e2e.std") is not None) == (name == NEWER)
    assert row.samples == {"latency.e2e": 30}
    assert row.requests is None


@pytest.mark.parametrize("keys", [("avg_latency",), ("std_latency",), ("percentiles", "99")])
def test_a_summary_that_was_edited_is_found(
    keys: tuple[str, ...], read_changed: ReadChanged
) -> None:
    def edit(result: dict[str, Any]) -> None:
        target = result if len(keys) == 1 else result[keys[0]]
        target[keys[-1]] *= 1.001

    reading = read_changed(NEWER, edit)
    assert errors(reading) == ["UPH502"]
    assert any(".".join(keys) in each.message for each in reading.all_findings)


@pytest.mark.parametrize("latencies", [[], "many", [1.0, None], [1.0, -1.0]])
def test_damaged_repetitions_are_not_used(latencies: Any, read_changed: ReadChanged) -> None:
    reading = read_changed(NEWER, lambda result: result.update(latencies=latencies))
    assert "UPH507" in errors(reading)
    figure = reading.rows[0].figure("latency.e2e.mean")
    assert figure is not None
    assert figure.origin == "reported"


def test_options_are_not_in_the_file(read: Read) -> None:
    (row,) = read(NEWER).rows
    assert row.envelope == {"engine": "vLLM"}
    assert {"model", "concurrency", "input_tokens", "output_tokens"} <= set(row.not_stated)


def test_another_object_with_more_keys_is_not_ours(read_changed: ReadChanged) -> None:
    assert read_changed(NEWER, lambda result: result.update(p99=1.0)).format == "unknown"
