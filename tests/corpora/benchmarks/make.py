"""Writes the fixtures of this folder, the same bytes each time, when it is run.

Single requests are drawn first and the summary is worked out from them as the tools do it, with
NumPy. The numbers describe no engine and no machine.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent


def vllm_run(
    seed: int,
    *,
    sent: int = 120,
    failed: int = 0,
    detailed: bool = False,
    fixed_output: int | None = None,
    **options: Any,
) -> dict[str, Any]:
    """A result of `vllm bench serve`, newest keys, as if `--save-detailed` was given or not."""
    draw = np.random.default_rng(seed)
    completed = sent - failed
    inputs = draw.integers(200, 800, sent)
    outputs = draw.integers(2, 40, sent) if fixed_output is None else np.full(sent, fixed_output)
    ok = np.arange(sent) >= failed
    ttfts = np.where(ok, draw.gamma(4, 0.03, sent), 0.0)
    itls = [
        (draw.gamma(5, 0.002, int(length) - 1).tolist() if good else [])
        for length, good in zip(outputs, ok, strict=True)
    ]
    outputs = np.where(ok, outputs, 0)
    latency = ttfts + np.array([sum(gaps) for gaps in itls])
    duration = float(latency.sum() / 7.5) if completed else 0.0125
    total_in, total_out = int(inputs[ok].sum()), int(outputs[ok].sum())
    result: dict[str, Any] = {
        "date": "20260301-101500",
        "endpoint_type": "openai",
        "backend": "openai",
        "label": None,
        "model_id": "example-org/example-8b",
        "tokenizer_id": "example-org/example-8b",
        "num_prompts": sent,
        "request_rate": "inf",
        "burstiness": 1.0,
        "max_concurrency": 8,
        "duration": duration,
        "completed": completed,
        "failed": failed,
        "total_input_tokens": total_in,
        "total_output_tokens": total_out,
        "request_throughput": completed / duration,
        "request_goodput": None,
        "output_throughput": total_out / duration,
        "total_token_throughput": (total_in + total_out) / duration,
        "max_output_tokens_per_s": 900.0,
        "max_concurrent_requests": 9,
    }
    if detailed:
        result |= {
            "input_lens": inputs.tolist(),
            "output_lens": outputs.tolist(),
            "ttfts": ttfts.tolist(),
            "itls": itls,
            "generated_texts": ["…"] * sent,
            "errors": ["" if good else "Service Unavailable" for good in ok],
        }
    tpots = [
        (whole - first) / (length - 1)
        for whole, first, length, good in zip(latency, ttfts, outputs, ok, strict=True)
        if good and length > 1
    ]
    for name, values in (
        ("ttft", ttfts[ok]),
        ("tpot", np.array(tpots)),
        ("itl", np.array([gap for gaps in itls for gap in gaps])),
        ("e2el", latency[ok]),
    ):
        some = values if len(values) else np.zeros(1)
        result[f"mean_{name}_ms"] = float(np.mean(some) * 1000)
        result[f"median_{name}_ms"] = float(np.median(some) * 1000)
        result[f"std_{name}_ms"] = float(np.std(some) * 1000)
        for percent in (90, 99):
            result[f"p{percent}_{name}_ms"] = float(np.percentile(some, percent) * 1000)
    return result | options


def pytest_benchmark_saved(*, data: bool) -> dict[str, Any]:
    """What `pytest --benchmark-json` writes, with the single rounds or without."""
    draw = np.random.default_rng(11)
    benchmarks = []
    for name in ("test_parse", "test_link[warm]"):
        rounds = draw.gamma(9, 0.0002, 40) + 0.003
        quarters = np.percentile(rounds, [25, 75])
        stats: dict[str, Any] = {
            "min": float(rounds.min()),
            "max": float(rounds.max()),
            "mean": float(rounds.mean()),
            "stddev": float(rounds.std(ddof=1)),
            "rounds": len(rounds),
            "median": float(np.median(rounds)),
            "iqr": float(quarters[1] - quarters[0]),
            "q1": float(quarters[0]),
            "q3": float(quarters[1]),
            "ops": float(1 / rounds.mean()),
            "total": float(rounds.sum()),
            "iterations": 1,
        }
        if data:
            stats["data"] = rounds.tolist()
        benchmarks.append(
            {
                "group": None,
                "name": name,
                "fullname": f"benchmarks/test_speed.py::{name}",
                "params": None,
                "param": None,
                "extra_info": {},
                "options": {"disable_gc": False, "timer": "perf_counter", "warmup": False},
                "stats": stats,
            }
        )
    return {
        "machine_info": {
            "node": "runner",
            "processor": "x86_64",
            "machine": "x86_64",
            "python_implementation": "CPython",
            "python_version": "3.11.9",
            "release": "6.1.0",
            "system": "Linux",
            "cpu": {"brand_raw": "Example CPU 9000", "count": 4},
        },
        "commit_info": {"id": "0123456789abcdef", "dirty": True, "branch": "main"},
        "benchmarks": benchmarks,
        "datetime": "2026-03-01T10:20:00+00:00",
        "version": "5.1.0",
    }


def sglang_run() -> dict[str, Any]:
    """The keys that SGLang's client shares with vLLM's, and those that only it has."""
    return {
        "backend": "sglang",
        "request_rate": float("inf"),
        "duration": 12.5,
        "completed": 50,
        "total_input_tokens": 5000,
        "total_output_tokens": 2500,
        "total_output_tokens_retokenized": 2498,
        "request_throughput": 4.0,
        "input_throughput": 400.0,
        "output_throughput": 200.0,
        "mean_e2e_latency_ms": 900.0,
        "mean_ttft_ms": 80.0,
        "concurrency": 3.6,
    }


def _write(name: str, *values: Any, indent: int | None = None) -> None:
    text = "".join(json.dumps(value, indent=indent) + "\n" for value in values)
    (HERE / name).write_text(text, encoding="utf-8")


def main() -> None:
    """All fixtures."""
    _write("vllm-serve-detailed.json", vllm_run(1, failed=3, detailed=True))
    _write("vllm-serve-summary.json", vllm_run(2, fixed_output=64))
    _write("vllm-serve-appended.json", *(vllm_run(seed, max_concurrency=8) for seed in (3, 4, 5)))
    _write(
        "vllm-sweep-summary.json", [vllm_run(6, run_number=0), vllm_run(7, run_number=1)], indent=2
    )
    _write("vllm-serve-all-failed.json", vllm_run(8, sent=6, failed=6))
    old = vllm_run(9, sent=100, failed=4, request_rate=2.5, max_concurrency=None)
    del old["failed"], old["endpoint_type"], old["label"]
    del old["max_output_tokens_per_s"], old["max_concurrent_requests"]
    old["request_goodput:"] = old.pop("request_goodput")
    _write("vllm-serve-2025.json", old)
    seconds = {
        key.removesuffix("_ms"): value / 1000 if key.endswith("_ms") else value
        for key, value in vllm_run(10).items()
    }
    _write("other-latencies-in-seconds.json", seconds)
    _write("other-sglang.jsonl", sglang_run())
    _write("pytest-benchmark-data.json", pytest_benchmark_saved(data=True), indent=4)
    _write("pytest-benchmark-summary.json", pytest_benchmark_saved(data=False), indent=4)


if __name__ == "__main__":
    main()
