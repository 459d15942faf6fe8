"""Claims about devices and quality, beside the files of the tools that measure those."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from small_corpus import ADR, SmallCorpus

BENCHMARKS = Path(__file__).parents[1] / "corpora" / "benchmarks"
FILES = {
    "nvbandwidth-json": "nvbandwidth.json",
    "lm-eval": "lm-eval.json",
    "nvidia-smi-csv": "nvidia-smi-query.csv",
    "prometheus": "prometheus-vllm.txt",
}


@pytest.fixture
def corpus(tmp_path: Path) -> SmallCorpus:
    corpus = SmallCorpus(tmp_path)
    raw = corpus.root / "evidence" / "runs" / "raw" / "tools"
    raw.mkdir(parents=True)
    for format_, name in FILES.items():
        data = shutil.copy(BENCHMARKS / name, raw / name).read_bytes()
        (corpus.root / "evidence" / "runs" / f"{format_}.yaml").write_text(
            f"kind: run\nid: {format_}\ntitle: A run\ndate: 2026-11-20\nby: Somebody\n"
            f"outcome: completed\nfiles:\n  - path: evidence/runs/raw/tools/{name}\n"
            f"    sha256: {hashlib.sha256(data).hexdigest()}\n    format: {format_}\n"
        )
    return corpus


@pytest.mark.parametrize(
    ("metric", "expect", "within", "run", "verdict"),
    [
        ("bandwidth.sum", ">= 100 GB/s", "device: Example GPU 80GB, "
         "benchmark: host_to_device_memcpy_ce", "nvbandwidth-json", "upheld"),
        ("bandwidth.sum", ">= 400 GB/s", "device: Example GPU 80GB, "
         "benchmark: host_to_device_memcpy_ce", "nvbandwidth-json", "contradicted"),
        ("bandwidth.sum", ">= 100 GB/s", "device: Other GPU, "
         "benchmark: host_to_device_memcpy_ce", "nvbandwidth-json", "out-of-envelope"),
        ("bandwidth.sum", ">= 100 GB/s", "device: Example GPU 80GB", "nvbandwidth-json",
         "insufficient"),
        ("quality.answers", ">= 0.5", "model: example-org/example-8b, "
         "benchmark: arc_challenge", "lm-eval", "upheld"),
        ("quality.answers", ">= 0.5", "model: example-org/example-8b", "lm-eval", "insufficient"),
        ("device.power.max", "<= 700 W", "device: Example GPU 80GB", "nvidia-smi-csv", "upheld"),
        ("device.power.max", "<= 700 W", "", "nvidia-smi-csv", "insufficient"),
        # A mean over an idle beginning is a mean all the same; its statistic must be named.
        ("device.utilisation", "<= 60 %", "device: Example GPU 80GB", "nvidia-smi-csv",
         "insufficient"),
    ],
)  # fmt: skip
def test_a_figure_of_a_device_or_of_quality(
    corpus: SmallCorpus, metric: str, expect: str, within: str, run: str, verdict: str
) -> None:
    corpus.append(
        ADR,
        f"  - id: by-tool\n    says: As measured.\n    basis: measured\n    metric: {metric}\n"
        f"    expect: '{expect}'\n    within: {{{within}}}\n    evidence:\n      - run: {run}\n",
    )
    assert corpus.claim("by-tool").verdict == verdict


def test_a_scrape_with_failures_is_not_enough(corpus: SmallCorpus) -> None:
    states = "states:\n  device: card-a\n  concurrency: 4\n"
    corpus.append("evidence/runs/prometheus.yaml", states)
    corpus.append(
        ADR,
        "  - id: by-tool\n    says: As scraped.\n    basis: measured\n"
        "    metric: latency.ttft.p50\n    expect: '<= 400 ms'\n"
        "    within: {model: example-org/example-8b, engine: vllm, device: card-a, "
        "concurrency: 4}\n    evidence:\n      - run: prometheus\n",
    )
    found = corpus.claim("by-tool")
    assert found.verdict == "insufficient"
    assert "requests failed" in found.outcome.because
