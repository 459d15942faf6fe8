"""Ways in which a run could be made to carry a claim that it does not bear out."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import date
from typing import Any

import pytest

from small_corpus import ADR, DEPLOYMENT, MODEL, RAW, RUN, SmallCorpus

EVIDENCE = "evidence: [{run: serve-16}]"


def edit_raw(small: SmallCorpus, **changes: Any) -> None:
    write_raw(small, json.dumps(json.loads((small.root / RAW).read_text()) | changes))


def summary_alone(small: SmallCorpus, **changes: Any) -> dict[str, Any]:
    """The result of the run without its single requests."""
    single = ("ttfts", "itls", "output_lens", "input_lens", "errors", "generated_texts")
    result: dict[str, Any] = json.loads((small.root / RAW).read_text())
    kept = {key: value for key, value in result.items() if key not in single}
    return kept | {"p99_ttft_ms": 399.0} | changes


def write_raw(small: SmallCorpus, text: str) -> None:
    (small.root / RAW).write_text(text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    run = small.root / RUN
    run.write_text(re.sub(r"sha256: \w+", f"sha256: {digest}", run.read_text()))


def second_run(small: SmallCorpus, **replaced: str) -> None:
    text = (small.root / RUN).read_text().replace("id: serve-16", "id: serve-again")
    for old, new in replaced.items():
        text = re.sub(rf"(?m)^(  )?{old}: .*$", rf"\g<1>{old}: {new}", text)
    (small.root / "evidence/runs/serve-again.yaml").write_text(text)


class TestTheClaimedEnvelope:
    def test_an_axis_stated_otherwise_than_the_deployment_is_elsewhere(
        self, small: SmallCorpus
    ) -> None:
        small.replace(RUN, "device: Example Card 1GB", "device: Another Card")
        small.replace(ADR, "output_tokens: 32 tokens}", "device: Another Card}")
        first = small.claim("first-token")
        assert first.verdict == "out-of-envelope"
        assert first.outcome.because == (
            "The claim holds elsewhere: the device is Another Card in the claim and card in "
            "one-card."
        )

    @pytest.mark.parametrize(
        ("claimed", "deployed", "run", "verdict"),
        [
            ("0.19", "0.19.0", "0.19.0", "upheld"),
            ("0.19", "0.19.0", "0.19.5", "out-of-envelope"),
            ("0.19.0", "0.19", "0.19.0", "upheld"),
            ("0.19.0", "0.19", "0.19.5", "out-of-envelope"),
            ("0.20", "0.19", "0.20", "out-of-envelope"),
        ],
    )
    def test_of_two_versions_the_one_with_more_parts_holds(
        self, small: SmallCorpus, claimed: str, deployed: str, run: str, verdict: str
    ) -> None:
        small.replace(ADR, "output_tokens: 32 tokens}", f'engine_version: "{claimed}"}}')
        small.replace(DEPLOYMENT, "engine_version: 0.19.0", f'engine_version: "{deployed}"')
        small.replace(RUN, "engine_version: 0.19.0", f'engine_version: "{run}"')
        assert small.claim("first-token").verdict == verdict

    def test_the_revision_that_a_model_pins_is_one(self, small: SmallCorpus) -> None:
        small.append(MODEL, "revision: abc\n")
        assert "nobody stated the model revision" in small.claim("first-token").outcome.because
        small.replace(RUN, "states:\n", "states:\n  model_revision: xyz\n")
        assert small.claim("first-token").verdict == "out-of-envelope"
        small.replace(RUN, "model_revision: xyz", "model_revision: abc")
        assert small.claim("first-token").verdict == "upheld"

    @pytest.mark.parametrize(
        ("metric", "expect"),
        [("requests.failed", "= 0 requests"), ("duration", "<= 60 s")],
    )
    def test_every_figure_of_a_served_model_is_from_somewhere(
        self, small: SmallCorpus, metric: str, expect: str
    ) -> None:
        small.replace(ADR, "latency.ttft.p95", metric)
        small.replace(ADR, "<= 400 ms", expect)
        assert small.claim("first-token").verdict == "upheld"
        small.replace(
            ADR, "{deployment: one-card, concurrency: 16, output_tokens: 32 tokens}", "{}"
        )
        first = small.claim("first-token")
        assert first.verdict == "insufficient"
        assert "model, engine, device, concurrency or request rate" in first.outcome.because

    def test_a_limit_at_once_is_no_load_where_a_rate_holds_requests_back(
        self, small: SmallCorpus
    ) -> None:
        edit_raw(small, request_rate=2.0)
        first = small.claim("first-token")
        assert first.verdict == "insufficient"
        assert "a limit of 2 on the request rate too" in first.outcome.because
        small.replace(ADR, "concurrency: 16,", "concurrency: 16, request_rate: 2 requests/s,")
        assert small.claim("first-token").verdict == "upheld"

    def test_a_load_that_was_never_reached_is_insufficient(self, small: SmallCorpus) -> None:
        edit_raw(small, max_concurrency=400)
        small.replace(ADR, "concurrency: 16", "concurrency: 400")
        first = small.claim("first-token")
        assert first.verdict == "insufficient"
        assert "200 requests were sent, so 400 were never open at once" in first.outcome.because

    def test_differing_and_unstated_axes_are_both_named(self, small: SmallCorpus) -> None:
        small.replace(RUN, "  device: Example Card 1GB\n", "")
        small.replace(ADR, "concurrency: 16", "concurrency: 64")
        because = small.claim("first-token").outcome.because
        assert "the concurrent requests is 16, not 64" in because
        assert "nobody stated the device of what was measured" in because


class TestOneRunOfSeveralRows:
    def test_a_point_that_went_well_does_not_hide_one_with_failures(
        self, small: SmallCorpus
    ) -> None:
        summary = summary_alone(small, p95_ttft_ms=390.0)
        failing = {**summary, "num_prompts": 240, "failed": 40}
        write_raw(small, json.dumps([summary, failing]))
        small.replace(RUN, "format: vllm-bench-serve", "format: vllm-sweep-summary")
        small.replace(ADR, ", output_tokens: 32 tokens", "")
        first = small.claim("first-token")
        assert first.verdict == "insufficient"
        assert "40 of 240 requests failed" in first.outcome.because
        write_raw(small, json.dumps([summary, {**failing, "max_concurrency": 64}]))
        assert small.claim("first-token").verdict == "upheld"

    def test_the_figure_that_is_shown_is_the_one_nearest_the_limit(
        self, small: SmallCorpus
    ) -> None:
        rows = [summary_alone(small, p95_ttft_ms=value) for value in (300.0, 390.0)]
        write_raw(small, json.dumps(rows))
        small.replace(RUN, "format: vllm-bench-serve", "format: vllm-sweep-summary")
        small.replace(ADR, ", output_tokens: 32 tokens", "")
        first = small.claim("first-token")
        assert first.outcome.value is not None
        assert first.outcome.value.shown == "390 ms"
        assert "measured 390 ms (reported) and 300 ms (reported); claimed" in first.outcome.because

    def test_of_many_figures_only_some_are_told(self, small: SmallCorpus) -> None:
        write_raw(small, json.dumps([summary_alone(small, p95_ttft_ms=300.0)] * 1200))
        small.replace(RUN, "format: vllm-bench-serve", "format: vllm-sweep-summary")
        small.replace(ADR, ", output_tokens: 32 tokens", "")
        assert "and 1,197 more; claimed" in small.claim("first-token").outcome.because


class TestSeveralRuns:
    def test_each_run_that_carries_the_claim_is_told_of(self, small: SmallCorpus) -> None:
        second_run(small)
        small.replace(ADR, EVIDENCE, "evidence: [{run: serve-16}, {run: serve-again}]")
        because = small.claim("first-token").outcome.because
        assert "serve-16 measured" in because
        assert "serve-again measured" in because

    def test_one_file_was_not_measured_on_two_devices(self, small: SmallCorpus) -> None:
        second_run(small, device="Another Card")
        small.replace(ADR, EVIDENCE, "evidence: [{run: serve-again}]")
        found = [each for each in small.judge().findings if each.rule == "UPH509"]
        assert [each.message for each in found] == [
            "the run states the device as Example Card 1GB, but serve-again states it as "
            "Another Card for the same file",
            "the run states the device as Another Card, but serve-16 states it as "
            "Example Card 1GB for the same file",
        ]
        assert small.judge().blocked

    def test_another_name_of_one_device_is_the_same_place(self, small: SmallCorpus) -> None:
        second_run(small, device="card", engine_version='"0.19"')
        assert small.rules() == []


class TestTheFileHasTheLastWord:
    def test_its_own_date_counts_where_it_is_older(self, small: SmallCorpus) -> None:
        small.replace(ADR, EVIDENCE, f"{EVIDENCE}\n    max_age: 30 days")
        first = small.claim("first-token")
        assert first.verdict == "stale"
        assert "275 days old, of 2026-03-01" in first.outcome.because
        edit_raw(small, date="20269901-101500")
        assert small.claim("first-token").verdict == "upheld"

    def test_counted_drafts_are_speculation(self, small: SmallCorpus) -> None:
        edit_raw(small, spec_decode_acceptance_rate=60.0)
        finding = next(each for each in small.judge().findings if each.rule == "UPH509")
        assert "states no speculative decoding, but" in finding.message
        assert small.claim("first-token").verdict == "unsupported"

    def test_a_client_without_a_rate_has_none_that_a_record_could_state(
        self, small: SmallCorpus
    ) -> None:
        small.replace(RUN, "states:", "states:\n  request_rate: 4 requests/s")
        (finding,) = small.judge().findings[:1]
        assert finding.rule == "UPH509"
        assert "states the request rate as 4, but the client of" in finding.message

    @pytest.mark.parametrize(
        ("day", "rules"), [("20261121", []), ("20261122", ["UPH518"]), ("20270101", ["UPH518"])]
    )
    def test_a_file_is_not_written_after_the_run(
        self, small: SmallCorpus, day: str, rules: list[str]
    ) -> None:
        edit_raw(small, date=f"{day}-101500")
        assert [each.rule for each in small.judge().findings if each.rule != "UPH602"] == rules


class TestARunThatIsNotEnough:
    def test_a_closed_loop_does_not_carry_a_claim_at_a_rate(self, small: SmallCorpus) -> None:
        small.replace(
            ADR,
            "deployment: one-card, concurrency: 16",
            "deployment: one-card, request_rate: 4 requests/s",
        )
        first = small.claim("first-token")
        assert first.verdict == "out-of-envelope"
        assert "the request rate had no limit, not 4" in first.outcome.because

    def test_a_rate_that_was_not_held(self, small: SmallCorpus) -> None:
        edit_raw(small, request_rate=1000.0, max_concurrency=None)
        small.replace(ADR, "concurrency: 16", "request_rate: 1000 requests/s")
        first = small.claim("first-token")
        assert first.verdict == "insufficient"
        assert "a rate of 1,000/s was asked for and 17.2/s reached" in first.outcome.because

    def test_a_device_that_was_slowed_down_while_it_was_measured(self, small: SmallCorpus) -> None:
        log = (
            "timestamp, index, name, power.draw [W], clocks_event_reasons.hw_slowdown\n"
            "2026/03/01 10:15:00.100, 0, Example Card 1GB, 650.50 W, Active\n"
        )
        (small.root / "evidence/runs/raw/serve-16/gpu.csv").write_text(log)
        digest = hashlib.sha256(log.encode()).hexdigest()
        small.replace(
            RUN,
            "states:",
            f"  - {{path: evidence/runs/raw/serve-16/gpu.csv, sha256: {digest}, "
            "format: nvidia-smi-csv}\nstates:",
        )
        first = small.claim("first-token")
        assert first.verdict == "insufficient"
        assert "were slowed down: hw_slowdown in 1 of 1 readings" in first.outcome.because


class TestOtherBases:
    """A claim is not made safe from a run by saying that nobody has tested it."""

    @pytest.mark.parametrize(
        "basis",
        [
            "untested\n    why: Nobody looked.",
            "assumed\n    why: It is likely.\n    owner: Tester\n    date: 2026-11-02",
            "cited\n    sources: [{source: paper, at: page 1, quote: at most 200 ms}]",
        ],
    )
    def test_a_run_that_covers_it_contradicts_it(self, small: SmallCorpus, basis: str) -> None:
        small.replace(ADR, "basis: measured", f"basis: {basis}")
        small.replace(ADR, f"    {EVIDENCE}\n", "")
        assert small.claim("first-token").verdict != "contradicted"
        small.replace(ADR, "<= 400 ms", "<= 200 ms")
        first = small.claim("first-token")
        assert first.verdict == "contradicted"
        assert first.outcome.because.startswith("serve-16 measured 2")
        assert "serve-16" in first.rests_on
        assert [each.rule for each in small.judge().findings] == ["UPH601"]

    def test_only_a_run_that_would_carry_it_is_pointed_out(self, small: SmallCorpus) -> None:
        small.replace(ADR, "basis: measured", "basis: untested\n    why: Nobody looked.")
        assert small.rules(date(2026, 12, 1)) == ["UPH608"]
        assert small.rules(date(2026, 11, 10)) == []


def test_a_figure_just_beyond_the_limit_does_not_read_as_the_limit(small: SmallCorpus) -> None:
    value = small.claim("first-token").outcome.value
    assert value is not None
    limit = round(float(value.base * 1000), 7) - 0.0000001
    small.replace(ADR, "<= 400 ms", f"<= {limit:.7f} ms")
    first = small.claim("first-token")
    assert first.verdict == "contradicted"
    shown = re.search(r"measured ([\d.]+) ms", first.outcome.because)
    assert shown is not None
    assert float(shown[1]) > limit


class TestAStartUpLog:
    LOG = "evidence/runs/raw/start/engine.log"

    def start(self, small: SmallCorpus, took: str) -> None:
        log = (
            "INFO 03-01 10:14:48 [core.py:58] Initializing a V1 LLM engine (v0.19.0) with config:"
            " model='example/tiny', speculative_config=None, dtype=torch.bfloat16,"
            " max_seq_len=1024, tensor_parallel_size=1, quantization=None, kv_cache_dtype=auto,"
            " enable_prefix_caching=False, compilation_config={}\n"
            f"INFO 03-01 10:15:48 [runner.py:13] Model loading took {took} GiB and 3.2 seconds\n"
            "INFO 03-01 10:16:48 [kv_cache_utils.py:634] GPU KV cache size: 300,000 tokens\n"
        )
        path = small.root / self.LOG
        path.parent.mkdir()
        path.write_text(log)
        (small.root / "evidence/runs/start.yaml").write_text(
            "kind: run\nid: start\ntitle: A start of the engine\ndate: 2026-11-20\nby: Tester\n"
            f"outcome: completed\nfiles:\n  - path: {self.LOG}\n"
            f"    sha256: {hashlib.sha256(log.encode()).hexdigest()}\n"
            "    format: vllm-startup-log\nstates:\n  device: Example Card 1GB\n"
        )

    def claims(self, small: SmallCorpus) -> None:
        common = "metric: memory.weights, within: {deployment: one-card}"
        small.append(
            ADR,
            f"  - {{id: computed, says: Weights., basis: arithmetic, {common}, "
            'expect: "<= 0.2 GiB"}\n'
            f"  - {{id: printed, says: Weights., basis: measured, {common}, "
            'expect: "<= 0.2 GiB", evidence: [{run: start}]}\n',
        )

    def test_carries_a_measured_claim_beside_the_arithmetic(self, small: SmallCorpus) -> None:
        self.start(small, "0.1563")
        self.claims(small)
        assert small.claim("computed").verdict == "upheld"
        assert small.claim("printed").verdict == "upheld"
        assert "0.1563 GiB" in small.claim("printed").outcome.because

    def test_contradicts_the_arithmetic_where_the_engine_printed_otherwise(
        self, small: SmallCorpus
    ) -> None:
        self.start(small, "0.2500")
        self.claims(small)
        assert small.claim("computed").verdict == "contradicted"
        assert small.claim("printed").verdict == "contradicted"

    @pytest.mark.parametrize(
        ("expect", "verdict"),
        [
            ("= 0.1563 GiB", "upheld"),
            ("= 0.15628 GiB", "upheld"),
            ("= 0.1562 GiB", "contradicted"),
            ("<= 0.15632 GiB", "upheld"),
            ("<= 0.15628 GiB", "insufficient"),
            ("<= 0.1562 GiB", "contradicted"),
        ],
    )
    def test_a_printed_figure_is_known_to_its_last_digit(
        self, small: SmallCorpus, expect: str, verdict: str
    ) -> None:
        self.start(small, "0.1563")
        small.append(
            ADR,
            "  - {id: printed, says: Weights., basis: measured, metric: memory.weights, "
            f'within: {{deployment: one-card}}, expect: "{expect}", evidence: [{{run: start}}]}}\n',
        )
        assert small.claim("printed").verdict == verdict

    def test_a_memory_claim_that_names_no_deployment_is_too_open(self, small: SmallCorpus) -> None:
        self.start(small, "0.1563")
        small.append(
            ADR,
            "  - {id: open, says: Weights., basis: measured, metric: memory.weights, "
            'expect: "<= 0.2 GiB", evidence: [{run: start}]}\n',
        )
        outcome = small.claim("open").outcome
        assert outcome.verdict == "insufficient"
        assert "It does not say at which model, engine, device it holds." in outcome.because


RAW_LOG = "evidence/runs/raw/start/engine.log"


def record_start(small: SmallCorpus, log: str, format_: str, states: str) -> None:
    """A run of a start of the tiny model on the card, with what the log does not say."""
    path = small.root / RAW_LOG
    path.parent.mkdir(exist_ok=True)
    path.write_text(log)
    (small.root / "evidence/runs/start.yaml").write_text(
        "kind: run\nid: start\ntitle: A start of the engine\ndate: 2026-11-20\nby: Tester\n"
        f"outcome: completed\nfiles:\n  - path: {RAW_LOG}\n"
        f"    sha256: {hashlib.sha256(log.encode()).hexdigest()}\n    format: {format_}\n"
        f"states: {{model: example/tiny, device: Example Card 1GB{states}}}\n"
    )


# Logs of the tiny model: 2,048 bytes a token, of which a printed size shows the first digits.
OF_A_TOKEN = {
    "sglang": (
        "[2026-03-01 10:14:40] server_args=ServerArgs(model_path='example/tiny', dtype='auto', "
        "quantization=None, kv_cache_dtype='auto', page_size=1, tp_size=1, pp_size=1, "
        "disable_radix_cache=True, speculative_algorithm=None)\n"
        "[2026-03-01 10:14:56] Load weight end. type=LlamaForCausalLM, dtype=torch.bfloat16, "
        "avail mem=0.71 GB, mem usage=0.16 GB.\n"
        "[2026-03-01 10:14:56] KV Cache is allocated. #tokens: 300000, K size: 0.29 GB, "
        "V size: 0.29 GB\n"
        "[2026-03-01 10:15:20] max_total_num_tokens=300000, context_len=1024\n",
        "V size: 0.29 GB",
        "V size: 0.59 GB",
        ", engine_version: 0.19.0",
    ),
    "tensorrt-llm": (
        "[TensorRT-LLM] TensorRT LLM version: 0.19.0\n"
        "[TensorRT-LLM][INFO] KV cache block reuse is disabled\n"
        "[03/01/2026-10:14:32] [TRT-LLM] [I] Use 0.16 GB for model weights.\n"
        "[TensorRT-LLM][INFO] [MemUsageChange] Allocated 0.57 GiB for max tokens in paged KV "
        "cache (300000).\n"
        "[03/01/2026-10:15:16] [TRT-LLM] [I] max_seq_len=1024, max_num_requests=64\n",
        "0.57 GiB",
        "0.87 GiB",
        ", weight_dtype: bf16, kv_cache_dtype: bf16, device_count: 1, tensor_parallel: 1, "
        "speculative_decoding: none",
    ),
    "lmdeploy": (
        "2026-03-01 10:14:02,107 - lmdeploy - INFO - async_engine.py:290 - updated "
        "backend_config=TurbomindEngineConfig(dtype='bfloat16', tp=1, session_len=1024, "
        "cache_block_seq_len=64, enable_prefix_caching=False, quant_policy=0)\n"
        "[TM][INFO] [BlockManager] block_size = 0.125 MB\n"
        "[TM][INFO] [BlockManager] max_block_count = 4687\n",
        "0.125 MB",
        "0.250 MB",
        ", engine_version: 0.19.0, weight_dtype: bf16, speculative_decoding: none",
    ),
}


@pytest.mark.parametrize("engine", OF_A_TOKEN)
class TestBytesOfATokenInALog:
    def claims(self, small: SmallCorpus, engine: str) -> None:
        small.replace(DEPLOYMENT, "engine: vllm", f"engine: {engine}")
        small.replace(DEPLOYMENT, "block_size: 16\n", "")
        common = "metric: memory.kv_cache_per_token, within: {deployment: one-card}"
        small.append(
            ADR,
            f"  - {{id: computed, says: A token., basis: arithmetic, {common}, "
            'expect: "= 2048 B"}\n'
            f"  - {{id: printed, says: A token., basis: measured, {common}, "
            'expect: "= 2048 B", evidence: [{run: start}]}\n',
        )

    def test_carry_a_measured_claim_beside_the_arithmetic(
        self, small: SmallCorpus, engine: str
    ) -> None:
        log, _, _, states = OF_A_TOKEN[engine]
        record_start(small, log, f"{engine}-startup-log", states)
        self.claims(small, engine)
        assert small.claim("computed").verdict == "upheld"
        assert small.claim("printed").verdict == "upheld"

    def test_contradict_both_where_the_engine_printed_otherwise(
        self, small: SmallCorpus, engine: str
    ) -> None:
        log, size, other, states = OF_A_TOKEN[engine]
        assert size in log
        record_start(small, log.replace(size, other), f"{engine}-startup-log", states)
        self.claims(small, engine)
        assert small.claim("computed").verdict == "contradicted"
        assert small.claim("printed").verdict == "contradicted"


@pytest.mark.parametrize(
    ("metric", "holds", "fails"),
    [
        ("memory.weights", "<= 164 MiB", "<= 163 MiB"),
        ("memory.kv_cache", "<= 2.1 MiB", "<= 1.9 MiB"),
    ],
)
def test_ollamas_log_carries_weights_and_the_cache_of_a_load(
    small: SmallCorpus, metric: str, holds: str, fails: str
) -> None:
    log = (
        "time=2026-03-01T10:14:46.228Z level=INFO source=runner.go:1284 msg=load "
        'request="{Operation:commit LoraPath:[] Parallel:1 BatchSize:512 KvSize:1024 '
        'KvCacheType: NumThreads:4}"\n'
        'time=2026-03-01T10:14:46.230Z level=INFO source=device.go:240 msg="model weights" '
        'device=CUDA0 size="163.8 MiB"\n'
        'time=2026-03-01T10:14:46.230Z level=INFO source=device.go:251 msg="kv cache" '
        'device=CUDA0 size="2.0 MiB"\n'
    )
    record_start(small, log, "ollama-startup-log", "")
    within = (
        "within: {engine: ollama, model: example/tiny, device: Example Card 1GB, "
        "max_model_len: 1024 tokens}, evidence: [{run: start}]}"
    )
    small.append(
        ADR,
        f"  - {{id: printed, says: It holds., basis: measured, metric: {metric}, "
        f'expect: "{holds}", {within}\n'
        f"  - {{id: otherwise, says: It fails., basis: measured, metric: {metric}, "
        f'expect: "{fails}", {within}\n',
    )
    assert small.claim("printed").verdict == "upheld"
    assert small.claim("otherwise").verdict == "contradicted"
