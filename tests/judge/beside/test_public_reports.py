"""Figures of public reports, written as the log lines that they came from, set beside arithmetic.

The facts are those of tests/corpora/engine-reports. Each figure must get the verdict that the
scores of engine reports give it, which read no log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from engine_report_checks import vllm
from engine_report_checks.scores import score
from engine_report_checks.shapes import layers_of, version_of
from upheld.judge.beside import beside
from upheld.measured.read import read_file

REPORTS = Path(__file__).parents[2] / "corpora" / "engine-reports"
Report = Mapping[str, Any]


def vllm_log(report: Report) -> str:
    arguments, reported = report["arguments"], report["reported"]
    version = ".".join(map(str, version_of(report["engine_version"], (0, 19))))
    generation = "V0" if report["engine"] == "vllm-v0" else "V1"
    lines = [
        f"[core.py:1] Initializing a {generation} LLM engine (v{version}) with config: "
        f"model='m', speculative_config=None, dtype=torch.{arguments.get('dtype') or 'bfloat16'}, "
        f"max_seq_len={arguments.get('max_model_len')}, tensor_parallel_size=1, "
        f"quantization=None, kv_cache_dtype={arguments.get('kv_cache_dtype') or 'auto'}"
    ]
    for key, line in (
        ("available_kv_gib", "Available KV cache memory: {} GiB"),
        ("attention_block_size", "Setting attention block size to {} tokens"),
        ("num_gpu_blocks", "# GPU blocks: {}, # CPU blocks: 0"),
        ("gpu_kv_cache_tokens", "GPU KV cache size: {} tokens"),
        ("max_concurrency", f"Maximum concurrency for {arguments.get('max_model_len')} "
         "tokens per request: {}x"),
    ):  # fmt: skip
        if key in reported:
            lines.append(f"[a.py:1] {line.format(reported[key])}")
    # Recognised by what the weights take, which not every report has.
    lines.append("[a.py:1] Model loading took 1.0 GiB")
    return "".join(f"INFO 03-01 10:14:48 {line}\n" for line in lines)


def sglang_log(report: Report) -> str:
    arguments, reported = report["arguments"], report["reported"]
    dtype = arguments.get("kv_cache_dtype") or "auto"
    lines = [
        f"server_args=ServerArgs(model_path='m', dtype='bfloat16', quantization=None, "
        f"kv_cache_dtype='{dtype}', page_size={arguments.get('page_size') or 1}, "
        f"tp_size={arguments.get('tp') or 1}, "
        f"mamba_ssm_dtype={arguments.get('mamba_ssm_dtype')})"
    ]
    if states := reported.get("mamba"):
        lines.append(
            f"Mamba Cache is allocated. max_mamba_cache_size: {states['max_mamba_cache_size']}, "
            f"conv_state size: {states['conv_gb']}GB, ssm_state size: {states['ssm_gb']}GB "
        )
    for pool in reported["pools"]:
        size = (
            f"KV size: {pool['kv_gb']} GB"
            if "kv_gb" in pool
            else f"K size: {pool['k_gb']} GB, V size: {pool['v_gb']} GB"
        )
        lines.append(f"KV Cache is allocated. #tokens: {pool['tokens']}, {size}")
    return "".join(f"[2026-03-01 10:14:56 TP0] {line}\n" for line in lines)


def tensorrt_llm_log(report: Report) -> str:
    reported, size = report["reported"], report["arguments"].get("tokens_per_block")
    lines = []
    if "available_gib" in reported:
        lines.append(
            "Memory usage when calculating max tokens in paged kv cache: total: 79.10 GiB, "
            f"available: {reported['available_gib']} GiB"
        )
    if "primary_blocks" in reported:
        lines.append(f"Number of blocks in KV cache primary pool: {reported['primary_blocks']}")
    if size:
        lines.append(f"Number of tokens per block: {size}.")
    if "allocated_gib" in reported:
        lines.append(
            f"[MemUsageChange] Allocated {reported['allocated_gib']} GiB for max tokens in paged "
            f"KV cache ({reported['max_tokens']})."
        )
    if "allocated_bytes" in reported:
        lines.append(f"Allocate {reported['allocated_bytes']} bytes for k/v cache. ")
        lines.append(f"Using {reported['max_tokens']} tokens in paged KV cache.")
    return "".join(f"[TensorRT-LLM][INFO] {line}\n" for line in lines)


def lmdeploy_log(report: Report) -> str:
    arguments, reported = report["arguments"], report["reported"]
    truncated = (
        f"[TM][WARNING] No enough blocks for `session_len` (131072), `session_len` truncated to "
        f"{reported['total_tokens']}.\n"
        if "total_tokens" in reported
        else ""
    )
    return (
        "2026-03-01 10:14:01,226 - lmdeploy - INFO - async_engine.py:266 - input "
        "backend=turbomind, backend_config=TurbomindEngineConfig(dtype='auto', tp=1, "
        f"cache_block_seq_len={arguments['cache_block_seq_len']}, "
        f"quant_policy={arguments.get('quant_policy') or 0})\n"
        f"[TM][INFO] [BlockManager] block_size = {reported['block_size_mb']} MB\n"
        f"[TM][INFO] [BlockManager] max_block_count = {reported['max_block_count']}\n{truncated}"
    )


LOGS: dict[str, Callable[[Report], str]] = {
    "vllm-v0": vllm_log,
    "vllm-v1": vllm_log,
    "sglang": sglang_log,
    "tensorrt-llm": tensorrt_llm_log,
    "lmdeploy": lmdeploy_log,
}
# How the scores call a figure, and how it is called beside arithmetic.
CALLED = {
    "gpu_kv_cache_tokens": "capacity.tokens",
    "max_concurrency": "concurrency",
    "num_gpu_blocks": "blocks",
    "attention_block_size": "attention block",
    "primary_blocks": "blocks",
    "allocated_gib": "pool of ",
    "allocated_bytes": "pool of ",
    "max_tokens": "capacity.tokens",
    "block_size_mb": "block of ",
    "total_tokens": "context limit, truncated",
    "all.k_gb": "pool of ", "all.v_gb": "pool of ", "all.kv_gb": "pool of ",
    "full.k_gb": ("full pool of ", "pool of "), "full.v_gb": ("full pool of ", "pool of "),
    "sliding.k_gb": "sliding pool of ", "sliding.v_gb": "sliding pool of ",
    "mamba.conv_gb": "states of ", "mamba.ssm_gb": "states of ",
}  # fmt: skip


def read_yaml(name: str) -> Any:
    return yaml.safe_load((REPORTS / name).read_text(encoding="utf-8"))


def is_of_one_plain_rank(report: Report) -> bool:
    """A log says no more than its lines: no drafts, no layers that were fitted, one rank."""
    arguments = report["arguments"]
    one_rank = all(
        (arguments.get(name) or 1) == 1
        for name in (
            "tensor_parallel_size", "pipeline_parallel_size", "decode_context_parallel_size",
        )
    )  # fmt: skip
    plain = set(report["assumed"]) <= {"mamba_mode"} and "speculative" not in arguments
    return one_rank and plain and (arguments.get("block_size") or 16) > 0


# Of the others a log says too little: not the device, or blocks in a form that V1 has no more.
BLIND = [
    each
    for each in read_yaml("blind.yaml")
    if each["engine"] == "vllm-v1"
    and "gpu_kv_cache_tokens" in each["reported"]
    and "num_gpu_blocks" not in each["reported"]
    and "gpu" not in each
]
CASES = [
    each
    for each in read_yaml("reports.yaml") + BLIND
    if each["engine"] in LOGS and is_of_one_plain_rank(each)
]


@pytest.mark.parametrize("report", CASES, ids=lambda each: each["id"])
def test_a_log_gets_the_verdict_of_its_report(report: Report) -> None:
    shapes = read_yaml("shapes.yaml")
    shape = shapes.get(report["model_shape"])
    scored = score(report, shapes)
    if shape is None or scored["verdict"] == "not-predicted":
        pytest.skip("nothing is predicted for it")
    model = SimpleNamespace(
        attention="listed",
        cached_layers=layers_of(shape),
        torch_dtype=shape.get("torch_dtype") or "bfloat16",
        state_dtype=None,
        weights_unknown="they are not asked for",
        origin="shapes.yaml",
        origins={},
        sharing_layers=0,
    )
    if report["attention"] == "swa_hybrid":
        owners = sum(each.layers for each in model.cached_layers)
        model.sharing_layers = shape.get("num_hidden_layers", owners) - owners
    if report["engine"] == "vllm-v1" and vllm.settings_of(report, shape).state_element == 4:
        model.state_dtype = "float32"
    (row,) = read_file("engine.log", LOGS[report["engine"]](report).encode()).rows
    assert row.startup is not None
    arguments = report["arguments"]
    chosen = {
        "block_size": arguments.get("block_size"),
        "max_num_batched_tokens": arguments.get("max_num_batched_tokens"),
        "kv_cache_dtype": arguments.get("kv_cache_dtype"),
        "prefix_caching": report["assumed"].get("mamba_mode") == "align",
    }
    found = beside(row, row.startup, model, chosen, "the report")
    if report["engine"] == "sglang" and model.sharing_layers:
        assert found.problem is not None
        return
    assert found.problem is None
    for check in scored["checks"]:
        if check["name"] not in CALLED:
            continue
        name = CALLED[check["name"]]
        same = [
            each.check
            for each in found.compared
            if each.check.name.startswith(name) and each.check.printed == check["printed"]
        ]
        assert same, check
        assert {each.verdict == "exact" for each in same} == {check["verdict"] == "exact"}, check
