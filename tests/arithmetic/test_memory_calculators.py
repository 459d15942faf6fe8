"""Upheld beside other memory calculators: what they are asked, and how an answer is judged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from markdown_blocks import ROOT
from memory_calculator_checks.adapters.asks import NoAnswer, answer
from memory_calculator_checks.cases import SIZE, TOKENS, Case
from memory_calculator_checks.description import config_of
from memory_calculator_checks.scores import counts, misses, upheld, verdict_of
from memory_calculators import known, run

KEPT: dict[str, Any] = json.loads(
    (ROOT / "tests/corpora/memory-calculators/results.json").read_text("utf-8")
)
CASES, SHAPES = known()
PINNED = dict(
    line.split("==")
    for line in (ROOT / "benchmarks/memory_calculator_checks/requirements.txt")
    .read_text("utf-8")
    .splitlines()
    if not line.startswith("#")
)
KIB_A_TOKEN = 128 / 2**20


def case_of(check: str, printed: str) -> Case:
    found = next(each for each in CASES if each.check == check)
    return replace(found, printed=printed)


def test_the_kept_run_is_of_the_figures_asked_today() -> None:
    assert [each["id"] for each in KEPT["cases"]] == [case.id for case in CASES]
    for each, case in zip(KEPT["cases"], CASES, strict=True):
        assert each["printed"] == case.printed
        assert each["given"]["dtype"] == case.ask.dtype, case.id
        assert each["given"].get("context") == case.ask.context, case.id
        assert each["given"].get("memory_gib") == (
            case.ask.memory_gib and [round(end, 4) for end in case.ask.memory_gib]
        ), case.id


def test_the_kept_run_has_the_pinned_versions() -> None:
    assert KEPT["versions"] == PINNED


def test_upheld_answers_as_in_the_kept_run() -> None:
    for each, case in zip(KEPT["cases"], CASES, strict=True):
        assert each["answers"]["Upheld"] == upheld(case, SHAPES), case.id


@pytest.mark.parametrize("tool", PINNED)
@pytest.mark.parametrize("question", [TOKENS, SIZE])
def test_upheld_misses_fewer_than_each(tool: str, question: str) -> None:
    cases = [each for each in KEPT["cases"] if each["question"] == question]
    assert misses(counts(cases, "Upheld")) < misses(counts(cases, tool))


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_becomes_a_configuration(name: str) -> None:
    config = config_of(SHAPES[name], {}, None)
    for fact in ("num_hidden_layers", "num_attention_heads", "hidden_size", "vocab_size"):
        assert config[fact] > 0
    for fact, value in SHAPES[name].items():
        if fact in config and fact not in ("num_key_value_heads", "head_dim"):
            assert config[fact] == value
    assert len(config.get("layer_types", [])) in (0, config["num_hidden_layers"])


def test_a_window_and_a_drafter_are_in_the_configuration() -> None:
    shape = SHAPES["google/gemma-3-27b-it"]
    windowed = config_of(shape, {}, "gemma3_text")
    assert windowed["layer_types"].count("sliding_attention") == 52
    assert windowed["sliding_window"] == 1024
    full = config_of(shape, {"all_layers_full": True, "extra_full_layers": 1}, "gemma3_text")
    assert full["layer_types"] == ["full_attention"] * 63
    assert "sliding_window" not in full


def test_the_longest_context_is_found_at_both_ends_of_the_memory() -> None:
    ask = replace(
        case_of("gpu_kv_cache_tokens", "0").ask,
        memory_gib=(10 * KIB_A_TOKEN, 20.5 * KIB_A_TOKEN),
        limit=None,
    )
    assert answer(ask, lambda tokens: tokens * KIB_A_TOKEN) == {"tokens": [[10, 20]]}


def test_full_sequences_are_a_second_reading() -> None:
    ask = replace(case_of("gpu_kv_cache_tokens", "0").ask, memory_gib=(8.0, 8.0), limit=100)
    # A state of 1 GiB in each sequence beside 0.01 GiB a token: 2 GiB for each hundred.
    found = answer(ask, lambda tokens: 1 + tokens / 100)
    assert found["tokens"] == [[700, 700], [400, 400]]


def test_a_cache_that_does_not_grow_holds_no_number_of_tokens() -> None:
    ask = replace(case_of("gpu_kv_cache_tokens", "0").ask, memory_gib=(8.0, 8.0))
    with pytest.raises(NoAnswer, match="does not grow"):
        answer(ask, lambda tokens: 0.0)


@pytest.mark.parametrize(
    ("tokens", "verdict"),
    [
        ([[1600, 1640]], "exact"),
        ([[1610, 1620]], "exact"),  # 1,600 is the whole blocks of 1,610
        ([[1617, 1620]], "within"),
        ([[3200, 3200]], "off"),
        ([[3200, 3200], [1600, 1600]], "exact"),
    ],
)
def test_a_capacity_is_read_in_the_tools_favour(tokens: list[list[int]], verdict: str) -> None:
    case = replace(case_of("gpu_kv_cache_tokens", "1,600"), block=16)
    assert verdict_of(case, {"tokens": tokens})["verdict"] == verdict


def test_blocks_are_compared_as_blocks() -> None:
    case = replace(case_of("num_gpu_blocks", "100"), block=16, unit=16)
    found = verdict_of(case, {"tokens": [[1600, 1620]]})
    assert found == {"verdict": "exact", "answer": "100 … 101"}


@pytest.mark.parametrize(("gib", "verdict"), [(24.001, "exact"), (24.1, "within"), (25.0, "off")])
def test_a_size_has_the_printed_digits_or_is_wrong(gib: float, verdict: str) -> None:
    assert verdict_of(case_of("kv_needed_gib", "24.00"), {"gib": gib})["verdict"] == verdict


def test_no_answer_is_a_miss_and_says_why() -> None:
    found = verdict_of(case_of("kv_needed_gib", "24.00"), {"none": "it has no such split"})
    assert found == {"verdict": "no answer", "reason": "it has no such split"}
    assert misses(counts([{"answers": {"a tool": found}}], "a tool")) == 1


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "benchmarks/memory_calculators.py", *arguments],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT / "tools"), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
    )


def test_without_any_of_the_tools_it_could_not_run(tmp_path: Path) -> None:
    done = command("--python", sys.executable)
    assert done.returncode == 2
    for tool in PINNED:
        assert f"{tool} is left out" in done.stderr
    assert "has none of the tools" in done.stderr
    missing = command("--python", str(tmp_path / "python"))
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "can't be run" in missing.stderr


@pytest.mark.parametrize("text", ["", "[]", "{}"])
def test_what_is_no_kept_run_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "results.json"
    path.write_text(text, "utf-8")
    done = command("--results", str(path))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {path} ")


@pytest.mark.peers
def test_the_tools_answer_as_in_the_kept_run() -> None:
    python = Path(os.environ.get("UPHELD_PEERS") or ROOT / ".venv-peers/bin/python")
    if not python.is_file():
        pytest.skip(f"no other calculators at {python}; run `make peers`, or set UPHELD_PEERS")
    # Kept as JSON, which knows no tuples.
    again = json.loads(json.dumps(run(python)))
    assert again["versions"] == KEPT["versions"]
    assert again["cases"] == KEPT["cases"]
