from __future__ import annotations

import json
from pathlib import Path

import yaml
from click.testing import CliRunner, Result

from upheld.cli import main

BENCHMARKS = Path(__file__).parents[1] / "corpora" / "benchmarks"


def run(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(main, ["read", "--suggest", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def own(tmp_path: Path, **values: object) -> Path:
    file = tmp_path / "own.json"
    file.write_text(json.dumps(values), "utf-8")
    return file


def test_it_prints_yaml_to_paste(tmp_path: Path) -> None:
    result = run(own(tmp_path, ttft_p99_ms=20.5, latency_p99=1.5, requests=100))
    assert result.exit_code == 0
    (file,) = yaml.safe_load(result.output)["files"]
    assert file["path"] == "evidence/runs/raw/NAME/own.json"
    assert file["format"] == "json"
    assert file["mapping"]["figures"] == [
        {"metric": "latency.ttft.p99", "unit": "ms", "at": "ttft_p99_ms"}
    ]
    assert "latency_p99: its name says no unit: ms or s" in result.output


def test_json_has_the_documented_shape(tmp_path: Path) -> None:
    result = run("--format", "json", own(tmp_path, ttft_p99_ms=20.5, latency_p99=1.5, requests=9))
    shown = json.loads(result.output)
    assert shown["version"] == 1
    (file,) = shown["files"]
    assert file["format"] == "json"
    assert file["mapping"]["requests"] == {"attempted": "requests"}
    assert file["guesses"] == [{"at": "requests", "why": "taken as requests that were sent"}]
    assert file["left_out"] == [{"at": "latency_p99", "why": "its name says no unit: ms or s"}]
    assert yaml.safe_load(file["yaml"])["files"][0]["mapping"] == file["mapping"]
    assert file["why_not"] is None


def test_a_known_format_needs_none() -> None:
    result = run(BENCHMARKS / "vllm-serve-summary.json")
    assert result.exit_code == 1
    assert "it is vllm-bench-serve, which is read without a mapping" in result.output


def test_what_a_file_holds_is_shown_and_not_obeyed(tmp_path: Path) -> None:
    result = run(own(tmp_path, **{"ttft_p99\x1b[2J": 1, "ttft_p99\u202e": 2, "latency_p50": 3}))
    assert result.exit_code == 1
    assert not set(result.output) & set("\x1b\u202e")


def test_a_file_that_can_t_be_read_is_exit_2(tmp_path: Path) -> None:
    result = run(tmp_path / "none.json")
    assert result.exit_code == 2
    assert "there is no such file" in result.output


def test_it_is_not_set_beside_arithmetic(tmp_path: Path) -> None:
    assert run("--config", "config.json", own(tmp_path, a=1)).exit_code == 2
