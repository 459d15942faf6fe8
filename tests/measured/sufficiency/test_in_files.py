"""What readers give to the checks: each fires on a file in the tool's own format."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from upheld.measured.read import read_file
from upheld.measured.reading import FileReading

BENCHMARKS = Path(__file__).parents[2] / "corpora" / "benchmarks"
ReadChanged = Callable[[str, Callable[[Any], object]], FileReading]


def rules(reading: FileReading) -> set[str]:
    return {each.rule for each in reading.all_findings}


def changed(**values: Any) -> Callable[[Any], object]:
    return lambda result: result.update(values)


@pytest.mark.parametrize("limit", [None, 100])
def test_a_client_that_sends_all_at_once(read_changed: ReadChanged, limit: int | None) -> None:
    reading = read_changed("vllm-serve-summary.json", changed(max_concurrency=limit))
    assert "UPH511" in rules(reading)


@pytest.mark.parametrize("rate", ["inf", 1e9])
def test_however_a_missing_rate_is_written(read_changed: ReadChanged, rate: object) -> None:
    change = changed(max_concurrency=None, request_rate=rate)
    assert "UPH511" in rules(read_changed("vllm-serve-summary.json", change))


def test_a_rate_that_was_not_reached(read_changed: ReadChanged) -> None:
    change = changed(max_concurrency=None, request_rate=1000.0)
    assert "UPH510" in rules(read_changed("vllm-serve-summary.json", change))


def test_a_slow_start_of_as_many_as_were_open_at_once(read_changed: ReadChanged) -> None:
    def slow(result: Any) -> None:
        for at in range(3, 11):  # the first three failed
            result["ttfts"][at] *= 20

    assert "UPH513" in rules(read_changed("vllm-serve-detailed.json", slow))


def test_first_tokens_that_come_later_and_later(read_changed: ReadChanged) -> None:
    def queue(result: Any) -> None:
        result["ttfts"] = [0.1 + at / 100 for at in range(len(result["ttfts"]))]

    assert "UPH514" in rules(read_changed("vllm-serve-detailed.json", queue))


def test_rounds_that_get_slower(read_changed: ReadChanged) -> None:
    def throttle(saved: Any) -> None:
        stats = saved["benchmarks"][0]["stats"]
        stats["data"] = [0.1 + at / 1000 for at in range(30)]
        stats["rounds"] = 30

    assert "UPH514" in rules(read_changed("pytest-benchmark-data.json", throttle))


def test_a_prompt_from_a_cache(read_changed: ReadChanged) -> None:
    def cached(result: Any) -> None:
        result.update(median_ttft_ms=2.0, median_tpot_ms=9.0)
        result["total_input_tokens"] = 4000 * result["completed"]

    assert "UPH515" in rules(read_changed("vllm-serve-summary.json", cached))


def test_lengths_and_counts_of_sglang() -> None:
    text = (BENCHMARKS / "sglang-serving-detailed.jsonl").read_text(encoding="utf-8")
    result = json.loads(text.splitlines()[0])
    result["total_output_tokens_retokenized"] = result["total_output_tokens"] // 2
    assert {"UPH512", "UPH517"} <= rules(read_file("a.jsonl", json.dumps(result).encode()))


def test_of_another_dataset_no_random_length_was_asked_for() -> None:
    text = (BENCHMARKS / "sglang-serving-detailed.jsonl").read_text(encoding="utf-8")
    result = json.loads(text.splitlines()[0]) | {"dataset_name": "sharegpt"}
    assert "UPH512" not in rules(read_file("a.jsonl", json.dumps(result).encode()))


def test_a_repeat_that_is_far_from_the_first() -> None:
    text = (BENCHMARKS / "vllm-serve-summary.json").read_text(encoding="utf-8")
    result = json.loads(text)
    again = {
        key: value / 2 if key.endswith("_ms") else value
        for key, value in result.items()
        if key != "date"
    }
    data = f"{json.dumps(result)}\n{json.dumps(again)}".encode()
    assert "UPH519" in rules(read_file("a.json", data))


@pytest.mark.parametrize(("date", "fires"), [("19700101-000102", True), ("20240102-000102", False)])
def test_a_file_from_before_its_tool(read_changed: ReadChanged, date: str, fires: bool) -> None:
    reading = read_changed("vllm-serve-summary.json", changed(date=date))
    found = [each for each in reading.all_findings if each.rule == "UPH518"]
    assert [each.severity for each in found] == (["warning"] if fires else [])


def test_lengths_that_aiperf_was_asked_for(read_changed: ReadChanged) -> None:
    def asks_for_more(summary: Any) -> None:
        summary["input_config"] = {
            "datasets": [{"prompts": {"osl": {"mean": 5000.0}}}],
            "phases": [{"kind": "profiling", "type": "concurrency", "concurrency": 4}],
        }

    reading = read_changed("aiperf-summary.json", asks_for_more)
    assert "UPH512" in rules(reading)
    assert reading.rows[0].unlimited == {"request_rate"}


def test_a_concurrency_of_guidellm_is_a_closed_loop(read_changed: ReadChanged) -> None:
    def concurrent(report: Any) -> None:
        report["benchmarks"][0]["config"]["strategy"] = {"type_": "concurrent", "streams": 4}

    assert read_changed("guidellm-report.json", concurrent).rows[0].unlimited == {"request_rate"}
