from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from upheld.measured.llama_bench import name_of_test, parts_of_test, weight_dtype
from upheld.measured.read import read_file
from upheld.measured.reading import FileReading, Row

BENCHMARKS = Path(__file__).parents[2] / "corpora" / "benchmarks"

Read = Callable[[str], FileReading]
ReadChanged = Callable[[str, Callable[[Any], object]], FileReading]

CASES = ["pp512", "tg128", "tg128 @ d4096", "pp512+tg128"]


def rules(reading: FileReading, severity: str = "error") -> list[str]:
    return [each.rule for each in reading.all_findings if each.severity == severity]


def value(row: Row, name: str) -> float:
    figure = row.figure(name)
    assert figure is not None
    return float(figure.value)


@pytest.mark.parametrize("suffix", ["json", "jsonl", "csv"])
def test_each_test_is_a_row_by_its_printed_name(suffix: str, read: Read) -> None:
    reading = read(f"llama-bench.{suffix}")
    assert reading.format == f"llama-bench-{suffix}"
    assert reading.tool_version == "b7654"
    assert [row.case for row in reading.rows] == CASES
    assert rules(reading) == []
    names = [row.figures[0].name for row in reading.rows]
    assert names == [
        "throughput.prompt_tokens", "throughput.generation_tokens",
        "throughput.generation_tokens", "throughput",
    ]  # fmt: skip


def test_samples_are_recomputed_and_a_csv_only_reports(read: Read) -> None:
    for with_samples, without in zip(
        read("llama-bench.json").rows, read("llama-bench.csv").rows, strict=True
    ):
        for name in (with_samples.figures[0].name, "stddev", "time.mean"):
            recomputed, reported = with_samples.figure(name), without.figure(name)
            assert recomputed is not None
            assert reported is not None
            assert (recomputed.origin, reported.origin) == ("recomputed", "reported")
            assert abs(recomputed.value - reported.value) <= recomputed.rounding
        assert with_samples.samples["time"] == 5


@pytest.mark.parametrize("key", ["avg_ts", "stddev_ts", "avg_ns"])
@pytest.mark.parametrize("name", ["llama-bench.json"])
def test_a_summary_that_its_samples_do_not_give_is_found(
    name: str, key: str, read_changed: ReadChanged
) -> None:
    def edit(tests: list[dict[str, Any]]) -> None:
        tests[1][key] *= 1.0001

    reading = read_changed(name, edit)
    assert rules(reading) == ["UPH502"]
    assert key in reading.all_findings[0].message


def test_a_csv_whose_rate_is_not_that_of_its_time_is_found() -> None:
    text = (BENCHMARKS / "llama-bench.csv").read_text(encoding="utf-8")
    (rate,) = {test["avg_ts"] for test in json.loads(json_text())[:1]}
    reading = read_file("a.csv", text.replace(f'"{rate}"', f'"{rate * 1.5}"').encode())
    assert rules(reading) == ["UPH502"]
    assert reading.all_findings[0].place.line == 2
    assert reading.all_findings[0].place.column > 200


def json_text() -> str:
    return (BENCHMARKS / "llama-bench.json").read_text(encoding="utf-8")


def test_a_csv_that_was_cut_gives_no_number() -> None:
    data = (BENCHMARKS / "llama-bench.csv").read_bytes()
    reading = read_file("a.csv", data[:-20])
    assert reading.format == "llama-bench-csv"
    assert reading.rows == ()
    (finding,) = reading.findings
    assert (finding.rule, finding.place.line) == ("UPH503", 5)


def test_one_repetition_has_no_deviation(read_changed: ReadChanged) -> None:
    def once(tests: list[dict[str, Any]]) -> None:
        del tests[1:]
        (test,) = tests
        test["samples_ns"] = [250_000_000]
        test |= {"avg_ns": 250_000_000, "avg_ts": 2048.0, "stddev_ns": 0, "stddev_ts": 0.0}

    reading = read_changed("llama-bench.json", once)
    assert value(reading.rows[0], "throughput.prompt_tokens") == 2048
    assert reading.rows[0].figure("stddev") is None
    assert rules(reading, "warning") == ["UPH506"]


def test_repetitions_that_scatter_or_slow_down_are_told(read_changed: ReadChanged) -> None:
    def slower(tests: list[dict[str, Any]]) -> None:
        del tests[1:]
        tests[0]["samples_ns"] = [200_000_000, 220_000_000, 250_000_000]
        for key in ("avg_ns", "avg_ts", "stddev_ts"):
            del tests[0][key]
        tests[0] |= {"avg_ns": None, "avg_ts": None}

    messages = [each.message for each in read_changed("llama-bench.json", slower).all_findings]
    assert len(messages) == 2
    assert "vary by 11 %" in messages[0]
    assert "may throttle" in messages[1]


@pytest.mark.parametrize(
    "changes",
    [
        {"samples_ns": [0, 1]},
        {"samples_ns": ["fast"]},
        {"n_prompt": 0, "n_gen": 0},
        {"n_prompt": -512},
    ],
)
def test_what_can_t_be_is_found(changes: dict[str, Any], read_changed: ReadChanged) -> None:
    reading = read_changed("llama-bench.json", lambda tests: tests[0].update(changes))
    assert "UPH507" in rules(reading)


