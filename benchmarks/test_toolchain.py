"""How long Upheld itself takes. The decisions' claims about speed rest on runs of this file.

    make bench

Whole processes are timed from outside, start-up and imports included.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from upheld.arithmetic.ledger import ledger
from upheld.corpus.load import load
from upheld.corpus.yaml_reader import YamlError, read_yaml
from upheld.judge.judge import judge_corpus
from upheld.measured.read import read_file
from upheld.records.deployment import Deployment
from upheld.records.device import Device
from upheld.records.model import Model

ROOT = Path(__file__).parents[1]


def upheld(*arguments: str) -> None:
    command = [sys.executable, "-m", "upheld.cli", *arguments]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def test_version_process(benchmark: Any) -> None:
    benchmark.pedantic(upheld, ("--version",), rounds=40, warmup_rounds=3)


def test_check_process(benchmark: Any) -> None:
    benchmark.pedantic(upheld, ("check",), rounds=40, warmup_rounds=3)


def test_site_build_process(benchmark: Any, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(tmp_path)]
    benchmark.pedantic(
        lambda: subprocess.run(command, cwd=ROOT, check=True, capture_output=True),
        rounds=10,
        warmup_rounds=1,
    )
    assert (tmp_path / "decisions" / "adr-009" / "index.html").is_file()


def test_load_corpus(benchmark: Any) -> None:
    corpus = benchmark.pedantic(load, (ROOT,), rounds=40, warmup_rounds=3)
    assert corpus.findings == []


def test_judge_corpus(benchmark: Any) -> None:
    corpus = load(ROOT)
    judged = benchmark.pedantic(judge_corpus, (corpus,), rounds=40, warmup_rounds=3)
    assert judged.judgements


def test_refuse_alias_bomb(benchmark: Any) -> None:
    levels = "".join(
        f"l{level}: &l{level} [{', '.join([f'*l{level - 1}'] * 9)}]\n" for level in range(1, 9)
    )
    bomb = f"l0: &l0 [x, x, x]\n{levels}".encode()

    def refuse() -> None:
        with pytest.raises(YamlError):
            read_yaml("bomb.yaml", bomb)

    benchmark.pedantic(refuse, rounds=100, iterations=5, warmup_rounds=5)


def test_ledger(benchmark: Any) -> None:
    corpus = load(ROOT)
    deployment = corpus.of(Deployment)[0]
    model, device = corpus.get(deployment.model), corpus.get(deployment.device)
    assert isinstance(model, Model)
    assert isinstance(device, Device)
    found = benchmark.pedantic(
        ledger, (deployment, model, device), rounds=200, iterations=10, warmup_rounds=5
    )
    assert found.weights.bytes > 0


def test_read_largest_record(benchmark: Any) -> None:
    file = max((ROOT / "adrs").glob("*.yaml"), key=lambda each: each.stat().st_size)
    data = file.read_bytes()
    document = benchmark.pedantic(
        read_yaml, (file.name, data), rounds=100, iterations=2, warmup_rounds=5
    )
    assert document.value["kind"] == "adr"


def test_recompute_two_hundred_requests(benchmark: Any) -> None:
    file = ROOT / "tests/corpora/small/evidence/runs/raw/serve-16/result.json"
    data = file.read_bytes()
    reading = benchmark.pedantic(read_file, (file.name, data), rounds=40, warmup_rounds=3)
    assert reading.format == "vllm-bench-serve"
