"""Start-up logs of a Llama of 8B beside arithmetic; the logs are written by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from upheld.arithmetic.config_json import read_config
from upheld.judge.beside import Beside, beside
from upheld.measured.read import read_file

CORPORA = Path(__file__).parents[2] / "corpora"

V0 = """\
INFO 06-12 08:11:02 llm_engine.py:174] Initializing an LLM engine (v0.6.3) with config: \
model='example-org/example-8b', speculative_config=None, revision=None, dtype=torch.bfloat16, \
max_seq_len=8192, tensor_parallel_size=1, pipeline_parallel_size=1, quantization=None, \
kv_cache_dtype=auto, enable_prefix_caching=False)
INFO 06-12 08:11:40 model_runner.py:732] Loading model weights took 14.9888 GB
INFO 06-12 08:12:23 gpu_executor.py:102] # GPU blocks: 9323, # CPU blocks: 2048
INFO 06-12 08:12:23 gpu_executor.py:105] Maximum concurrency for 8192 tokens per request: 18.21x
"""


def log_of(name: str) -> str:
    return (CORPORA / "benchmarks" / name).read_text(encoding="utf-8")


def set_beside(log: str, config: str = "llama-8b", **chosen: object) -> Beside:
    model = read_config((CORPORA / "configs" / f"{config}.json").read_bytes())
    (row,) = read_file("engine.log", log.encode()).rows
    assert row.startup is not None
    return beside(row, row.startup, model, chosen, "the record")


def changed(log: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert old in log
        log = log.replace(old, new)
    return log


def table(found: Beside) -> list[tuple[str, str, str | None, str, str | None]]:
    checks = [each.check for each in found.compared]
    return [
        (each.name, each.printed, each.predicted, each.verdict, each.compared) for each in checks
    ]


def origins(found: Beside) -> dict[str, tuple[int | str, str]]:
    return {each.name: (each.value, each.origin) for each in found.inputs}


def test_vllm_prints_what_arithmetic_says() -> None:
    found = set_beside(log_of("vllm-startup-8b.log"))
    assert table(found) == [
        ("memory.weights", "14.9888", "14.9888", "exact", "digits"),
        ("capacity.tokens", "451,808", "451,744 … 451,824", "exact", "interval"),
        ("concurrency", "3.45", "3.45", "exact", "digits"),
    ]
    assert not found.differs
    assert "max_num_batched_tokens" not in origins(found)
    assert origins(found)["available_kv_cache_memory"] == ("55.15 GiB", "the log")
    assert [each.name for each in found.inputs if each.assumed] == ["block_size"]


def test_a_printed_figure_that_arithmetic_does_not_allow_differs() -> None:
    log = changed(log_of("vllm-startup-8b.log"), ("451,808", "903,616"))
    found = set_beside(log)
    tokens = found.compared[1].check
    assert (tokens.verdict, tokens.predicted) == ("off", "451,744 … 451,824")
    assert tokens.differs_by is not None
    assert round(float(tokens.differs_by), 3) == 1.0
    assert found.differs


def test_the_least_of_all_ranks_is_needed_and_never_guessed() -> None:
    one_of_two = changed(
        log_of("vllm-startup-8b.log"), ("tensor_parallel_size=1", "tensor_parallel_size=2")
    )
    found = set_beside(one_of_two)
    (tokens,) = found.not_compared
    assert tokens.name == "capacity.tokens"
    assert "1 of 2 print theirs" in tokens.why
    # The tokens still say how many requests fit.
    assert found.compared[-1].check.verdict == "exact"


@pytest.mark.parametrize(
    "change",
    [
        ("pipeline_parallel_size=1", "pipeline_parallel_size=2"),
        ("speculative_config=None", "speculative_config=SpeculativeConfig(method='eagle')"),
    ],
)
def test_stages_and_drafts_are_not_worked_out(change: tuple[str, str]) -> None:
    found = set_beside(changed(log_of("vllm-startup-8b.log"), change))
    assert found.compared == ()
    assert {each.name for each in found.not_compared} == {
        "memory.weights",
        "capacity.tokens",
        "concurrency",
    }


def test_a_record_says_what_the_log_leaves_open_and_no_more() -> None:
    found = set_beside(log_of("vllm-startup-8b.log"), block_size=32, tensor_parallel=4)
    assert origins(found)["block_size"] == (32, "the record")
    assert origins(found)["tensor_parallel"] == (1, "the log; the record says 4")


def test_tokens_of_a_step_are_asked_for_where_layers_have_a_window() -> None:
    log = changed(log_of("vllm-startup-8b.log"), ("max_seq_len=131072", "max_seq_len=32768"))
    found = set_beside(log, "gemma-3")
    assert origins(found)["max_num_batched_tokens"] == (8192, "the log")
    assert found.not_compared == ()
    assert "memory.weights" in {each.check.name for each in found.compared}


def test_prefix_caching_is_asked_for_where_layers_keep_a_state() -> None:
    found = set_beside(log_of("vllm-startup-8b.log"), "qwen3-next")
    assert origins(found)["prefix_caching"] == ("on", "the log")


def test_the_first_engine_of_vllm_has_blocks_on_the_device_and_on_the_host() -> None:
    found = set_beside(V0)
    assert table(found) == [
        ("memory.weights", "14.9888", "14.9888", "exact", "digits"),
        ("blocks on the host", "2048", "2048", "exact", "digits"),
        ("concurrency", "18.21", "18.21", "exact", "digits"),
    ]
    (blocks,) = found.not_compared
    assert (blocks.name, blocks.printed) == ("blocks", "9323")


def test_sglang_allots_one_page_more_than_its_tokens() -> None:
    found = set_beside(log_of("sglang-startup-tp2.log"))
    assert table(found) == [
        ("pool of 367,404 tokens, K", "11.21", "11.21", "exact", "digits"),
        ("pool of 367,404 tokens, V", "11.21", "11.21", "exact", "digits"),
    ]
    assert [each.name for each in found.not_compared] == ["memory.weights"]


def test_sglang_with_attention_on_half_of_the_ranks_allots_twice_as_much() -> None:
    log = changed(
        log_of("sglang-startup-tp2.log"),
        ("dp_size=1, enable_dp_attention=False", "dp_size=2, enable_dp_attention=True"),
    )
    found = set_beside(log)
    assert [each.check.predicted for each in found.compared] == ["22.42", "22.42"]
    assert found.differs


def test_the_pool_of_a_draft_model_is_not_predicted() -> None:
    line = (
        "[2026-03-01 10:14:59 TP0] KV Cache is allocated. #tokens: 367404, K size: 0.35 GB, "
        "V size: 0.35 GB\n"
    )
    found = set_beside(log_of("sglang-startup-tp2.log") + line)
    assert found.not_compared[-1].name == "pool of a draft model"
    assert not found.differs


def test_layers_that_share_a_cache_are_not_worked_out_for_sglang() -> None:
    found = set_beside(log_of("sglang-startup-tp2.log"), "gemma-3n")
    assert found.compared == ()
    assert found.problem is not None
    assert "use the cache of another" in found.problem


def test_tensorrt_llm_follows_the_rank_with_the_least_memory() -> None:
    log = (
        "[TensorRT-LLM][INFO] MPI size: 2, MPI local size: 2, rank: 0\n"
        "[TensorRT-LLM][INFO] Memory usage when calculating max tokens in paged kv cache: "
        "total: 79.10 GiB, available: 57.87 GiB\n"
        "[TensorRT-LLM][INFO] Memory usage when calculating max tokens in paged kv cache: "
        "total: 79.10 GiB, available: 61.41 GiB\n"
        "[TensorRT-LLM][INFO] Number of blocks in KV cache primary pool: 13334\n"
        "[TensorRT-LLM][INFO] Number of blocks in KV cache primary pool: 13334\n"
        "[TensorRT-LLM][INFO] Number of tokens per block: 64.\n"
        "[TensorRT-LLM][INFO] [MemUsageChange] Allocated 52.09 GiB for max tokens in paged KV "
        "cache (853376).\n"
    )
    found = set_beside(log)
    assert table(found) == [
        ("blocks", "13334", "13333 … 13335", "exact", "interval"),
        ("capacity.tokens", "853376", "853376", "exact", "digits"),
        ("pool of 853,376 tokens", "52.09", "52.09", "exact", "digits"),
    ]
    assert [each.name for each in found.inputs if each.assumed] == [
        "tensor_parallel",
        "kv_cache_dtype",
        "free_gpu_memory_fraction",
    ]


def test_tensorrt_llm_does_not_print_its_cache_dtype_and_a_record_may_say_it() -> None:
    found = set_beside(log_of("tensorrt-llm-startup.log"), kv_cache_dtype="fp8")
    assert [each.check.predicted for each in found.compared] == ["220480", "13.46"]
    assert origins(found)["kv_cache_dtype"] == ("fp8", "the record")


def test_lmdeploy_keeps_scales_beside_a_quantised_cache() -> None:
    found = set_beside(log_of("lmdeploy-startup-turbomind.log"))
    assert table(found) == [
        ("block of 64 tokens", "4.125", "4.125", "exact", "digits"),
        ("context limit, truncated", "111360", "111360", "exact", "digits"),
    ]


def test_a_size_of_old_lmdeploy_was_cut_not_rounded() -> None:
    log = changed(log_of("lmdeploy-startup-turbomind.log"), ("= 4.125 MB", "= 4 MB"))
    assert not set_beside(log).differs
    log = changed(
        log_of("lmdeploy-startup-turbomind.log"),
        ("= 4.125 MB", "= 15 MB"),
        ("cache_block_seq_len=64", "cache_block_seq_len=240"),
    )
    assert set_beside(log).compared[0].check.verdict == "exact"


def test_the_pytorch_engine_of_lmdeploy_prints_nothing_to_compare() -> None:
    found = set_beside(log_of("lmdeploy-startup-pytorch.log"))
    assert found.compared == ()
    assert [each.name for each in found.not_compared] == ["blocks"]


def test_an_engine_without_arithmetic_says_so() -> None:
    found = set_beside(log_of("ollama-startup.log"))
    assert found.problem is not None
    assert "ollama" in found.problem


@pytest.mark.parametrize(
    "change",
    [
        ("tensor_parallel_size=1", "tensor_parallel_size=3"),
        ("pipeline_parallel_size=1", "pipeline_parallel_size=-9"),
        ("data_parallel_size=1", "data_parallel_size=999999999"),
        ("(v0.11.0)", "(v12)"),
        ("kv_cache_dtype=auto", "kv_cache_dtype=plaid"),
        ("dtype=torch.bfloat16", "dtype=torch.plaid"),
        ("451,808", "99,999,999,999,999,999,999"),
        ("55.15 GiB", "999999999.99 GiB"),
    ],
)
def test_whatever_a_log_says_there_is_an_answer(change: tuple[str, str]) -> None:
    found = set_beside(changed(log_of("vllm-startup-8b.log"), change))
    assert found.problem or found.compared or found.not_compared
