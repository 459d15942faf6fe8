from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from upheld.cli import main

BENCHMARKS = Path(__file__).parents[1] / "corpora" / "benchmarks"


def run(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(main, ["read", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def edited(tmp_path: Path, **changes: Any) -> Path:
    run = json.loads((BENCHMARKS / "vllm-serve-summary.json").read_text(encoding="utf-8"))
    file = tmp_path / "result.json"
    file.write_text(json.dumps(run | changes), encoding="utf-8")
    return file


def test_text_says_what_was_recomputed_and_what_is_missing() -> None:
    result = run(BENCHMARKS / "vllm-serve-detailed.json")
    assert result.exit_code == 0
    assert "latency.ttft.p99" in result.output
    assert "recomputed ✓ the summary agrees" in result.output
    assert "reported only" in result.output
    assert "Not stated" in result.output
    assert "UPH505 warning: 3 of 120 requests failed" in result.output
    assert "\x1b" not in result.output


def test_text_shows_a_disagreement_with_its_place(tmp_path: Path) -> None:
    file = edited(tmp_path, output_throughput=9000.5)
    result = run(file)
    assert result.exit_code == 1
    assert "recomputed ✗ the summary says 9,000.5" in result.output
    assert f"{file}:1:" in result.output
    assert "UPH502 error" in result.output
    assert "\n  help: " in result.output


def test_json_has_the_documented_shape() -> None:
    result = run("--format", "json", BENCHMARKS / "vllm-serve-appended.json")
    assert result.exit_code == 0
    shown = json.loads(result.output)
    assert shown["version"] == 1
    (file,) = shown["files"]
    assert (file["format"], file["tool"], file["tool_version"]) == (
        "vllm-bench-serve",
        "vLLM bench serve",
        None,
    )
    metric = file["metrics"][0]
    assert metric.keys() >= {"name", "value", "unit", "origin", "reported", "case"}
    assert [row["case"] for row in file["rows"]] == ["run 1", "run 2", "run 3"]
    assert len(file["metrics"]) == sum(len(row["metrics"]) for row in file["rows"])
    assert file["envelope"] == {"model": "example-org/example-8b", "concurrency": 8}
    assert "engine_version" in file["not_stated"]
    assert file["findings"] == []


def test_json_of_an_unknown_file(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("nothing measured\n", encoding="utf-8")
    result = run("--format", "json", file)
    assert result.exit_code == 1
    (shown,) = json.loads(result.output)["files"]
    assert shown["format"] == "unknown"
    assert shown["metrics"] == []
    (finding,) = shown["findings"]
    assert finding["rule"] == "UPH501"
    assert finding["severity"] == "error"


def test_control_characters_of_a_file_are_shown_not_obeyed(tmp_path: Path) -> None:
    file = edited(tmp_path, model_id="a\x1b[2J\u202eb", note="x\ny", **{"k\x07": "v"})
    result = run(file)
    assert r"a\x1b[2J\u202eb" in result.output
    assert r"x\ny" in result.output
    assert not set(result.output) & set("\x1b\u202e\x07")


@pytest.mark.parametrize("kind", ["missing", "folder"])
def test_a_file_that_can_t_be_read_is_exit_2_and_the_others_are_read(
    kind: str, tmp_path: Path
) -> None:
    bad = tmp_path / "bad"
    if kind == "folder":
        bad.mkdir()
    result = run(bad, BENCHMARKS / "vllm-serve-summary.json")
    assert result.exit_code == 2
    assert "latency.ttft.p99" in result.output
    assert "Error:" in result.output
    assert "help:" in result.output


def test_each_file_that_can_t_be_read_is_told(tmp_path: Path) -> None:
    result = run(tmp_path / "one", tmp_path / "two", BENCHMARKS / "vllm-serve-summary.json")
    assert result.exit_code == 2
    for name in ("one", "two"):
        assert f"Error: '{tmp_path / name}': there is no such file\n  help: " in result.stderr
    assert "Error:" not in result.stdout


def test_nothing_to_read_is_exit_2() -> None:
    assert run().exit_code == 2
