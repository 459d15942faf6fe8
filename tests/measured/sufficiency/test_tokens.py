"""Lengths that were asked for, and tokens that two counted."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from served_row import served
from upheld.measured.reading import Mean, Row
from upheld.measured.sufficiency import counts_differ, lengths, shortcomings

RATE = {"throughput.output_tokens": "100"}
MEAN = {"output_tokens": Mean(Fraction(61), varies=True)}


@pytest.mark.parametrize(("asked", "fires"), [(128, 1), (64, 0), (61, 0), (58, 1)])
def test_the_mean_is_held_against_what_was_asked_for(asked: int, fires: int) -> None:
    row = served(RATE, means=MEAN, asked={"output_tokens": Fraction(asked)})
    assert len(list(lengths.check(row))) == fires


def test_it_warns_and_leaves_the_claim_to_the_envelope() -> None:
    row = served(RATE, means=MEAN, asked={"output_tokens": Fraction(128)})
    (found,) = lengths.check(row)
    assert found.rule == "UPH512"
    assert found.message == ("128 output tokens per request were asked for, and their mean is 61")
    assert not shortcomings(row, "throughput.output_tokens")


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"means": MEAN},
        {"means": MEAN, "asked": {"input_tokens": Fraction(128)}},
        {"asked": {"output_tokens": Fraction(128)}},
    ],
)
def test_what_was_not_asked_for_or_not_counted_is_not_judged(facts: dict[str, Any]) -> None:
    assert not list(lengths.check(served(RATE, **facts)))


def counted(server: int, client: int) -> Row:
    return served(
        RATE, counted={"tokens.output.total": {"the server": server, "the client": client}}
    )


@pytest.mark.parametrize(("client", "fires"), [(979, 1), (980, 0), (1000, 0), (1020, 0), (1021, 1)])
def test_two_counts_more_than_two_percent_apart(client: int, fires: int) -> None:
    assert len(list(counts_differ.check(counted(1000, client)))) == fires


def test_only_figures_that_rest_on_the_count_are_insufficient() -> None:
    row = counted(1000, 700)
    (found,) = shortcomings(row, "throughput.output_tokens")
    assert found.rule == "UPH517"
    assert "1,000 by the server, 700 by the client" in found.message
    assert found.weakens("latency.tpot.p50")
    assert not found.weakens("latency.ttft.p50")
    assert not found.weakens("throughput.requests")