def test_envelope_is_what_the_file_states(read: Read) -> None:
    row = read("llama-bench.json").rows[2]
    assert row.envelope == {
        "engine": "llama.cpp",
        "engine_version": "b7654",
        "model": "example-8b-Q4_K_M.gguf",
        "weight_dtype": "Q4_K_M",
        "kv_cache_dtype": "fp16",
        "processor": "Example CPU 9000",
        "device": "Example Accelerator 80GB",
        "device_count": 1,
        "concurrency": 1,
        "output_tokens": 128,
    }
    assert row.stated["n_depth"] == "4096"
    assert "operating_system" in row.not_stated


def test_without_layers_on_it_an_accelerator_is_no_device(read_changed: ReadChanged) -> None:
    reading = read_changed("llama-bench.json", lambda tests: tests[0].update(n_gpu_layers=0))
    assert "device" in reading.rows[0].not_stated
    assert "device" in reading.rows[1].envelope


@pytest.mark.parametrize(
    ("changes", "count", "device"),
    [
        ({}, 2, None),
        ({"split_mode": "none"}, 1, "Example A"),
        ({"split_mode": "none", "main_gpu": 1}, 1, "Example B"),
        ({"split_mode": "none", "main_gpu": 7}, None, None),
    ],
)
def test_a_model_that_is_not_split_is_on_its_main_device(
    changes: dict[str, Any], count: int | None, device: str | None, read_changed: ReadChanged
) -> None:
    two = {"gpu_info": "Example A, Example B"} | changes
    row = read_changed("llama-bench.json", lambda tests: tests[0].update(two)).rows[0]
    assert (row.envelope.get("device_count"), row.envelope.get("device")) == (count, device)


def test_a_log_names_devices_above_its_table_and_the_build_below(read: Read) -> None:
    reading = read("llama-bench-tables.log")
    prompt, generation = reading.rows
    assert (prompt.case, generation.case) == ("pp512", "tg128 @ d4096")
    assert value(prompt, "throughput") == value(prompt, "throughput.prompt_tokens") == 7340.20
    assert value(prompt, "stddev") == 23.45
    assert {figure.origin for figure in prompt.figures} == {"reported"}
    figure = prompt.figure("throughput")
    assert figure is not None
    assert float(figure.rounding) == 0.005
    assert prompt.envelope["engine_version"] == "b7654"
    assert prompt.envelope["device_count"] == 2
    assert prompt.envelope["kv_cache_dtype"] == "q8_0"
    assert prompt.place.line == 6
    assert rules(reading, "warning") == ["UPH506"]


def test_a_main_device_that_is_no_number_is_the_first() -> None:
    text = (BENCHMARKS / "llama-bench-tables.log").read_text(encoding="utf-8")
    text = text.replace("type_k |", "    sm |").replace("type_v |", "    mg |")
    junk = text.replace("q8_0 |   q8_0", f"none | {'9' * 5000}")
    reading = read_file("a.log", junk.encode())
    assert [row.envelope["device_count"] for row in reading.rows] == [1, 1]


def test_a_table_that_was_cut_gives_no_number() -> None:
    text = (BENCHMARKS / "llama-bench-tables.log").read_text(encoding="utf-8")
    reading = read_file("a.log", text[: text.rindex("116.71") + 4].encode())
    assert reading.format == "llama-bench-md"
    assert reading.rows == ()
    assert [(each.rule, each.place.line) for each in reading.findings] == [("UPH503", 7)]


@pytest.mark.parametrize(
    ("old", "new"), [("pp512 |", "pq512 |"), ("23.45", "twice"), ("7340.20 ±", "7340.20 +")]
)
def test_a_cell_that_is_not_as_printed_is_found(old: str, new: str) -> None:
    text = (BENCHMARKS / "llama-bench-tables.log").read_text(encoding="utf-8")
    reading = read_file("a.log", text.replace(old, new).encode())
    assert rules(reading) == ["UPH507"]
    assert reading.rows[0].figures == ()
    assert reading.all_findings[0].place.line == 6


def test_a_document_s_blocks_are_read_where_they_stand(read: Read) -> None:
    reading = read("llama-bench-document.md")
    assert reading.format == "llama-bench-doc"
    assert [row.case for row in reading.rows] == [
        "pp512", "tg128 @ d4096", *CASES[:2], CASES[2], *CASES,
    ]  # fmt: skip
    lines = [row.place.line for row in reading.rows]
    assert lines == sorted(lines)
    text = (BENCHMARKS / "llama-bench-document.md").read_text(encoding="utf-8").splitlines()
    assert text[lines[4] - 1].startswith('{"build_commit"')
    assert text[lines[-1] - 1].startswith('"0123abcd"')


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("pp512", (512, 0, 0)),
        ("tg 128", (0, 128, 0)),
        ("pp512+tg128", (512, 128, 0)),
        ("tg128 @ d4096", (0, 128, 4096)),
    ],
)
def test_printed_names_of_tests(text: str, parts: tuple[int, int, int]) -> None:
    assert parts_of_test(text) == parts
    assert name_of_test(*parts) == text.replace("tg ", "tg")


@pytest.mark.parametrize("text", ["", " @ d5", "pp", "xx512", "pp512 tg128"])
def test_other_names_are_no_tests(text: str) -> None:
    assert parts_of_test(text) is None


@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        ("llama ?B Q3_K - Large", "Q3_K_L"),
        ("llama 7B mostly Q4_0", "Q4_0"),
        ("gpt-oss 20B MXFP4 MoE", "MXFP4"),
        ("deepseek2 30B.A3B BF16", "bf16"),
        ("llama 8B all F32", "fp32"),
        ("llama", None),
    ],
)
def test_what_weights_are_stored_in(text: str, dtype: str | None) -> None:
    assert weight_dtype(text) == dtype
