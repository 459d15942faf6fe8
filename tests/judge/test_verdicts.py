"""Every verdict, reached from the small corpus by one change each."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from small_corpus import ADR, DEPLOYMENT, MODEL, POLICY, RAW, RUN, SmallCorpus
from upheld.judge.judgement import Judgement


def verdicts(small: SmallCorpus) -> dict[str, str]:
    return {each.claim.id: each.verdict for each in small.judge().judgements}


def test_the_untouched_corpus_stands(small: SmallCorpus) -> None:
    assert verdicts(small) == {
        "fits": "upheld",
        "half-the-cache": "upheld",
        "first-token": "upheld",
        "slots-fit": "upheld",
        "no-work-while-draining": "untested",
        "paged": "upheld",
        "price": "assumed",
        "throughput": "untested",
    }
    assert small.judge().findings == []


class TestArithmetic:
    def test_says_what_it_computed_and_rests_on(self, small: SmallCorpus) -> None:
        fits = small.claim("fits")
        assert fits.outcome.value is not None
        assert fits.outcome.value.kind == "computed"
        # 48,764,928 parameters of 2 B, the rotary table, 16 × 1,024 tokens of 2,048 B, and 256 MiB;
        # the attention scales and the allocator add what test_weights.py is about.
        parameters = (
            2 * 32000 * 512
            + 4 * (512 * (512 + 2 * 128) + 512 * 512 + 3 * 512 * 2048 + 2 * 512)
            + 512
        )
        rotary = 4096 * 64 * 2
        expected = parameters * 2 + rotary + 16 * 1024 * (2 * 4 * 2 * 64 * 2) + 256 * 2**20
        assert 0 <= fits.outcome.value.base - expected < 2 * 2**20
        assert fits.rests_on == ["runtime-memory", "tiny-shape"]

    def test_a_larger_model_contradicts(self, small: SmallCorpus) -> None:
        small.replace(MODEL, "num_hidden_layers: 4", "num_hidden_layers: 400")
        assert small.claim("fits").verdict == "contradicted"
        assert "UPH302" in small.rules()

    def test_a_ratio_is_of_two_deployments(self, small: SmallCorpus) -> None:
        assert "0.5" in small.claim("half-the-cache").outcome.because
        small.replace(ADR, 'expect: "= 0.5"', 'expect: "= 0.25"')
        assert small.claim("half-the-cache").verdict == "contradicted"

    def test_without_a_deployment_there_is_nothing_to_compute(self, small: SmallCorpus) -> None:
        small.replace(ADR, "    within: {deployment: one-card}\n  - id: half", "  - id: half")
        assert small.claim("fits").verdict == "unsupported"

    def test_quantised_weights_do_not_halve_the_cache_and_it_is_said_why(
        self, small: SmallCorpus
    ) -> None:
        quantised = "evidence/deployments/one-card-fp8-kv.yaml"
        small.replace(quantised, "weight_dtype: bf16", "weight_dtype: int8")
        half = small.claim("half-the-cache")
        assert half.verdict == "upheld"
        small.replace(quantised, "kv_cache_dtype: fp8", "kv_cache_dtype: bf16")
        half = small.claim("half-the-cache")
        assert half.verdict == "contradicted"
        assert half.outcome.because.endswith(
            "claimed: = 0.5. Quantising the weights leaves the KV cache as it is: both keep it in "
            "bf16."
        )

    def test_a_wider_envelope_than_the_deployments_is_named(self, small: SmallCorpus) -> None:
        small.replace(
            ADR,
            "within: {deployment: one-card}\n  - id: half",
            "within: {deployment: one-card, max_model_len: 4096 tokens}\n  - id: half",
        )
        fits = small.claim("fits")
        assert fits.verdict == "out-of-envelope"
        assert "context limit" in fits.outcome.because

    def test_a_shape_that_cannot_be_is_a_finding_and_upholds_nothing(
        self, small: SmallCorpus
    ) -> None:
        small.replace(MODEL, "num_key_value_heads: 2", "num_key_value_heads: 3")
        assert small.claim("fits").verdict == "unsupported"
        assert "UPH301" in small.rules()

    @pytest.mark.parametrize(
        ("metric", "expect"),
        [
            ("latency.ttft.p99", "<= 300 ms"),
            ("throughput.output_tokens", ">= 100 tokens/s"),
            ("cost.per_million_tokens", "<= 1 USD/1M tokens"),
            ("memory.runtime", "<= 4 GiB"),
        ],
    )
    def test_never_carries_speed_cost_or_runtime(
        self, small: SmallCorpus, metric: str, expect: str
    ) -> None:
        small.replace(
            ADR,
            'metric: memory.device_total\n    expect: "<= 0.5 GiB"',
            f'metric: {metric}\n    expect: "{expect}"',
        )
        fits = small.claim("fits")
        assert fits.verdict == "wrong-basis"
        assert fits.blocks


class TestMeasured:
    def test_names_the_run_and_that_it_was_recomputed(self, small: SmallCorpus) -> None:
        first = small.claim("first-token")
        assert first.outcome.value is not None
        assert first.outcome.value.kind == "measured"
        assert "serve-16 measured 2" in first.outcome.because
        assert "recomputed" in first.outcome.because
        assert first.rests_on == ["serve-16"]

    def test_a_tighter_expectation_is_contradicted(self, small: SmallCorpus) -> None:
        small.replace(ADR, "<= 400 ms", "<= 200 ms")
        assert small.claim("first-token").verdict == "contradicted"

    def test_a_run_that_is_not_named_still_contradicts(self, small: SmallCorpus) -> None:
        small.replace(ADR, "    evidence: [{run: serve-16}]\n", "")
        small.replace(ADR, "<= 400 ms", "<= 200 ms")
        assert small.claim("first-token").verdict == "contradicted"

    def test_a_run_that_is_not_named_does_not_support(self, small: SmallCorpus) -> None:
        small.replace(ADR, "    evidence: [{run: serve-16}]\n", "")
        assert small.claim("first-token").verdict == "unsupported"

    @pytest.mark.parametrize(
        ("stated", "instead", "axis"),
        [
            ("engine_version: 0.19.0", "engine_version: 0.11.0", "engine version"),
            ("kv_cache_dtype: bf16", "kv_cache_dtype: fp8", "KV cache dtype"),
            ("device: Example Card 1GB", "device: Another Card", "device"),
            ("max_model_len: 1024 tokens", "max_model_len: 2048 tokens", "context limit"),
            ("prefix_caching: false", "prefix_caching: true", "prefix caching"),
        ],
    )
    def test_a_run_from_elsewhere_is_out_of_envelope(
        self, small: SmallCorpus, stated: str, instead: str, axis: str
    ) -> None:
        small.replace(RUN, stated, instead)
        first = small.claim("first-token")
        assert first.verdict == "out-of-envelope"
        assert f"the {axis} is" in first.outcome.because
        assert first.blocks

    @pytest.mark.parametrize(
        ("claimed", "instead", "axis"),
        [
            ("concurrency: 16", "concurrency: 64", "concurrent requests"),
            ("output_tokens: 32", "output_tokens: 512", "output tokens per request"),
        ],
    )
    def test_so_is_a_claim_about_elsewhere(
        self, small: SmallCorpus, claimed: str, instead: str, axis: str
    ) -> None:
        small.replace(ADR, claimed, instead)
        first = small.claim("first-token")
        assert first.verdict == "out-of-envelope"
        assert axis in first.outcome.because

    def test_an_axis_that_nobody_stated_is_insufficient(self, small: SmallCorpus) -> None:
        small.replace(RUN, "  device: Example Card 1GB\n", "")
        first = small.claim("first-token")
        assert first.verdict == "insufficient"
        assert "nobody stated the device" in first.outcome.because

    def test_too_few_requests_for_the_percentile_are_insufficient(self, small: SmallCorpus) -> None:
        small.replace(ADR, "latency.ttft.p95", "latency.ttft.p99.9")
        assert small.claim("first-token").verdict in ("insufficient", "unsupported")

    def test_failed_requests_are_insufficient(self, small: SmallCorpus) -> None:
        raw = small.root / RAW
        raw.write_text(raw.read_text().replace('"failed": 0', '"failed": 7'))
        _record_digest(small)
        assert small.claim("first-token").verdict in ("insufficient", "unsupported")
        assert small.claim("first-token").blocks

    def test_a_claim_without_a_load_is_insufficient(self, small: SmallCorpus) -> None:
        small.replace(ADR, "concurrency: 16, ", "")
        first = small.claim("first-token")
        assert first.verdict == "insufficient"
        assert "concurrency or request rate" in first.outcome.because

    def test_a_claim_about_no_device_is_insufficient(self, small: SmallCorpus) -> None:
        small.replace(ADR, "deployment: one-card, concurrency: 16", "concurrency: 16")
        first = small.claim("first-token")
        assert first.verdict == "insufficient"
        assert "model, engine, device" in first.outcome.because

    def test_a_comparison_of_two_runs_is_not_judged_as_one_figure(self, small: SmallCorpus) -> None:
        small.replace(
            ADR,
            'expect: "<= 400 ms"',
            'expect: "<= 400"\n    versus: {deployment: one-card-fp8-kv}',
        )
        assert small.claim("first-token").verdict == "insufficient"

    def test_a_claim_without_a_statistic_is_insufficient(self, small: SmallCorpus) -> None:
        small.replace(ADR, "latency.ttft.p95", "latency.ttft")
        assert small.claim("first-token").verdict == "insufficient"

    def test_a_changed_raw_file_upholds_nothing(self, small: SmallCorpus) -> None:
        raw = small.root / RAW
        raw.write_text(raw.read_text().replace('"completed": 200', '"completed": 201'))
        assert small.claim("first-token").verdict == "unsupported"
        assert "UPH802" in small.rules()

    def test_a_missing_raw_file_upholds_nothing(self, small: SmallCorpus) -> None:
        (small.root / RAW).unlink()
        assert small.claim("first-token").verdict == "unsupported"
        assert "UPH801" in small.rules()

    def test_a_raw_file_of_no_known_format_upholds_nothing(self, small: SmallCorpus) -> None:
        (small.root / RAW).write_text('{"tokens_per_second": 9000}\n')
        _record_digest(small)
        assert small.claim("first-token").verdict == "unsupported"
        assert "UPH501" in small.rules()

    def test_a_raw_file_of_another_format_than_recorded_is_a_finding(
        self, small: SmallCorpus
    ) -> None:
        small.replace(RUN, "format: vllm-bench-serve", "format: pytest-benchmark")
        assert "UPH508" in small.rules()
        assert small.claim("first-token").verdict == "unsupported"

    def test_a_record_that_contradicts_its_raw_file_is_a_finding(self, small: SmallCorpus) -> None:
        small.replace(RUN, "states:\n", "states:\n  concurrency: 64\n")
        assert "UPH509" in small.rules()

    def test_a_mean_length_is_no_length_until_the_record_states_it(
        self, small: SmallCorpus
    ) -> None:
        without_single_requests(small)
        first = small.claim("first-token")
        assert first.verdict == "unsupported"
        small.replace(ADR, "latency.ttft.p95", "latency.ttft.p90")
        first = small.claim("first-token")
        assert first.verdict == "insufficient"
        assert "nobody stated the output tokens per request" in first.outcome.because
        small.replace(RUN, "states:\n", "states:\n  output_tokens: 32 tokens\n")
        assert small.claim("first-token").verdict == "upheld"

    def test_a_stated_length_that_the_mean_contradicts_is_a_finding(
        self, small: SmallCorpus
    ) -> None:
        without_single_requests(small)
        small.replace(RUN, "states:\n", "states:\n  output_tokens: 128 tokens\n")
        finding = next(each for each in small.judge().findings if each.rule == "UPH509")
        assert "as 128, but those of" in finding.message
        assert "average 32" in finding.message

    @pytest.mark.parametrize("outcome", ["failed", "interrupted"])
    def test_a_run_that_did_not_complete_never_counts(
        self, small: SmallCorpus, outcome: str
    ) -> None:
        small.replace(RUN, "outcome: completed", f"outcome: {outcome}")
        first = small.claim("first-token")
        assert first.verdict == "unsupported"
        assert outcome in first.outcome.because

    def test_an_old_run_is_stale_and_warns(self, small: SmallCorpus) -> None:
        small.replace(
            ADR, "evidence: [{run: serve-16}]", "evidence: [{run: serve-16}]\n    max_age: 5 days"
        )
        first = small.claim("first-token")
        assert first.verdict == "stale"
        assert not first.blocks
        assert small.rules() == ["UPH606"]

    def test_a_run_dated_in_the_future_is_insufficient(self, small: SmallCorpus) -> None:
        assert small.claim("first-token", date(2026, 11, 1)).verdict == "insufficient"


class TestControl:
    def test_a_budget_beyond_the_cache_is_contradicted(self, small: SmallCorpus) -> None:
        small.replace(DEPLOYMENT, "gpu_memory_utilization: 0.9", "gpu_memory_utilization: 0.36")
        slots = small.claim("slots-fit")
        assert slots.verdict == "contradicted"
        assert slots.rests_on == ["card-memory", "runtime-memory", "tiny-shape"]

    def test_an_order_of_events_is_untested_though_declared(self, small: SmallCorpus) -> None:
        draining = small.claim("no-work-while-draining")
        assert draining.verdict == "untested"
        assert "has not been explored" in draining.outcome.because

    def test_what_is_absent_is_not_guaranteed(self, small: SmallCorpus) -> None:
        small.replace(ADR, "safety.no_work_while_draining", "safety.bounded_queue")
        assert small.claim("no-work-while-draining").verdict == "unsupported"

    def test_what_is_declared_otherwise_contradicts(self, small: SmallCorpus) -> None:
        small.replace(POLICY, "stop_new_work: true", "stop_new_work: false")
        assert small.claim("no-work-while-draining").verdict == "contradicted"

    def test_a_policy_beyond_its_deployment_is_a_finding(self, small: SmallCorpus) -> None:
        small.replace(POLICY, "slots: 16", "slots: 17")
        assert "UPH401" in small.rules()

    def test_a_drain_that_is_cut_short_is_a_finding(self, small: SmallCorpus) -> None:
        small.replace(POLICY, "termination_grace_period: 60 s", "termination_grace_period: 50 s")
        assert "UPH402" in small.rules()


class TestCitedAndDeclared:
    def test_no_source_is_unsupported(self, small: SmallCorpus) -> None:
        small.replace(ADR, "    sources: [{source: paper, at: the introduction}]\n", "")
        assert small.claim("paged").verdict == "unsupported"

    def test_a_cited_figure_needs_the_words_that_give_it(self, small: SmallCorpus) -> None:
        small.replace(
            ADR,
            "basis: cited\n    metric: project.behaviour",
            'basis: cited\n    metric: cost.per_hour\n    expect: "<= 2 USD/h"',
        )
        assert small.claim("paged").verdict == "insufficient"
        small.replace(ADR, "at: the introduction}", "at: the introduction, quote: 2 USD an hour}")
        assert small.claim("paged").verdict == "upheld"

    def test_a_source_checked_in_the_future_is_insufficient(self, small: SmallCorpus) -> None:
        assert small.claim("paged", date(2026, 10, 1)).verdict == "insufficient"

    def test_an_untested_claim_that_gains_a_run_can_be_promoted(self, small: SmallCorpus) -> None:
        small.replace(ADR, "concurrency: 64", "concurrency: 16")
        small.replace(ADR, ">= 1000 tokens/s", ">= 10 tokens/s")
        judged = small.judge()
        assert [finding.rule for finding in judged.findings] == ["UPH608"]
        assert "serve-16" in judged.findings[0].message
        assert small.claim("throughput").verdict == "untested"

    def test_a_lapsed_review_warns_and_blocks_nothing(self, small: SmallCorpus) -> None:
        later = date(2027, 4, 1)
        assert small.rules(later) == ["UPH607", "UPH607"]
        assert not small.judge(later).blocked

    def test_a_lapsed_assumption_warns(self, small: SmallCorpus) -> None:
        small.append("evidence/assumptions/card-memory.yaml", "review: 2026-11-30\n")
        assert small.rules() == ["UPH607"]

    def test_a_name_that_two_devices_have_is_a_finding(self, small: SmallCorpus) -> None:
        device = (small.root / "evidence/devices/card.yaml").read_text()
        (small.root / "evidence/devices/other.yaml").write_text(
            device.replace("id: card", "id: other").replace("A card of", "Another card of")
        )
        (finding,) = small.judge().findings
        assert finding.rule == "UPH206"
        assert finding.place.path == "evidence/devices/other.yaml"
        assert "card has the name 'Example Card 1GB' already" in finding.message

    def test_a_named_test_upholds_nothing_yet(self, small: SmallCorpus) -> None:
        small.replace(
            ADR,
            "basis: cited\n    metric: project.behaviour",
            "basis: tested\n    metric: project.behaviour",
        )
        assert small.claim("paged").verdict == "unsupported"


class TestGate:
    BREAK = (ADR, "<= 400 ms", "<= 200 ms")

    @pytest.mark.parametrize(
        ("status", "blocks", "warns"),
        [("accepted", True, False), ("proposed", False, True), ("rejected", False, False)],
    )
    def test_the_status_decides_what_blocks(
        self, small: SmallCorpus, status: str, blocks: bool, warns: bool
    ) -> None:
        small.replace(*self.BREAK)
        small.replace(ADR, "status: accepted", f"status: {status}")
        judged = small.judge()
        assert judged.blocked is blocks
        severities = {finding.severity for finding in judged.findings}
        assert severities == ({"error"} if blocks else {"warning"} if warns else set())

    def test_configuration_can_make_stale_block(self, small: SmallCorpus) -> None:
        small.replace(
            ADR, "evidence: [{run: serve-16}]", "evidence: [{run: serve-16}]\n    max_age: 5 days"
        )
        _configure(small.root, 'accepted = ["stale"]')
        assert small.judge().blocked

    def test_configuration_can_make_untested_block(self, small: SmallCorpus) -> None:
        _configure(small.root, 'accepted = ["untested"]')
        judged = small.judge()
        assert judged.blocked
        assert {finding.claim for finding in judged.findings} == {
            "ADR-001#no-work-while-draining",
            "ADR-001#throughput",
        }

    def test_a_finding_stands_where_the_claim_stands(self, small: SmallCorpus) -> None:
        small.replace(*self.BREAK)
        (finding,) = small.judge().findings
        line = (small.root / ADR).read_text().splitlines().index("  - id: first-token") + 1
        assert (finding.place.path, finding.place.line, finding.place.column) == (ADR, line, 5)
        assert finding.claim == "ADR-001#first-token"


def without_single_requests(small: SmallCorpus) -> None:
    import json

    raw = small.root / RAW
    result = json.loads(raw.read_text())
    for name in ("ttfts", "itls", "output_lens", "input_lens", "errors", "generated_texts"):
        del result[name]
    raw.write_text(json.dumps(result))
    _record_digest(small)


def _configure(root: Path, line: str) -> None:
    (root / "upheld.toml").write_text(f"[gate]\n{line}\n")


def _record_digest(small: SmallCorpus) -> None:
    import hashlib
    import re

    digest = hashlib.sha256((small.root / RAW).read_bytes()).hexdigest()
    run = small.root / RUN
    run.write_text(re.sub(r"sha256: \w+", f"sha256: {digest}", run.read_text()))


def test_every_blocking_verdict_names_its_rule(small: SmallCorpus) -> None:
    def rule_of(judgement: Judgement) -> set[str]:
        return {finding.rule for finding in small.judge().findings if finding.claim == judgement.id}

    small.replace(*TestGate.BREAK)
    assert rule_of(small.claim("first-token")) == {"UPH601"}
