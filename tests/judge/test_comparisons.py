"""Claims that compare two measurements: alike but for what is compared."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from small_corpus import RAW, RUN, SmallCorpus

CLAIM = """
  - id: faster
    says: On the other engine the output has at least 1.5 times the throughput.
    basis: measured
    metric: throughput.output_tokens
    expect: "{expect}"
    within: {{model: tiny, engine: {engine}, device: card, concurrency: 16}}
    versus: {{model: tiny, engine: {other}, device: card, concurrency: 16}}
    evidence: [{{run: serve-16}}, {{run: other-16}}]
"""


class Comparison:
    """The small corpus with a claim that compares the engine `other` with vLLM."""

    def __init__(self, small: SmallCorpus) -> None:
        self.small = small

    def claim(self, expect: str = ">= 1.5", engine: str = "other", other: str = "vllm") -> None:
        self.small.append(
            "adrs/ADR-001-small.yaml", CLAIM.format(expect=expect, engine=engine, other=other)
        )

    def measure(self, id_: str, times: float, engine: str = "other", **states: str) -> None:
        """A run with `times` the throughput of serve-16, in as many times less time."""
        result = json.loads((self.small.root / RAW).read_text())
        single = ("ttfts", "itls", "output_lens", "input_lens", "errors", "generated_texts")
        for key in single:
            del result[key]
        for key in ("request_throughput", "output_throughput", "total_token_throughput"):
            result[key] *= times
        for key in result:
            if key == "duration" or key.endswith("_ms"):
                result[key] /= times
        path = f"evidence/runs/raw/{id_}/result.json"
        file = self.small.root / path
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(result))
        text = (self.small.root / RUN).read_text()
        text = text.replace("id: serve-16", f"id: {id_}").replace(RAW, path)
        text = text.replace("engine: vllm", f"engine: {engine}")
        text = re.sub(
            r"sha256: \w+", f"sha256: {hashlib.sha256(file.read_bytes()).hexdigest()}", text
        )
        for name, value in states.items():
            text = re.sub(rf"(?m)^  {name}: .*$", f"  {name}: {value}", text)
        (self.small.root / f"evidence/runs/{id_}.yaml").write_text(text)

    def outcome(self) -> tuple[str, str]:
        found = self.small.claim("faster")
        return found.verdict, found.outcome.because


@pytest.fixture
def comparison(small: SmallCorpus) -> Comparison:
    return Comparison(small)


def test_two_single_runs_far_apart(comparison: Comparison) -> None:
    comparison.measure("other-16", 2)
    comparison.claim()
    verdict, because = comparison.outcome()
    assert verdict == "upheld"
    assert "1,099.9 tokens/s against 549.97 tokens/s: 2" in because
    assert "no interval: a side was measured once" in because


def test_less_than_claimed_is_contradicted(comparison: Comparison) -> None:
    comparison.measure("other-16", 1.3)
    comparison.claim()
    assert comparison.outcome()[0] == "contradicted"


def test_two_single_runs_close_together_may_be_their_spread(comparison: Comparison) -> None:
    comparison.measure("other-16", 1.05)
    comparison.claim(expect="> 1")
    verdict, because = comparison.outcome()
    assert verdict == "insufficient"
    assert "less than 10 % may be the spread between repeats" in because


def test_repeats_give_an_interval(comparison: Comparison) -> None:
    for at, times in enumerate((1.0, 1.02, 0.98)):
        comparison.measure(f"again-{at}", times, engine="vllm")
    for at, times in enumerate((1.6, 1.62, 1.58)):
        comparison.measure(f"other-{at + 16}", times)
    comparison.claim()
    verdict, because = comparison.outcome()
    assert verdict == "upheld"
    assert re.search(r"95 % between 1\.5\d+ and 1\.6\d*, by bootstrap", because)
    assert "(mean of 3 runs)" in because


def test_repeats_that_spread_over_the_limit_leave_it_open(comparison: Comparison) -> None:
    comparison.measure("again", 1.1, engine="vllm")
    for at, times in enumerate((1.3, 1.9, 1.6)):
        comparison.measure(f"other-{at + 16}", times)
    comparison.claim()
    verdict, because = comparison.outcome()
    assert verdict == "insufficient"
    assert "the spread between repeats leaves open whether it is >= 1.5" in because


def test_a_repeat_that_nobody_named_counts(comparison: Comparison) -> None:
    comparison.measure("other-16", 2)
    comparison.measure("unnamed", 0.5)
    comparison.claim()
    assert comparison.outcome()[0] == "contradicted"


@pytest.mark.parametrize(
    ("states", "verdict", "words"),
    [
        ({"kv_cache_dtype": "fp8"}, "out-of-envelope", "the KV cache dtype is fp8 and bf16"),
        ({"engine_version": "0.20.0"}, "out-of-envelope", "the engine version is"),
        ({"device": "Another Card"}, "out-of-envelope", "the device is Another Card, not card"),
    ],
)
def test_another_difference_is_named(
    comparison: Comparison, states: dict[str, str], verdict: str, words: str
) -> None:
    comparison.measure("other-16", 2, **states)
    comparison.claim()
    found, because = comparison.outcome()
    assert found == verdict
    assert words in because


def test_what_is_known_of_one_side_alone_is_insufficient(comparison: Comparison) -> None:
    comparison.measure("other-16", 2)
    file = comparison.small.root / "evidence/runs/other-16.yaml"
    file.write_text(file.read_text().replace("  prefix_caching: false\n", ""))
    comparison.claim()
    verdict, because = comparison.outcome()
    assert verdict == "insufficient"
    assert "the prefix caching is stated of one and not of the other" in because


def test_a_side_that_nobody_measured(comparison: Comparison) -> None:
    comparison.measure("other-16", 2)
    comparison.claim(engine="third")
    verdict, because = comparison.outcome()
    assert verdict == "out-of-envelope"
    assert "the engine is" in because


def test_what_it_does_not_tell_apart_is_no_comparison(comparison: Comparison) -> None:
    comparison.measure("other-16", 2)
    comparison.claim(engine="vllm")
    assert comparison.outcome() == (
        "insufficient",
        "It compares two things that it does not tell apart.",
    )


def test_no_run_named(comparison: Comparison) -> None:
    comparison.measure("other-16", 2)
    comparison.claim()
    adr = Path(comparison.small.root / "adrs/ADR-001-small.yaml")
    adr.write_text(
        adr.read_text().replace("    evidence: [{run: serve-16}, {run: other-16}]\n", "")
    )
    verdict, because = comparison.outcome()
    assert verdict == "unsupported"
    assert "No run is named as evidence" in because
