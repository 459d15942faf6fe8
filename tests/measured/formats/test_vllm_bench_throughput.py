from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from upheld.measured.reading import FileReading

Read = Callable[[str], FileReading]
ReadChanged = Callable[[str, Callable[[Any], object]], FileReading]
FILE = "vllm-bench-throughput.json"


def errors(reading: FileReading) -> list[str]:
    return [each.rule for each in reading.all_findings if each.severity == "error"]


def test_tokens_a_second_are_of_input_and_output(read: Read) -> None:
    reading = read(FILE)
    assert reading.format == "vllm-bench-throughput"
    assert reading.all_findings == ()
    (row,) = reading.rows
    figure = row.figure("throughput.total_tokens")
    assert figure is not None
    assert float(figure.value) == pytest.approx(262144 / 41.125, rel=1e-12)
    assert figure.origin == "recomputed"
    assert figure.note is not None
    assert "input and output" in figure.note
    assert row.figure("throughput.output_tokens") is None
    assert row.requests is not None
    assert row.requests.completed == 500
    assert row.envelope == {}
    assert "engine" in row.not_stated


@pytest.mark.parametrize("key", ["requests_per_second", "tokens_per_second", "num_requests"])
def test_an_edited_number_is_found(key: str, read_changed: ReadChanged) -> None:
    def edit(result: dict[str, Any]) -> None:
        result[key] *= 2

    assert errors(read_changed(FILE, edit)) == ["UPH502"]


def test_no_time_is_no_rate(read_changed: ReadChanged) -> None:
    reading = read_changed(FILE, lambda result: result.update(elapsed_time=0))
    assert errors(reading) == ["UPH507"]
    assert reading.rows[0].figure("throughput.requests") is None


def test_an_object_with_other_keys_is_not_ours(read_changed: ReadChanged) -> None:
    assert read_changed(FILE, lambda result: result.update(model="x")).format == "unknown"
