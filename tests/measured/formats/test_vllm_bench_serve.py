from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from upheld.measured.read import read_file
from upheld.measured.reading import FileReading, Mean

BENCHMARKS = Path(__file__).parents[2] / "corpora" / "benchmarks"

Read = Callable[[str], FileReading]
ReadChanged = Callable[[str, Callable[[Any], object]], FileReading]


def summary(name: str) -> dict[str, Any]:
    text = (BENCHMARKS / name).read_text(encoding="utf-8")
    value: dict[str, Any] = json.loads(text.splitlines()[0] if name.endswith("d.json") else text)
    return value


def rules(reading: FileReading, severity: str = "error") -> list[str]:
    return [each.rule for each in reading.all_findings if each.severity == severity]


def test_single_requests_are_recomputed_to_the_printed_summary(read: Read) -> None:
    (row,) = read("vllm-serve-detailed.json").rows
    printed = summary("vllm-serve-detailed.json")
    for latency in ("ttft", "itl"):
        for statistic, key in (("mean", "mean"), ("p50", "median"), ("std", "std"), ("p99", "p99")):
            figure = row.figure(f"latency.{latency}.{statistic}")
            assert figure is not None
            assert figure.origin == "recomputed"
            assert float(figure.value) == pytest.approx(printed[f"{key}_{latency}_ms"], rel=1e-9)
    assert row.samples["latency.ttft"] == 117
    assert row.requests is not None
    assert (row.requests.completed, row.requests.failed, row.requests.attempted) == (117, 3, 120)
    assert rules(read("vllm-serve-detailed.json")) == []


def test_time_per_output_token_is_only_reported_and_says_why(read: Read) -> None:
    figure = read("vllm-serve-detailed.json").rows[0].figure("latency.tpot.p99")
    assert figure is not None
    assert figure.origin == "reported"
    assert figure.note is not None
    assert "can't be recomputed" in figure.note


@pytest.mark.parametrize(
    "key",
    [
        "request_throughput", "output_throughput", "total_token_throughput", "completed", "failed",
        "total_output_tokens", "mean_ttft_ms", "p99_ttft_ms", "std_itl_ms", "median_itl_ms",
    ],
)  # fmt: skip
def test_a_summary_that_was_edited_is_found_where_it_was(
    key: str, read_changed: ReadChanged
) -> None:
    def edit(run: dict[str, Any]) -> None:
        run[key] = run[key] * 2 if isinstance(run[key], int) else run[key] * 1.001

    reading = read_changed("vllm-serve-detailed.json", edit)
    assert "UPH502" in rules(reading)
    finding = next(each for each in reading.all_findings if each.rule == "UPH502")
    assert key in finding.message
    assert finding.place.column > 1


def test_rates_are_recomputed_without_single_requests(read_changed: ReadChanged) -> None:
    reading = read_changed(
        "vllm-serve-summary.json", lambda run: run.update(output_throughput=9000.5)
    )
    assert rules(reading) == ["UPH502"]
    figure = reading.rows[0].figure("throughput.output_tokens")
    assert figure is not None
    assert figure.value != figure.reported == Fraction("9000.5")


def test_several_runs_are_several_rows(read: Read) -> None:
    appended = read("vllm-serve-appended.json")
    assert [row.case for row in appended.rows] == ["run 1", "run 2", "run 3"]
    assert [row.place.line for row in appended.rows] == [1, 2, 3]
    sweep = read("vllm-sweep-summary.json")
    assert sweep.format == "vllm-sweep-summary"
    assert len(sweep.rows) == 2
    assert sweep.rows[1].place.line > 2


def test_failures_that_the_file_does_not_count_are_derived(read: Read) -> None:
    (row,) = read("vllm-serve-2025.json").rows
    figure = row.figure("requests.failed")
    assert figure is not None
    assert (figure.value, figure.origin, figure.reported) == (4, "recomputed", None)
    assert figure.note is not None
    assert "derived" in figure.note


def test_failures_that_can_t_be_derived_are_unknown(read_changed: ReadChanged) -> None:
    reading = read_changed("vllm-serve-2025.json", lambda run: run.pop("num_prompts"))
    (row,) = reading.rows
    assert row.requests is not None
    assert row.requests.failed is None
    assert row.figure("requests.failed") is None
    assert "UPH505" in rules(reading, "warning")


def test_zero_is_no_latency_where_nothing_completed(read: Read) -> None:
    reading = read("vllm-serve-all-failed.json")
    assert not [figure for figure in reading.rows[0].figures if figure.name.startswith("latency")]
    assert rules(reading) == ["UPH504"]


