"""Derived figures: exact, resting on all that their inputs rest on, never stronger than those."""

from __future__ import annotations

import pytest

from small_corpus import SmallCorpus

ADR = "adrs/ADR-001-small.yaml"
PRICE = """kind: assumption
id: price
title: Price of a device hour
says: One hour of the card costs 3.60 USD.
value: {value}
why: An example needs a price.
owner: Tester
date: 2026-11-02
"""
CARDS = PRICE.replace("id: price", "id: cards").replace("title: Price of a", "title: Count of a")
CLAIMS = """
  - id: rate
    says: At 16 requests the output has at least 500 tokens a second.
    basis: measured
    metric: throughput.output_tokens
    expect: ">= 500 tokens/s"
    within: {{deployment: one-card, concurrency: 16}}
    evidence: [{{run: {run}}}]
  - id: cost
    says: A million tokens of output cost less than two dollars.
    basis: measured
    metric: cost.per_million_tokens
    expect: "{expect}"
    derived:
      formula: cost_per_million_tokens
      inputs:
        price: {{assumption: price}}
        devices: {{assumption: cards}}
        throughput: {{claim: rate}}
"""


@pytest.fixture
def priced(small: SmallCorpus) -> SmallCorpus:
    folder = small.root / "evidence/assumptions"
    (folder / "price.yaml").write_text(PRICE.format(value="3.60 USD/h"))
    (folder / "cards.yaml").write_text(CARDS.format(value="1 devices"))
    return small


def claim(
    small: SmallCorpus, expect: str = "< 2 USD/1M tokens", run: str = "serve-16"
) -> SmallCorpus:
    small.append(ADR, CLAIMS.format(expect=expect, run=run))
    return small


def test_it_is_worked_out_exactly_and_rests_on_all_of_its_inputs(priced: SmallCorpus) -> None:
    found = claim(priced).claim("cost")
    assert found.verdict == "upheld"
    # 3.60 USD/h is 0.001 USD/s, over 549.97 tokens/s.
    assert "1.81828 USD/1M tokens = price × devices ÷ throughput" in found.outcome.because
    assert {"price", "cards", "serve-16"} <= set(found.rests_on)
    assert found.outcome.value is not None
    assert found.outcome.value.kind == "computed"


def test_another_figure_contradicts_it(priced: SmallCorpus) -> None:
    assert claim(priced, "< 1 USD/1M tokens").claim("cost").verdict == "contradicted"


def test_it_is_no_stronger_than_what_it_is_derived_from(priced: SmallCorpus) -> None:
    priced.replace("evidence/runs/serve-16.yaml", "device: Example Card 1GB", "device: Other")
    found = claim(priced).claim("cost")
    assert found.verdict == "out-of-envelope"
    assert "the claim rate, which is out-of-envelope and has no figure" in found.outcome.because


def test_what_is_open_below_stays_open(priced: SmallCorpus) -> None:
    # The small corpus has an untested claim of that name.
    claim(priced)
    priced.replace(ADR, "throughput: {claim: rate}", "throughput: {claim: throughput}")
    assert priced.claim("cost").verdict == "untested"


def test_an_old_measurement_gives_a_stale_figure(priced: SmallCorpus) -> None:
    claim(priced)
    priced.replace(ADR, "says: At 16 requests the", "max_age: 1 days\n    says: At 16 requests the")
    found = priced.claim("cost")
    assert found.verdict == "stale"
    assert "derived from what is stale" in found.outcome.because


@pytest.mark.parametrize(
    ("value", "words"),
    [("3.60 USD", "has a value of money; wanted: money per time"), (None, "has no value")],
)
def test_a_price_must_be_one(priced: SmallCorpus, value: str | None, words: str) -> None:
    text = PRICE.replace("value: {value}\n", "") if value is None else PRICE.format(value=value)
    (priced.root / "evidence/assumptions/price.yaml").write_text(text)
    found = claim(priced).claim("cost")
    assert found.verdict == "unsupported"
    assert words in found.outcome.because


def test_a_circle_is_no_derivation(priced: SmallCorpus) -> None:
    claim(priced)
    priced.replace(ADR, "throughput: {claim: rate}", "throughput: {claim: cost}")
    found = priced.claim("cost")
    assert found.verdict == "unsupported"
    assert "derived from this one" in found.outcome.because


def test_division_by_nought(priced: SmallCorpus) -> None:
    found = claim(priced)
    (priced.root / "evidence/assumptions/cards.yaml").write_text(CARDS.format(value="0 devices"))
    assert found.claim("cost").outcome.because.startswith("Derived: 0 USD/1M tokens")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("formula: cost_per_million_tokens", "formula: cost", "unknown formula 'cost'; known:"),
        ("price: {assumption: price}\n        ", "", "lacks price; its inputs: price, devices"),
        ("throughput: {claim: rate}", "throughput: {assumption: price}", "a figure of hardware"),
        ("price: {assumption: price}", "price: {}", "from a claim or from an assumption"),
        ("metric: cost.per_million_tokens", "metric: latency.ttft.p95", "gives money per tokens"),
    ],
)  # fmt: skip
def test_a_formula_that_does_not_fit_is_a_finding(
    priced: SmallCorpus, old: str, new: str, message: str
) -> None:
    claim(priced)
    priced.replace(ADR, old, new)
    messages = [finding.message for finding in priced.judge().findings]
    assert any(message in each for each in messages), messages
