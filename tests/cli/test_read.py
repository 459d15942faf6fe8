from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from small_corpus import SmallCorpus
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


CONFIG = BENCHMARKS.parent / "configs" / "llama-8b.json"


class TestBesideArithmetic:
    def test_text_says_which_column_an_engine_printed(self) -> None:
        result = run(BENCHMARKS / "vllm-startup-8b.log", "--config", CONFIG)
        assert result.exit_code == 0
        assert "Beside arithmetic for llama-8b.json (LlamaForCausalLM)" in result.output
        heading, weights, tokens, _ = result.output.partition("Beside arithmetic")[2].splitlines()[
            2:6
        ]
        assert heading.index("printed by vLLM") < heading.index("by arithmetic, not measured")
        assert weights.split()[:2] == ["memory.weights", "GiB"]
        assert weights.endswith("14.9888                      14.9888  same digits")
        assert tokens.endswith("451,744 … 451,824  inside the interval")
        assert "Inputs of the arithmetic, and where they came from" in result.output
        assert re.search(r"block size +16 +vLLM's default", result.output)

    def test_a_figure_that_differs_is_a_finding(self, tmp_path: Path) -> None:
        log = tmp_path / "engine.log"
        text = (BENCHMARKS / "vllm-startup-8b.log").read_text(encoding="utf-8")
        log.write_text(text.replace("14.9888", "15.9888"), encoding="utf-8")
        result = run(log, "--config", CONFIG)
        assert result.exit_code == 1
        assert "differs by +6.7 %" in result.output
        assert "Assumed, since the log does not say: block size." in result.output

    def test_json_has_both_and_the_inputs(self) -> None:
        result = run("--format", "json", BENCHMARKS / "sglang-startup-tp2.log", "--config", CONFIG)
        assert result.exit_code == 0
        (file,) = json.loads(result.output)["files"]
        (start,) = file["beside"]
        assert start["figures"][0] == {
            "name": "pool of 367,404 tokens, K",
            "unit": "GiB",
            "printed": "11.21",
            "by_arithmetic": "11.21",
            "verdict": "same digits",
            "differs_by": 0.0,
        }
        assert start["not_compared"][0]["name"] == "memory.weights"
        assert {
            "name": "tensor_parallel",
            "value": 2,
            "origin": "the log",
            "assumed": False,
        } in start["inputs"]
        assert start["problem"] is None

    def test_without_arithmetic_the_shape_has_no_such_field(self) -> None:
        result = run("--format", "json", BENCHMARKS / "sglang-startup-tp2.log")
        assert "beside" not in json.loads(result.output)["files"][0]

    def test_a_record_says_what_a_log_leaves_open(self, small: SmallCorpus, tmp_path: Path) -> None:
        log = tmp_path / "engine.log"
        log.write_text(
            "INFO 03-01 10:15:48 [runner.py:13] Available KV cache memory: 0.50 GiB\n"
            "INFO 03-01 10:16:48 [utils.py:634] GPU KV cache size: 262,144 tokens\n"
        )
        result = run(log, "--deployment", "one-card", "--root", small.root)
        assert re.search(r"tensor parallel +1 +one-card", result.output)
        assert result.exit_code in (0, 1)

    def test_a_record_of_another_engine_is_refused(self, small: SmallCorpus) -> None:
        log = BENCHMARKS / "sglang-startup-tp2.log"
        result = run(log, "--deployment", "one-card", "--root", small.root)
        assert result.exit_code == 2
        assert "is a log of SGLang, but one-card is deployed on vllm" in result.stderr

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            ((BENCHMARKS / "vllm-serve-summary.json", "--config", CONFIG), "is no start-up log"),
            (
                (
                    BENCHMARKS / "vllm-startup-8b.log",
                    "--config",
                    BENCHMARKS / "vllm-startup-8b.log",
                ),
                "vllm-startup-8b.log",
            ),
            ((BENCHMARKS / "vllm-startup-8b.log", "--config", "no.json"), "no.json"),
            (
                (BENCHMARKS / "vllm-startup-8b.log", "--config", CONFIG, "--deployment", "x"),
                "--config and --deployment both",
            ),
            ((BENCHMARKS / "ollama-startup.log", "--config", CONFIG), "no figure could be set"),
        ],
    )
    def test_what_can_not_be_set_beside_arithmetic_says_why(
        self, arguments: tuple[str | Path, ...], says: str
    ) -> None:
        result = run(*arguments)
        assert result.exit_code == 2
        assert says in result.stderr
        assert "help: " in result.stderr