def test_zero_is_no_latency_where_one_token_came_back(read_changed: ReadChanged) -> None:
    def edit(run: dict[str, Any]) -> None:
        run.update({key: 0.0 for key in run if key.endswith("_tpot_ms")})

    reading = read_changed("vllm-serve-summary.json", edit)
    assert reading.rows[0].figure("latency.tpot.mean") is None
    assert reading.rows[0].figure("latency.ttft.mean") is not None
    assert rules(reading, "warning") == ["UPH504"]


def test_what_is_not_a_number_is_no_figure() -> None:
    text = (BENCHMARKS / "vllm-serve-summary.json").read_text(encoding="utf-8")
    run = json.loads(text)
    run["p99_ttft_ms"] = float("nan")
    run["median_ttft_ms"] = "12 ms"
    run["mean_itl_ms"] = -1.0
    reading = read_file("a.json", json.dumps(run).encode())
    names = {figure.name for figure in reading.rows[0].figures}
    assert not names & {"latency.ttft.p99", "latency.ttft.p50", "latency.itl.mean"}
    assert rules(reading) == ["UPH507", "UPH507"]
    assert rules(reading, "warning") == ["UPH504"]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"p90_ttft_ms": 1.0}, "median_ttft_ms is greater than p90_ttft_ms"),
        ({"std_ttft_ms": 0.0}, "std_ttft_ms is 0"),
        ({"mean_tpot_ms": 0.5}, "mean and median of latency.tpot are further apart"),
        ({"p99_e2el_ms": 1e9}, "longer than the whole run"),
        ({"max_concurrency": 1}, "requests open at once"),
        ({"completed": 121}, "121 requests completed of 120"),
        ({"duration": 0}, "duration is 0"),
        ({"duration": -1.5}, "duration is negative"),
        ({"completed": 10.5}, "not whole"),
        ({"completed": True}, "not a number"),
    ],
)
def test_what_can_t_be_is_found(
    changes: dict[str, Any], says: str, read_changed: ReadChanged
) -> None:
    reading = read_changed("vllm-serve-summary.json", lambda run: run.update(changes))
    impossible = [each.message for each in reading.all_findings if each.rule == "UPH507"]
    assert any(says in message for message in impossible)


@pytest.mark.parametrize(
    "changes",
    [
        {"ttfts": [0.1]},
        {"output_lens": ["many"] * 120},
        {"ttfts": [-0.1] * 120},
        {"itls": [["x"]] * 120},
    ],
)
def test_damaged_entries_are_not_used(changes: dict[str, Any], read_changed: ReadChanged) -> None:
    reading = read_changed("vllm-serve-detailed.json", lambda run: run.update(changes))
    assert "UPH507" in rules(reading)


def test_entries_that_can_t_be_told_apart_by_success_are_not_used(
    read_changed: ReadChanged,
) -> None:
    reading = read_changed("vllm-serve-detailed.json", lambda run: run.pop("errors"))
    figure = reading.rows[0].figure("latency.ttft.mean")
    assert figure is not None
    assert figure.origin == "reported"


def test_envelope_is_what_the_file_states(read: Read) -> None:
    (row,) = read("vllm-serve-summary.json").rows
    assert row.envelope == {
        "model": "example-org/example-8b",
        "concurrency": 8,
    }
    assert row.means["output_tokens"] == Mean(Fraction(64), varies=False)
    assert row.means["input_tokens"].varies
    assert "output_tokens" in row.not_stated
    assert "mean" in row.stated["output_tokens"]
    assert "varied" in row.stated["input_tokens"]
    assert row.stated["request_rate"].startswith("unlimited")
    assert row.stated["client_backend"] == "openai"
    assert {"engine", "engine_version", "device", "prefix_caching"} <= set(row.not_stated)


def test_a_finite_rate_is_an_axis_and_an_absurd_one_is_not(
    read: Read, read_changed: ReadChanged
) -> None:
    (row,) = read("vllm-serve-2025.json").rows
    assert row.envelope["request_rate"] == Fraction(5, 2)
    assert row.stated["concurrency"] == "no limit was set"
    (row,) = read_changed("vllm-serve-2025.json", lambda run: run.update(request_rate=1e9)).rows
    assert "request_rate" not in row.envelope
    assert "as good as unlimited" in row.stated["request_rate"]


def test_speculation_is_recomputed_but_not_called_on(read_changed: ReadChanged) -> None:
    reading = read_changed(
        "vllm-serve-summary.json",
        lambda run: run.update(
            spec_decode_acceptance_rate=25.0,
            spec_decode_acceptance_length=1.75,
            spec_decode_num_drafts=100,
            spec_decode_draft_tokens=300,
            spec_decode_accepted_tokens=75,
        ),
    )
    (row,) = reading.rows
    figure = row.figure("speculation.acceptance")
    assert figure is not None
    assert (figure.value, figure.unit, figure.origin) == (25, "%", "recomputed")
    assert "speculative_decoding" in row.not_stated
    assert row.stated["spec_decode_num_drafts"] == "100"
    assert rules(reading) == []
