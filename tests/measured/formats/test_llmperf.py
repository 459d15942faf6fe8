from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from upheld.measured.reading import FileReading
from upheld.measured.sufficiency import shortcomings

BENCHMARKS = Path(__file__).parents[2] / "corpora" / "benchmarks"

Read = Callable[[str], FileReading]
ReadChanged = Callable[[str, Callable[[Any], object]], FileReading]


def rules(reading: FileReading, severity: str = "error") -> list[str]:
    return [each.rule for each in reading.all_findings if each.severity == severity]


def test_single_requests_give_the_numbers_of_the_summary(read: Read) -> None:
    (row,) = read("llmperf-individual.json").rows
    (summary,) = read("llmperf-summary.json").rows
    compared = 0
    for figure in row.figures:
        if not figure.name.startswith("latency."):
            continue
        reported = summary.figure(figure.name)
        assert reported is not None
        assert (figure.origin, reported.origin) == ("recomputed", "reported")
        assert float(figure.value) == pytest.approx(float(reported.value), rel=1e-9)
        compared += 1
    assert compared == 24
    assert row.requests == summary.requests
    assert row.requests is not None
    assert (row.requests.completed, row.requests.failed, row.requests.attempted) == (120, 2, 122)


def test_inter_token_latency_that_includes_the_first_token_carries_no_claim(read: Read) -> None:
    for name in ("llmperf-individual.json", "llmperf-summary.json"):
        reading = read(name)
        reasons = [each.message for each in shortcomings(reading.rows[0], "latency.itl.mean")]
        assert any("divides the whole time of a request" in each for each in reasons)
        assert "UPH520" in rules(reading, "warning")
        assert rules(reading) == []


def test_throughput_follows_from_the_wall_time_that_requests_per_minute_give(read: Read) -> None:
    (row,) = read("llmperf-summary.json").rows
    duration, tokens = row.figure("duration"), row.figure("throughput.output_tokens")
    assert duration is not None
    assert tokens is not None
    assert float(duration.value) == pytest.approx(88.75)
    assert tokens.origin == "recomputed"
    printed = json.loads((BENCHMARKS / "llmperf-summary.json").read_text(encoding="utf-8"))
    stated = printed["results_mean_output_throughput_token_per_s"]
    assert float(tokens.value) == pytest.approx(stated, rel=1e-9)


@pytest.mark.parametrize(
    "key",
    [
        "results_mean_output_throughput_token_per_s", "results_error_rate",
        "results_num_completed_requests", "results_number_errors",
        "results_num_completed_requests_per_min",
    ],
)  # fmt: skip
def test_a_summary_that_was_edited_is_found(key: str, read_changed: ReadChanged) -> None:
    def edit(summary: dict[str, Any]) -> None:
        summary[key] = summary[key] * 1.5 if isinstance(summary[key], float) else summary[key] + 1

    assert "UPH502" in rules(read_changed("llmperf-summary.json", edit))


def test_lengths_are_those_that_requests_had_not_those_asked_for(read: Read) -> None:
    (row,) = read("llmperf-summary.json").rows
    assert row.envelope["input_tokens"] == 550
    assert "150 were asked for" in row.stated["output_tokens"]
    assert row.means["output_tokens"].varies
    assert row.envelope["concurrency"] == 5
    assert "engine" in row.not_stated


def test_a_map_has_a_row_for_each_summary(read: Read) -> None:
    reading = read("llmperf-summary-map.json")
    assert reading.format == "llmperf-summary-map"
    assert [(row.case, row.envelope["concurrency"]) for row in reading.rows] == [("1", 1), ("5", 5)]
    assert reading.rows[0].place.line < reading.rows[1].place.line


def test_rates_of_chunks_are_told_from_rates_of_tokens(read_changed: ReadChanged) -> None:
    def of_chunks(requests: list[dict[str, Any]]) -> None:
        for request in requests:
            request["request_output_throughput_token_per_s"] /= 40

    reading = read_changed("llmperf-individual.json", of_chunks)
    assert "UPH502" in rules(reading, "warning")
    assert rules(reading) == []


def test_requests_with_an_error_count_for_nothing(read_changed: ReadChanged) -> None:
    reading = read_changed(
        "llmperf-individual.json", lambda requests: requests[7].update(ttft_s=1e6)
    )
    figure = reading.rows[0].figure("latency.ttft.max")
    assert figure is not None
    assert figure.value < 10


@pytest.mark.parametrize("junk", ["fast", None, -1.0, True])
def test_a_time_that_is_none_is_found_and_its_figure_left_out(
    junk: object, read_changed: ReadChanged
) -> None:
    reading = read_changed("llmperf-individual.json", lambda each: each[3].update(ttft_s=junk))
    assert rules(reading) == ["UPH507"]
    assert reading.rows[0].figure("latency.ttft.mean") is None
    assert reading.rows[0].figure("latency.e2e.mean") is not None


def test_0_is_no_latency(read_changed: ReadChanged) -> None:
    reading = read_changed(
        "llmperf-summary.json", lambda summary: summary.update(results_ttft_s_mean=0.0)
    )
    assert not [each for each in reading.rows[0].figures if each.name.startswith("latency.ttft")]
    assert rules(reading) == []
    assert {"UPH504", "UPH520"} <= set(rules(reading, "warning"))
