from __future__ import annotations

from collections.abc import Callable
from typing import Any

from upheld.measured.reading import FileReading

Read = Callable[[str], FileReading]
ReadChanged = Callable[[str, Callable[[Any], object]], FileReading]


def test_latencies_are_seconds(read: Read) -> None:
    reading = read("vllm-derived-seconds.json")
    assert reading.format == "vllm-derived-seconds"
    assert [each for each in reading.all_findings if each.severity == "error"] == []
    latencies = [f for f in reading.rows[0].figures if f.name.startswith("latency.")]
    assert {figure.unit for figure in latencies} == {"s"}
    assert {figure.distribution for figure in latencies} == {
        "latency.ttft", "latency.tpot", "latency.e2e",
    }  # fmt: skip


def test_milliseconds_under_such_keys_are_found(read_changed: ReadChanged) -> None:
    def edit(run: dict[str, Any]) -> None:
        run.update({key: 1000 * run[key] for key in run if key.endswith("_e2el")})

    reading = read_changed("vllm-derived-seconds.json", edit)
    assert any("longer than the whole run" in each.message for each in reading.all_findings)


def test_without_the_script_s_own_keys_no_unit_is_known(read_changed: ReadChanged) -> None:
    reading = read_changed("vllm-derived-seconds.json", lambda run: run.pop("good_completed"))
    assert reading.format == "unknown"
