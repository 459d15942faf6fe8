from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from control.test_guarantees import policy
from records.record_texts import TEXTS, record_in
from upheld.arithmetic.ledger import Ledger
from upheld.control.budgets import (
    Budgeted,
    NotDeclared,
    conflicts,
    drain_window,
    kv_token_share,
    slots,
)
from upheld.records.deployment import Deployment
from upheld.records.policy import Policy


@dataclass(frozen=True)
class _Tokens:
    tokens: int
    block_size: int = 16


def holding(tokens: int) -> Ledger:
    """A ledger of which only the KV tokens are asked for."""
    return cast(Ledger, _Tokens(tokens))


def deployment(**limits: str) -> Deployment:
    text = TEXTS["deployment"].replace("256 tokens", "28 tokens")
    text = text.replace("2048 tokens", limits.get("context", "128 tokens"))
    record = record_in(text.replace("max_num_seqs: 4", f"max_num_seqs: {limits.get('seqs', '4')}"))
    assert isinstance(record, Deployment)
    return record


class TestKvTokens:
    @given(st.integers(1, 10**9))
    def test_is_an_exact_share(self, tokens: int) -> None:
        budgeted = kv_token_share(policy(), holding(tokens))
        assert budgeted.value == Fraction(4 * 128, tokens)
        assert budgeted.formula == f"4 slots × 128 tokens ÷ {tokens:,} KV tokens"

    def test_a_sequence_takes_whole_blocks(self) -> None:
        budgeted = kv_token_share(policy(), cast(Ledger, _Tokens(512, block_size=48)))
        assert budgeted.value == Fraction(4 * 144, 512)
        assert budgeted.formula == "4 slots × 3 blocks of 48 tokens for 128 tokens ÷ 512 KV tokens"

    def test_needs_a_budget_and_a_cache(self) -> None:
        with pytest.raises(NotDeclared, match="the policy declares no budget"):
            kv_token_share(policy(without="budget"), holding(1))
        with pytest.raises(NotDeclared, match="leaves no memory for a KV cache"):
            kv_token_share(policy(), holding(0))


def test_slots() -> None:
    assert slots(policy()) == Budgeted(Fraction(4), "the slots that gate declares")
    with pytest.raises(NotDeclared, match="the policy declares no budget"):
        slots(policy(without="budget"))


class TestDrain:
    @pytest.mark.parametrize(
        ("grace", "pre_stop", "shutdown", "left"),
        [
            ("60 s", "5 s", "30 s", 30),
            ("1 min", "5 s", "90 s", 55),
            ("10 s", "30 s", "20 s", 0),
            ("1 s", "100 ms", "1 h", Fraction(9, 10)),
        ],
    )
    def test_window(self, grace: str, pre_stop: str, shutdown: str, left: Fraction) -> None:
        budgeted = drain_window(_draining(grace, pre_stop, shutdown))
        assert budgeted == Budgeted(
            Fraction(left), f"min({grace} grace − {pre_stop} pre-stop, {shutdown} shutdown)"
        )

    def test_needs_a_drain(self) -> None:
        with pytest.raises(NotDeclared, match="the policy declares no drain"):
            drain_window(policy(without="drain"))


def _draining(grace: str, pre_stop: str, shutdown: str) -> Policy:
    lines = "  termination_grace_period: {}\n  pre_stop: {}\n  shutdown_timeout: {}\n"
    return policy(old=lines.format("60 s", "5 s", "30 s"),
                  new=lines.format(grace, pre_stop, shutdown))  # fmt: skip


class TestConflicts:
    def test_none(self) -> None:
        assert list(conflicts(policy(), deployment())) == []

    def test_none_where_nothing_is_declared(self) -> None:
        bare = record_in(TEXTS["policy"])
        assert isinstance(bare, Policy)
        assert list(conflicts(bare, deployment(seqs="1"))) == []

    def test_more_slots_than_sequences(self) -> None:
        assert self.only(policy(), deployment(seqs="3")) == (
            "UPH401", ("budget", "slots"), "4 slots, but replica runs at most 3 sequences",
            "lower slots to 3",
        )  # fmt: skip

    def test_a_longer_context(self) -> None:
        longer = policy(old="context: 128 tokens", new="context: 129 tokens")
        assert self.only(longer, deployment()) == (
            "UPH401", ("budget", "context"),
            "a context of 129 tokens, but replica takes at most 128 tokens",
            "lower context to 128 tokens",
        )  # fmt: skip

    def test_a_longer_prompt_and_output(self) -> None:
        longer = policy(old="max_prompt_tokens: 100 tokens", new="max_prompt_tokens: 101 tokens")
        assert self.only(longer, deployment()) == (
            "UPH401", ("admission",),
            "prompt and output may reach 129 tokens, but replica takes at most 128 tokens",
            "lower one of the two bounds",
        )  # fmt: skip

    @pytest.mark.parametrize("grace", ["35 s", "0.5 min"])
    def test_a_drain_that_is_cut_short(self, grace: str) -> None:
        assert self.only(_draining(grace, "5 s", "30 s"), deployment()) == (
            "UPH402", ("drain", "termination_grace_period"),
            f"the grace period of {grace} ends no later than pre-stop and shutdown, 35 s in all",
            "make it longer than 35 s",
        )  # fmt: skip

    def test_each_is_told(self) -> None:
        found = conflicts(_draining("1 s", "1 s", "1 s"), deployment(context="64 tokens", seqs="1"))
        assert [each.field[0] for each in found] == ["budget", "budget", "admission", "drain"]

    @staticmethod
    def only(broken: Policy, limits: Deployment) -> tuple[Any, ...]:
        (found,) = conflicts(broken, limits)
        return found.rule, found.field, found.message, found.help
