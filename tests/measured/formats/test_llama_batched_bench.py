from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from upheld.measured.read import read_file
from upheld.measured.reading import FileReading

BENCHMARKS = Path(__file__).parents[2] / "corpora" / "benchmarks"
LOG = (BENCHMARKS / "llama-batched-bench.log").read_text(encoding="utf-8")

Read = Callable[[str], FileReading]


def rules(reading: FileReading, severity: str = "error") -> list[str]:
    return [each.rule for each in reading.all_findings if each.severity == severity]


def test_each_line_is_a_row_of_its_batch(read: Read) -> None:
    reading = read("llama-batched-bench.log")
    assert [row.case for row in reading.rows] == ["pp512 tg128 b1", "pp512 tg128 b4"]
    row = reading.rows[1]
    assert {figure.name: float(figure.value) for figure in row.figures} == {
        "throughput.prompt_tokens": 4090.10,
        "throughput.generation_tokens": 159.87,
        "throughput.total_tokens": 691.26,
        "duration": 3.703,
    }
    assert row.envelope["concurrency"] == 4
    assert row.stated["n_batch"] == "2048"
    assert row.samples["throughput.prompt_tokens"] == 1
    assert reading.all_findings == ()


def test_sweep_bench_has_depths_instead_of_batches(read: Read) -> None:
    reading = read("llama-sweep-bench.md")
    assert [row.case for row in reading.rows] == ["pp512 tg128 @ d0", "pp512 tg128 @ d512"]
    assert reading.rows[0].envelope["concurrency"] == 1
    assert rules(reading) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("4090.10", "4190.10"),
        ("159.87", "195.87"),
        ("691.26", "961.26"),
        ("3.203", "3.302"),
        ("   2560 ", "   2500 "),
    ],
)
def test_an_edited_number_is_found(old: str, new: str) -> None:
    reading = read_file("a.log", LOG.replace(old, new).encode())
    assert "UPH502" in rules(reading)
    assert {each.place.line for each in reading.all_findings} == {6}


def test_one_prompt_for_all_is_counted_once() -> None:
    shared = (
        LOG.replace("   2560 ", "   1024 ")
        .replace("   0.501 |  4090.10", "   0.125 |  4096.00")
        .replace("   3.703 |   691.26", "   3.328 |   307.69")
    )
    reading = read_file("a.log", shared.encode())
    assert reading.rows[1].stated["prompt"] == "one, shared by all sequences"
    assert rules(reading) == []


def test_json_lines_are_the_same_rows() -> None:
    result = {
        "n_kv_max": 4096, "n_batch": 2048, "flash_attn": 1, "is_pp_shared": 0, "pp": 512,
        "tg": 128, "pl": 4, "n_kv": 2560, "t_pp": 0.5, "speed_pp": 4096.0, "t_tg": 3.2,
        "speed_tg": 160.0, "t": 3.7, "speed": 691.891907,
    }  # fmt: skip
    reading = read_file("a.jsonl", json.dumps(result).encode())
    assert (reading.format, reading.rows[0].case) == ("llama-batched-bench", "pp512 tg128 b4")
    assert reading.rows[0].stated["n_kv_max"] == "4096"
    assert rules(reading) == []
    edited = read_file("a.jsonl", json.dumps(result | {"speed_tg": 161.0}).encode())
    (finding,) = edited.all_findings
    assert (finding.rule, finding.place.column > 100) == ("UPH502", True)


def test_tables_of_llama_bench_beside_it_are_read_too() -> None:
    tables = (BENCHMARKS / "llama-bench-tables.log").read_text(encoding="utf-8")
    reading = read_file("a.md", f"# Example model\n\n{LOG}\n{tables}".encode())
    assert reading.format == "llama-batched-bench"
    assert [row.case for row in reading.rows] == [
        "pp512 tg128 b1", "pp512 tg128 b4", "pp512", "tg128 @ d4096",
    ]  # fmt: skip
    assert {row.stated["heading"] for row in reading.rows} == {"Example model"}


def test_a_row_that_was_cut_gives_no_number() -> None:
    reading = read_file("a.log", LOG.rstrip()[:-8].encode())
    assert reading.rows == ()
    assert [each.rule for each in reading.findings] == ["UPH503"]
