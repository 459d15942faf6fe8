"""Runs whose files are of people's own scripts: how far a mapping carries a claim."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from small_corpus import RUN, SmallCorpus
from upheld.measured.mapping import large

OWN = "evidence/runs/raw/own/requests.jsonl"
MAPPING = """\
    mapping:
      samples:
        completed: {ok: true}
        values:
          - {metric: latency.ttft, unit: s, at: ttft}
"""
ENVELOPE = "  concurrency: 16\n  output_tokens: 32 tokens\n  model: tiny\n"


def own_run(small: SmallCorpus, text: str, form: str = "jsonl", mapping: str = MAPPING) -> None:
    """The run of the small corpus with a file of its own script in place of vLLM's."""
    file = small.root / OWN
    file.parent.mkdir(parents=True)
    file.write_text(text, "utf-8")
    digest = hashlib.sha256(text.encode()).hexdigest()
    run = (small.root / RUN).read_text("utf-8")
    before, _, after = run.partition("files:\n")
    states = after[after.index("states:") :]
    entry = f"  - path: {OWN}\n    sha256: {digest}\n    format: {form}\n{mapping}"
    (small.root / RUN).write_text(f"{before}files:\n{entry}{states}{ENVELOPE}", "utf-8")


def requests(count: int = 200, **changes: Any) -> str:
    rows = [{"ok": True, "ttft": 0.1 + each / 1000} for each in range(count)]
    rows[-1] |= changes
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_a_claim_stands_on_the_requests_of_an_own_script(small: SmallCorpus) -> None:
    own_run(small, requests())
    judged = small.claim("first-token")
    assert judged.verdict == "upheld", judged.outcome.because
    assert "recomputed" in judged.outcome.because
    assert small.rules() == []


def test_a_claim_falls_on_them_as_well(small: SmallCorpus) -> None:
    own_run(small, requests().replace('"ttft": 0.', '"ttft": 0.9'))
    assert small.claim("first-token").verdict == "contradicted"


def test_a_failed_request_is_not_passed_over(small: SmallCorpus) -> None:
    own_run(small, requests(ok=False))
    judged = small.claim("first-token")
    assert judged.verdict == "insufficient"
    assert "1 of 200 requests failed" in judged.outcome.because


def test_a_figure_of_a_summary_without_its_counts_is_too_little(small: SmallCorpus) -> None:
    mapping = "    mapping: {figures: [{metric: latency.ttft.p95, unit: ms, at: p95}]}\n"
    own_run(small, '{"p95": 200}', "json", mapping)
    judged = small.claim("first-token")
    assert judged.verdict == "insufficient"
    assert "does not say how many requests completed" in judged.outcome.because


def test_a_mapping_that_finds_otherwise_leaves_the_run_unsound(small: SmallCorpus) -> None:
    own_run(small, requests(), mapping=MAPPING.replace("at: ttft", "at: tftt"))
    (finding,) = [each for each in small.judge().findings if each.rule == "UPH522"]
    line = (small.root / RUN).read_text("utf-8").splitlines()[finding.place.line - 1]
    assert finding.place.path == RUN
    assert line[finding.place.column - 1 :].startswith("at: tftt")
    assert finding.help == "did you mean ttft?"
    assert small.claim("first-token").verdict == "unsupported"


def test_a_mapping_does_not_get_round_what_a_format_finds(small: SmallCorpus) -> None:
    mapping = "    mapping: {figures: [{metric: latency.ttft.p95, unit: ms, at: median_ttft_ms}]}\n"
    raw = (small.root / "evidence/runs/raw/serve-16/result.json").read_text("utf-8")
    own_run(small, raw, "json", mapping)
    (finding,) = [each for each in small.judge().findings if each.rule == "UPH508"]
    assert finding.message.endswith("is vllm-bench-serve, not json; its mapping is not applied")
    assert finding.help == "write format: vllm-bench-serve and remove the mapping"
    assert small.claim("first-token").verdict == "unsupported"


def test_a_record_that_says_otherwise_than_a_mapped_axis_is_told(small: SmallCorpus) -> None:
    own_run(small, '{"p95": 200, "c": 8}', "json", (
        "    mapping:\n      figures: [{metric: latency.ttft.p95, unit: ms, at: p95}]\n"
        "      envelope: {concurrency: c}\n"
    ))  # fmt: skip
    assert "UPH509" in small.rules()


def test_a_large_file_needs_duckdb_and_says_so(
    small: SmallCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_run(small, requests())
    monkeypatch.setattr(large, "LARGE_FROM", 0)
    assert small.claim("first-token").verdict == "upheld"
    monkeypatch.setattr(large, "find_spec", lambda name: None)
    (finding,) = [each for each in small.judge().findings if each.rule == "UPH801"]
    assert finding.help == "install it: pip install 'upheld[large]'"


def test_a_changed_file_is_not_read_by_a_mapping_either(small: SmallCorpus) -> None:
    own_run(small, requests())
    (small.root / OWN).write_text(requests(ttft=9), "utf-8")
    assert "UPH802" in small.rules()
