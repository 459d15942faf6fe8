from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

from upheld.measured.read import read_file
from upheld.measured.reading import Capture, FileReading

EXECUTION: dict[str, Any] = {
    "folder": "", "outcome": "completed", "started": "2026-12-01T18:20:01.250Z",
    "ended": "2026-12-01T18:20:31.500Z", "exit_status": 0, "signal": None, "stopped_by": None,
    "cut": [], "load_average": {"before": [0.25, 0.5, 0.75], "after": [1.0, 0.5, 0.75]},
    "processor_seconds": {"command": 55.5, "host": 57.25}, "gpus": [], "not_kept": [],
}  # fmt: skip
WHOLE: dict[str, Any] = {
    "upheld_capture": 1, "upheld_version": "0.1.0", "command": ["bench"], "repeats": 1,
    "corpus": {"commit": "c0ffee", "uncommitted_changes": False},
    "host": {
        "operating_system": "Linux", "system_release": "6.1.0", "machine": "x86_64",
        "processor": "Example CPU", "processor_count": 8, "processors_usable": 4,
        "memory_bytes": 16 * 1024**3,
    },
    "environment": {"OMP_NUM_THREADS": "4"}, "engine": None,
    "gpus": {"driver": None, "absent": "none found: no driver", "devices": []},
    "executions": [EXECUTION],
}  # fmt: skip
ENGINE = {
    "url": "http://localhost:8000", "here": True, "engine": "vllm", "version": "0.19.0",
    "models": ["example-8b"], "max_model_len": 8192, "problem": None,
}  # fmt: skip


def reading_of(**changes: Any) -> FileReading:
    return read_file("capture.json", json.dumps(deepcopy(WHOLE) | changes).encode())


def capture_of(**changes: Any) -> Capture:
    reading = reading_of(**changes)
    assert reading.findings == ()
    assert reading.capture is not None
    return reading.capture


def test_it_has_no_row_and_says_where_the_files_beside_it_hold() -> None:
    reading = reading_of()
    assert (reading.format, reading.tool_version, reading.rows) == ("upheld-capture", "0.1.0", ())
    capture = capture_of()
    assert capture.outcome == "completed"
    assert capture.envelope == {
        "operating_system": "Linux", "processor": "Example CPU", "processor_count": 8,
    }  # fmt: skip
    assert capture.stated["date"] == "2026-12-01T18:20:01.250Z"
    assert capture.stated["uncommitted_changes"] == "no"
    assert capture.stated["memory"] == "16 GiB"
    assert capture.stated["gpus"] == "none found: no driver"
    assert capture.stated["OMP_NUM_THREADS"] == "4"
    assert capture.stated["load_average_before"] == "0.25"
    assert capture.stated["processor_seconds"] == "55.5 of the command, 57.25 of the whole host"


def test_an_engine_here_adds_its_own_axes() -> None:
    envelope = capture_of(engine=ENGINE).envelope
    assert envelope["engine"] == "vllm"
    assert envelope["engine_version"] == "0.19.0"
    assert envelope["max_model_len"] == 8192
    assert envelope["processor"] == "Example CPU"


def test_of_an_engine_elsewhere_this_host_says_nothing() -> None:
    card = {"index": 0, "name": "NVIDIA L4"}
    busy = {"index": 0, "utilisation_percent_before": 0, "utilisation_percent": {"most": 90}}
    envelope = capture_of(
        engine={**ENGINE, "here": False},
        gpus={"driver": "570", "absent": None, "devices": [card]},
        executions=[{**EXECUTION, "gpus": [busy]}],
    ).envelope
    assert set(envelope) == {"engine", "engine_version", "max_model_len"}


@pytest.mark.parametrize(
    ("answered", "version"),
    [("b11434-1a2b3c4", "11434"), ("b11434-unknown", "11434"), ("b0-unknown", None)],
)
def test_a_build_of_llama_cpp_is_its_number(answered: str, version: str | None) -> None:
    engine = {**ENGINE, "engine": "llama.cpp", "version": answered}
    assert capture_of(engine=engine).envelope.get("engine_version") == version


def test_a_version_of_nobody_known_is_no_axis() -> None:
    assert "engine_version" not in capture_of(engine={**ENGINE, "engine": None}).envelope


@pytest.mark.parametrize(
    ("outcomes", "worst"),
    [
        (["completed", "completed"], "completed"),
        (["completed", "failed"], "failed"),
        (["failed", "interrupted"], "interrupted"),
    ],
)
def test_the_worst_execution_speaks_for_all(outcomes: list[str], worst: str) -> None:
    executions = [{**EXECUTION, "outcome": each} for each in outcomes]
    assert capture_of(executions=executions, repeats=2).outcome == worst


@pytest.mark.parametrize(
    "changes",
    [
        {"executions": [{**EXECUTION, "exit_status": 1}]},
        {"executions": [{**EXECUTION, "exit_status": None, "signal": "SIGSEGV"}]},
        {"executions": [{**EXECUTION, "stopped_by": "SIGINT"}]},
        {"executions": [{**EXECUTION, "outcome": "splendid"}]},
        {"executions": [{**EXECUTION, "outcome": ["completed"]}]},
        {"executions": [EXECUTION, "none"], "repeats": 2},
        {"executions": ["none", EXECUTION], "repeats": 2},
        {"repeats": 3},
    ],
)
def test_an_outcome_that_its_own_facts_do_not_bear_out_is_found(changes: dict[str, Any]) -> None:
    reading = reading_of(**changes)
    assert reading.findings
    assert reading.capture is not None
    assert reading.capture.outcome == "failed"


@pytest.mark.parametrize("none", [[], "none", None, {}])
def test_without_an_execution_nothing_was_captured(none: Any) -> None:
    reading = reading_of(executions=none)
    assert [each.rule for each in reading.findings] == ["UPH504"]
    assert reading.capture is None


def test_another_version_of_the_shape_is_not_guessed_at() -> None:
    reading = reading_of(upheld_capture=2)
    assert [each.rule for each in reading.findings] == ["UPH504"]
    assert reading.capture is None


@pytest.mark.parametrize("part", ["corpus", "host", "environment", "engine", "gpus"])
@pytest.mark.parametrize("strange", [None, [], "text", {"a": {}}, [[1]], 7])
def test_strange_parts_say_nothing_and_break_nothing(part: str, strange: Any) -> None:
    assert reading_of(**{part: strange}).capture is not None


@pytest.mark.parametrize("part", list(EXECUTION))
@pytest.mark.parametrize("strange", [None, [], "text", {"a": {}}, [[1]], [{}], -7])
def test_strange_parts_of_an_execution_break_nothing(part: str, strange: Any) -> None:
    assert reading_of(executions=[{**EXECUTION, part: strange}]).capture is not None
