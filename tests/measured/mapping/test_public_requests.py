"""Single requests that a public script kept, against the summary that it printed of them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mapped_files import read, said, values

pytestmark = pytest.mark.corpus

MAPPING = """
samples:
  completed: {success: true}
  values:
    - {metric: latency.e2e, unit: s, at: wall_time}
    - {metric: tokens.output.total, unit: tokens, at: output_tokens}
"""
FIRST_TOKEN = "    - {metric: latency.ttft, unit: s, at: ttft}\n"
PRINTED = {
    "latency_p50": "latency.e2e.p50",
    "latency_p95": "latency.e2e.p95",
    "latency_p99": "latency.e2e.p99",
    "ttft_p50": "latency.ttft.p50",
    "ttft_p95": "latency.ttft.p95",
    "successful_requests": "requests.completed",
    "failed_requests": "requests.failed",
    "total_output_tokens": "tokens.output.total",
}


def summaries(corpora: Path) -> dict[tuple[str, str, str, str], dict[str, Any]]:
    found = {}
    for file in corpora.glob("claim-pairs/files/*/results/summary.jsonl"):
        for line in file.read_text("utf-8").splitlines():
            row = json.loads(line)
            key = (row["engine"], row["regime"], str(row["concurrency"]), str(row["repeat"]))
            found[key] = row
    return found


def test_recomputed_statistics_are_those_that_were_printed(corpora: Path) -> None:
    printed = summaries(corpora)
    compared, other_runs = 0, set()
    for file in sorted(corpora.glob("claim-pairs/files/*/raw/*.jsonl")):
        named = re.fullmatch(r"(\w+?)_(\w+)_c(\d+)_r(\d)", file.stem)
        assert named
        row = printed[named[1], named[2], named[3], named[4]]
        mapping = MAPPING if row["ttft_p50"] is None else MAPPING + FIRST_TOKEN
        reading = read("jsonl", mapping, file.read_text("utf-8"))
        assert said(reading) == []
        found = values(reading)
        wanted = {name: row[key] for key, name in PRINTED.items() if row[key] is not None}
        if found["latency.e2e.p50"][0] != pytest.approx(wanted["latency.e2e.p50"], abs=5e-5):
            other_runs.add(file.stem)
            continue
        for name, value in wanted.items():
            assert found[name][0] == pytest.approx(value, abs=5e-5), (file.name, name)
            compared += 1
    # Of these the summary's row is of another run than the requests that stand beside it.
    assert other_runs == {"vllm_short_c1_r1", "vllm_short_c64_r1"}
    assert compared == 62
