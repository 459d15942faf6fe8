"""Ways in which a sum, a policy or a source could be made to carry what it does not."""

from __future__ import annotations

from datetime import date

import pytest

from small_corpus import ADR, DEPLOYMENT, POLICY, SmallCorpus

CITED = "basis: cited\n    metric: project.behaviour"


class TestArithmetic:
    def test_a_deployment_is_not_compared_with_itself(self, small: SmallCorpus) -> None:
        small.replace(ADR, "deployment: one-card-fp8-kv}", "deployment: one-card}")
        small.replace(ADR, '"= 0.5"', '"= 1"')
        half = small.claim("half-the-cache")
        assert half.verdict == "unsupported"
        assert "compares one-card with itself" in half.outcome.because

    def test_a_fact_from_a_run_that_failed_carries_nothing(self, small: SmallCorpus) -> None:
        small.replace(
            DEPLOYMENT, "{size: 256 MiB, origin: runtime-memory}", "{size: 1 MiB, origin: serve-16}"
        )
        assert small.claim("fits").verdict == "upheld"
        small.replace("evidence/runs/serve-16.yaml", "outcome: completed", "outcome: failed")
        fits = small.claim("fits")
        assert fits.verdict == "unsupported"
        assert fits.outcome.because == "It rests on serve-16, which can't be used."
        assert "serve-16" in fits.rests_on


class TestControl:
    def test_a_policy_speaks_of_its_own_deployment_only(self, small: SmallCorpus) -> None:
        small.replace(
            ADR,
            "{policy: gate}\n  - id: no-work",
            "{policy: gate, deployment: one-card-fp8-kv}\n  - id: no-work",
        )
        slots = small.claim("slots-fit")
        assert slots.verdict == "out-of-envelope"
        assert slots.outcome.because == (
            "It is about one-card-fp8-kv, but gate stands before one-card."
        )

    def test_so_does_one_that_another_deployment_names(self, small: SmallCorpus) -> None:
        small.append(
            "evidence/deployments/one-card-fp8-kv.yaml",
            "claims:\n"
            "  - {id: few, says: Few., basis: control, metric: budget.slots,"
            ' expect: "<= 16 requests", within: {policy: gate}}\n',
        )
        judged = small.judge().get("one-card-fp8-kv#few")
        assert judged is not None
        assert judged.verdict == "out-of-envelope"

    @pytest.mark.parametrize(
        ("old", "new", "why"),
        [
            ("reserve_at: admission", "reserve_at: completion", "budget.reserve_at is completion"),
            (
                "hold_while_unknown: true",
                "hold_while_unknown: false",
                "budget.hold_while_unknown is false",
            ),
        ],
    )
    def test_a_budget_that_is_not_held_bounds_nothing(
        self, small: SmallCorpus, old: str, new: str, why: str
    ) -> None:
        small.replace(POLICY, old, new)
        slots = small.claim("slots-fit")
        assert slots.verdict == "unsupported"
        assert why in slots.outcome.because

    def test_requests_longer_than_the_budget_count_in_full(self, small: SmallCorpus) -> None:
        small.replace(POLICY, "slots: 16, context: 1024 tokens", "slots: 16, context: 64 tokens")
        small.replace(ADR, '"<= 1"', '"<= 0.01"')
        assert small.claim("slots-fit").verdict == "upheld"
        small.append(
            POLICY,
            "admission: {route_approved: true, access_current: true,"
            " max_prompt_tokens: 768 tokens, max_output_tokens: 256 tokens}\n",
        )
        slots = small.claim("slots-fit")
        assert slots.verdict == "contradicted"
        assert "16 slots × 1,024 tokens that admission lets in ÷" in slots.outcome.because

    def test_a_share_just_over_the_whole_does_not_read_as_the_whole(
        self, small: SmallCorpus
    ) -> None:
        small.replace(DEPLOYMENT, "gpu_memory_utilization: 0.9", "gpu_memory_utilization: 0.37184")
        tokens = small.judge().ledgers["one-card"].tokens
        small.replace(ADR, '"<= 1"', f'"<= {16384 / tokens - 0.0000005:.7f}"')
        because = small.claim("slots-fit").outcome.because
        assert small.claim("slots-fit").verdict == "contradicted"
        computed, claimed = because.split(" = ")[0], because.split("<= ")[1]
        assert float(computed.split()[4]) > float(claimed.rstrip("."))


class TestCited:
    def figure(self, small: SmallCorpus, quote: str, expect: str = "<= 2 USD/h") -> str:
        metric = "latency.ttft.p99" if "ms" in expect else "cost.per_hour"
        small.replace(ADR, CITED, f'basis: cited\n    metric: {metric}\n    expect: "{expect}"')
        small.replace(ADR, "at: the introduction}", f'at: the introduction, quote: "{quote}"}}')
        return small.claim("paged").verdict

    @pytest.mark.parametrize(
        "quote", ["2 USD an hour", "1.5 USD/h", "two dollars an hour", "from 1 USD/h to 9 USD/h."]
    )
    def test_words_that_may_give_the_figure(self, small: SmallCorpus, quote: str) -> None:
        assert self.figure(small, quote) == "upheld"

    @pytest.mark.parametrize("quote", ["see the table", "9 USD/h", "it is 9 USD/h, or 12 USD/h."])
    def test_words_that_do_not(self, small: SmallCorpus, quote: str) -> None:
        assert self.figure(small, quote) == "insufficient"

    def test_units_are_compared(self, small: SmallCorpus) -> None:
        assert self.figure(small, "the 99th percentile is 0.9 s", "<= 500 ms") == "insufficient"

    def test_a_source_may_be_too_old(self, small: SmallCorpus) -> None:
        small.replace(ADR, CITED, f"{CITED}\n    max_age: 10 days")
        paged = small.claim("paged")
        assert paged.verdict == "stale"
        assert paged.outcome.because == ("paper was checked 29 days ago; the claim allows 10 days.")
        assert small.claim("paged", date(2026, 11, 12)).verdict == "upheld"
