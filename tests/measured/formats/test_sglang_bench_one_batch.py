from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from upheld.measured.read import read_file
from upheld.measured.reading import FileReading
from upheld.measured.sufficiency import shortcomings

BENCHMARKS = Path(__file__).parents[2] / "corpora" / "benchmarks"

Read = Callable[[str], FileReading]
ReadChanged = Callable[[str, Callable[[Any], object]], FileReading]


def read_line(name: str, line: int, edit: Callable[[dict[str, Any]], object]) -> FileReading:
    record = json.loads((BENCHMARKS / name).read_text(encoding="utf-8").splitlines()[line])
    edit(record)
    return read_file(name, json.dumps(record).encode())


def errors(reading: FileReading) -> list[str]:
    return [each.rule for each in reading.all_findings if each.severity == "error"]


def test_each_line_is_a_batch_whose_rates_are_recomputed(read: Read) -> None:
    reading = read("sglang-one-batch.jsonl")
    assert reading.format == "sglang-bench-one-batch"
    assert errors(reading) == []
    assert [row.case for row in reading.rows] == [
        "batch 8, 256 in, 32 out", "batch 8, 1024 in, 64 out",
    ]  # fmt: skip
    for row in reading.rows:
        for name in ("prompt_tokens", "generation_tokens", "total_tokens"):
            figure = row.figure(f"throughput.{name}")
            assert figure is not None
            assert figure.origin == "recomputed"
    assert reading.rows[1].envelope == {
        "engine": "SGLang", "concurrency": 8, "input_tokens": 1024, "output_tokens": 64,
    }  # fmt: skip


def test_what_was_timed_once_is_told_to_be(read: Read) -> None:
    row = read("sglang-one-batch.jsonl").rows[0]
    assert row.samples["latency.tpot"] == 31
    for name in ("latency.e2e.mean", "throughput.total_tokens"):
        assert [each.rule for each in shortcomings(row, name)] == ["UPH506"]


@pytest.mark.parametrize(
    "key", ["prefill_throughput", "median_decode_throughput", "overall_throughput", "input_len"]
)
def test_an_edited_number_is_found(key: str) -> None:
    def edit(record: dict[str, Any]) -> None:
        record[key] *= 2

    assert "UPH502" in errors(read_line("sglang-one-batch.jsonl", 0, edit))


def test_a_server_s_rates_are_held_against_its_rounded_times(read: Read) -> None:
    reading = read("sglang-one-batch-server.jsonl")
    assert reading.format == "sglang-bench-one-batch"
    assert errors(reading) == []
    older, newer = reading.rows
    assert older.figure("throughput.output_tokens") is not None
    assert newer.figure("throughput.output_tokens") is None
    assert newer.figure("throughput.generation_tokens") is not None
    latency = newer.figure("latency.e2e.mean")
    assert latency is not None
    assert latency.rounding == Fraction(1, 20000)
    assert newer.stated["cache_hit_rate"] == "0.125"
    assert newer.figure("speculation.length") is None
    assert "engine" in newer.not_stated


@pytest.mark.parametrize(
    ("line", "key"), [(0, "output_throughput"), (0, "latency"), (1, "input_throughput")]
)
def test_a_server_s_edited_number_is_found(line: int, key: str) -> None:
    def edit(record: dict[str, Any]) -> None:
        record[key] = round(record[key] * 1.01, 4)

    assert "UPH502" in errors(read_line("sglang-one-batch-server.jsonl", line, edit))


def test_tokens_that_were_not_generated_are_told() -> None:
    reading = read_line(
        "sglang-one-batch-server.jsonl", 1, lambda record: record.update(total_output_tokens=1000)
    )
    assert reading.rows[0].stated["output_tokens_generated"] == "1,000 of 1,024"


def test_a_rate_after_a_first_token_that_the_file_leaves_out_is_not_held_against_all_time() -> None:
    line = (
        b'{"run_name": "default", "batch_size": 32, "input_len": 256, "output_len": 32, '
        b'"latency": 0.5, "output_throughput": 4096.0, "overall_throughput": 18432.0, '
        b'"last_gen_throughput": 0.0}\n'
    )
    reading = read_file("result.jsonl", line)
    assert reading.format == "sglang-bench-one-batch"
    assert [each for each in reading.all_findings if each.severity == "error"] == []
    assert reading.rows[0].figure("throughput.output_tokens") is None
    rate = reading.rows[0].figure("throughput.generation_tokens")
    assert rate is not None
    assert rate.value == 4096
