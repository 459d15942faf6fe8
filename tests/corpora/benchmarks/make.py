"""Writes the fixtures of this folder, the same bytes each time, when it is run.

Single requests are drawn first and the summary is worked out from them as the tools do it, with
NumPy. The numbers describe no engine and no machine.
"""

from __future__ import annotations

import csv
import io
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


def sglang_server(**settings: Any) -> dict[str, Any]:
    """What an SGLang server says of itself, cut down to what is read and a little more."""
    return {
        "model_path": "example-org/example-8b",
        "revision": None,
        "context_length": 32768,
        "dtype": "bfloat16",
        "quantization": None,
        "kv_cache_dtype": "auto",
        "mem_fraction_static": 0.88,
        "device": "cuda",
        "tp_size": 2,
        "pp_size": 1,
        "dp_size": 1,
        "disable_radix_cache": True,
        "speculative_algorithm": None,
        "attention_backend": "fa3",
        "version": "0.5.9",
    } | settings


def sglang_run(seed: int, server: dict[str, Any], *, detailed: bool = False) -> dict[str, Any]:
    """A line of SGLang's `bench_serving`, with `--output-details` or without."""
    ours = vllm_run(seed, failed=2, detailed=True)
    entries = {
        key: ours.pop(key)
        for key in ("input_lens", "output_lens", "ttfts", "itls", "generated_texts", "errors")
    }
    run: dict[str, Any] = {
        "tag": None,
        "backend": "sglang",
        "dataset_name": "random",
        "request_rate": float("inf"),
        "max_concurrency": 8,
        "sharegpt_output_len": None,
        "random_input_len": 800,
        "random_output_len": 40,
        "random_range_ratio": 0.0,
        "server_info": server,
        "duration": ours["duration"],
        "completed": ours["completed"],
        "total_input_tokens": ours["total_input_tokens"],
        "total_output_tokens": ours["total_output_tokens"],
        "total_output_tokens_retokenized": ours["total_output_tokens"] - 3,
        "request_throughput": ours["request_throughput"],
        "input_throughput": ours["total_input_tokens"] / ours["duration"],
        "output_throughput": ours["output_throughput"],
        "total_throughput": ours["total_token_throughput"],
    }
    for key, value in ours.items():
        if key.endswith("_ms"):
            run[key.replace("_e2el_ms", "_e2e_latency_ms")] = value
    run["max_itl_ms"] = 1000 * max(gap for gaps in entries["itls"] for gap in gaps)
    run["concurrency"] = ours["completed"] * ours["mean_e2el_ms"] / 1000 / ours["duration"]
    run["accept_length"] = None
    return run | (entries if detailed else {})


def statistics(values: Any, unit: str) -> dict[str, Any]:
    """A metric as AIPerf writes it."""
    metric: dict[str, Any] = {"unit": unit, "avg": float(np.mean(values))}
    for percent in (1, 5, 10, 25, 50, 75, 90, 95, 99):
        metric[f"p{percent}"] = float(np.percentile(values, percent))
    return metric | {
        "min": float(np.min(values)),
        "max": float(np.max(values)),
        "std": float(np.std(values)),
        "count": len(values),
        "sum": float(np.sum(values)),
    }


def aiperf_requests(seed: int, *, sent: int = 120, failed: int = 2) -> list[dict[str, Any]]:
    """The lines of AIPerf's `profile_export.jsonl`."""
    draw = np.random.default_rng(seed)
    records: list[dict[str, Any]] = []
    for number in range(sent):
        start = 1_780_000_000_000_000_000 + number * 40_000_000
        tokens = int(draw.integers(8, 32))
        # Whole nanoseconds, as the client's clock has them.
        first = int(draw.gamma(4, 0.03) * 10**9)
        whole = first + int(draw.gamma(5, 0.002) * 10**9) * (tokens - 1)
        record: dict[str, Any] = {
            "metadata": {
                "session_num": number,
                "request_start_ns": start,
                "request_end_ns": start + whole + 4_000_000,
                "benchmark_phase": "profiling",
                "was_cancelled": False,
            },
            "metrics": {
                "request_latency": {"value": whole / 10**6, "unit": "ms"},
                "time_to_first_token": {"value": first / 10**6, "unit": "ms"},
                "inter_token_latency": {
                    "value": (whole - first) / 10**6 / (tokens - 1),
                    "unit": "ms",
                },
                "output_sequence_length": {"value": tokens, "unit": "tokens"},
                "input_sequence_length": {"value": 256, "unit": "tokens"},
            },
        }
        if number < failed:
            record["metadata"]["request_end_ns"] = start
            record["metrics"] = {"error_isl": {"value": 256, "unit": "tokens"}}
            record["error"] = {"code": 503, "type": "Service Unavailable", "message": "busy"}
        records.append(record)
    return records


def aiperf_summary(records: list[dict[str, Any]]) -> dict[str, Any]:
    """AIPerf's `profile_export_aiperf.json` of these requests, as version 0.13.0 writes it."""
    ok = [record for record in records if "error" not in record]

    def of(tag: str) -> list[float]:
        return [record["metrics"][tag]["value"] for record in ok]

    starts = [record["metadata"]["request_start_ns"] for record in ok]
    ends = [
        start + round(ms * 10**6) for start, ms in zip(starts, of("request_latency"), strict=True)
    ]
    window = 7.25
    tokens_in, tokens_out = sum(of("input_sequence_length")), sum(of("output_sequence_length"))
    summary: dict[str, Any] = {
        "schema_version": "1.4",
        "aiperf_version": "0.13.0",
        "request_throughput": {"unit": "requests/sec", "avg": len(ok) / window},
        "request_count": {"unit": "requests", "avg": float(len(ok))},
    }
    for tag in ("request_latency", "time_to_first_token", "inter_token_latency"):
        summary[tag] = statistics(of(tag), "ms")
    for tag in ("output_sequence_length", "input_sequence_length"):
        summary[tag] = statistics(of(tag), "tokens")
    return summary | {
        "output_token_throughput": {"unit": "tokens/sec", "avg": tokens_out / window},
        "total_token_throughput": {"unit": "tokens/sec", "avg": (tokens_in + tokens_out) / window},
        "benchmark_duration": {"unit": "sec", "avg": (max(ends) - min(starts)) / 10**9},
        "total_isl": {"unit": "tokens", "avg": float(tokens_in)},
        "total_osl": {"unit": "tokens", "avg": float(tokens_out)},
        "error_request_count": {"unit": "requests", "avg": float(len(records) - len(ok))},
        "completed_request_count": {"unit": "requests", "avg": float(len(records))},
        "telemetry_data": {
            "endpoints": {
                "localhost:9400": {
                    "gpus": {
                        "gpu_0": {"gpu_index": 0, "gpu_name": "Example GPU 80GB", "gpu_uuid": "a"}
                    }
                }
            },
        },
        "input_config": {
            "models": {"items": [{"name": "example-org/example-8b"}]},
            "endpoint": {"urls": ["http://localhost:8000"], "type": "chat", "streaming": True},
            "datasets": [
                {"type": "synthetic", "prompts": {"isl": {"mean": 256.0}, "osl": {"mean": 20.0}}}
            ],
            "phases": [
                {"name": "warmup", "kind": "warmup", "concurrency": 1},
                {"name": "profiling", "kind": "profiling", "concurrency": 4},
            ],
            "tokenizer": {"name": "example-org/example-8b"},
        },
        "was_cancelled": False,
        "error_summary": [{"error_details": {"code": 503}, "count": len(records) - len(ok)}],
        "start_time": "2026-03-01T10:15:00.000000",
        "end_time": "2026-03-01T10:15:07.250000",
    }


AIPERF_HEADERS = {
    "time_to_first_token": "Time to First Token (ms)",
    "inter_token_latency": "Inter Token Latency (ms)",
    "request_latency": "Request Latency (ms)",
    "input_sequence_length": "Input Sequence Length (tokens)",
    "output_sequence_length": "Output Sequence Length (tokens)",
    "benchmark_duration": "Benchmark Duration (sec)",
    "completed_request_count": "Completed Requests (Success + Error)",
    "error_request_count": "Error Request Count",
    "output_token_throughput": "Output Token Throughput (tokens/sec)",
    "request_count": "Request Count",
    "request_throughput": "Request Throughput (requests/sec)",
    "total_isl": "Total Input Sequence Length (tokens)",
    "total_osl": "Total Output Sequence Length (tokens)",
    "total_token_throughput": "Total Token Throughput (tokens/sec)",
}


def perf_csv(summary: dict[str, Any], columns: str, headers: dict[str, str], style: str) -> str:
    """The CSV of a summary: `columns` of the first table, numbers in a `style`."""

    def cell(value: float) -> str:
        text = format(value, style)
        return f'"{text}"' if "," in text else text

    lines = [f"Metric,{columns}"]
    singles = ["", "Metric,Value"]
    for tag, label in headers.items():
        metric = summary[tag]
        if "p99" in metric:
            lines.append(",".join([label, *(cell(metric[key]) for key in columns.split(","))]))
        else:
            singles.append(f"{label},{cell(metric['avg'])}")
    return "\r\n".join([*lines, *singles, ""])


def genai_perf_summary(summary: dict[str, Any]) -> dict[str, Any]:
    """What GenAI-Perf 0.0.16 would have written of the same run: it counts no failures."""
    tags = (
        "request_throughput", "request_latency", "request_count", "time_to_first_token",
        "inter_token_latency", "output_token_throughput", "output_sequence_length",
        "input_sequence_length",
    )  # fmt: skip
    made: dict[str, Any] = {
        tag: {key: value for key, value in summary[tag].items() if key not in ("count", "sum")}
        for tag in tags
    }
    made["request_count"]["unit"] = "count"
    made["input_config"] = {
        "model_names": ["example-org/example-8b"],
        "endpoint": {"type": "chat", "streaming": True},
        "perf_analyzer": {"stimulus": {"concurrency": 4}},
    }
    return made


GENAI_PERF_HEADERS = {
    "time_to_first_token": "Time To First Token (ms)",
    "request_latency": "Request Latency (ms)",
    "inter_token_latency": "Inter Token Latency (ms)",
    "output_sequence_length": "Output Sequence Length (tokens)",
    "input_sequence_length": "Input Sequence Length (tokens)",
    "output_token_throughput": "Output Token Throughput (tokens/sec)",
    "request_throughput": "Request Throughput (per sec)",
    "request_count": "Request Count (count)",
}


def aiperf_telemetry(seed: int) -> list[dict[str, Any]]:
    """Readings of two GPUs, as AIPerf keeps them."""
    draw = np.random.default_rng(seed)
    return [
        {
            "timestamp_ns": 1_780_000_000_000_000_000 + step * 333_000_000,
            "dcgm_url": "http://localhost:9400/metrics",
            "gpu_index": index,
            "gpu_uuid": f"GPU-{index}",
            "gpu_model_name": "Example GPU 80GB",
            "telemetry_data": {
                "gpu_power_usage": round(float(draw.normal(300, 20)), 3),
                "power_management_limit": 350.0,
                "gpu_utilization": float(draw.integers(0, 100)),
                "gpu_memory_used": 70.5,
                "gpu_memory_total": 85.899345920,
            },
        }
        for step in range(5)
        for index in range(2)
    ]


def guidellm_summary(pairs: list[tuple[float, int]]) -> dict[str, Any]:
    """A distribution of weighted values as GuideLLM 0.8.1 sums it up."""
    values, places = np.unique([value for value, _ in pairs], return_inverse=True)
    weights = np.zeros(len(values))
    np.add.at(weights, places, [weight for _, weight in pairs])
    shares = weights / weights.sum()
    mean = float((values * shares).sum())

    def at(share: float) -> float:
        return float(values[min(np.searchsorted(np.cumsum(shares), share), len(values) - 1)])

    names = {
        "p001": 0.001, "p01": 0.01, "p05": 0.05, "p10": 0.1, "p25": 0.25, "p50": 0.5,
        "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999,
    }  # fmt: skip
    return {
        "mean": mean,
        "median": at(0.5),
        "std_dev": float(np.sqrt(((values - mean) ** 2 * shares).sum())),
        "min": float(values[0]),
        "max": float(values[-1]),
        "count": int(weights.sum()),
        "percentiles": {name: at(share) for name, share in names.items()},
    }


def guidellm_report(seed: int) -> dict[str, Any]:
    """GuideLLM's report of two benchmarks in the second schema, all requests kept."""
    draw = np.random.default_rng(seed)
    benchmarks = []
    for strategy in (
        {"type_": "concurrent", "streams": 4, "max_concurrency": 4},
        {"type_": "constant", "rate": 2.0, "max_concurrency": 10240},
    ):
        requests = []
        for _ in range(24):
            tokens = int(draw.integers(4, 16))
            first, gaps = float(draw.gamma(4, 0.01)), float(draw.gamma(5, 0.001)) * (tokens - 1)
            requests.append(
                {
                    "prompt_tokens": 64,
                    "output_tokens": tokens,
                    "request_latency": first + gaps + 0.004,
                    "time_to_first_token_ms": 1000 * first,
                    "time_per_output_token_ms": 1000 * (first + gaps) / tokens,
                    "inter_token_latency_ms": 1000 * gaps / (tokens - 1),
                }
            )
        duration = 3.0
        made = sum(request["output_tokens"] for request in requests)

        def of(key: str, weight: int | None, kept: list[Any] = requests) -> dict[str, Any]:
            weigh = [1 if weight is None else each["output_tokens"] + weight for each in kept]
            values = [each[key] for each in kept]
            return {"successful": guidellm_summary(list(zip(values, weigh, strict=True)))}

        metrics: dict[str, Any] = {
            "request_totals": {"successful": 24, "errored": 1, "incomplete": 1, "total": 26},
            "requests_per_second": {"successful": {"mean": 24 / duration}},
            "output_tokens_per_second": {"successful": {"mean": made / duration}},
            "tokens_per_second": {"successful": {"mean": 2 * (made + 24 * 64) / duration}},
            "request_concurrency": {"successful": {"mean": 3.5}},
            "request_latency": of("request_latency", None),
            "prompt_token_count": of("prompt_tokens", None),
            "output_token_count": of("output_tokens", None),
            "time_to_first_token_ms": of("time_to_first_token_ms", None),
            "time_per_output_token_ms": of("time_per_output_token_ms", 0),
            "inter_token_latency_ms": of("inter_token_latency_ms", -1),
        }
        benchmarks.append(
            {
                "type_": "generative_benchmark",
                "config": {"strategy": strategy, "backend": {"model": "example-org/example-8b"}},
                "scheduler_metrics": {"requests_made": metrics["request_totals"]},
                "metrics": metrics,
                "duration": duration,
                "requests": {"successful": requests, "errored": [], "incomplete": []},
                "warnings": [{"code": "delay", "message": "mean generation delay was 2%."}],
            }
        )
    return {
        "metadata": {"version": 2, "guidellm_version": "0.8.1", "platform": "Linux"},
        "config": {
            "spec": {"data": [{"kind": "synthetic_text", "prompt_tokens": 48, "output_tokens": 9}]}
        },
        "benchmarks": benchmarks,
    }


def guidellm_first(report: dict[str, Any]) -> dict[str, Any]:
    """One of its benchmarks as the first schema had it, stripped of its requests."""
    second = report["benchmarks"][0]
    metrics = dict(second["metrics"])
    totals = metrics.pop("request_totals")
    for summary in metrics.values():
        summary["successful"].get("percentiles", {}).pop("p50", None)
    return {
        "benchmarks": [
            {
                "type_": "generative_benchmark",
                "args": {"strategy": {"type_": "synchronous"}},
                "run_stats": {"requests_made": totals},
                "worker": {"backend_model": "example-org/example-8b"},
                "request_loader": {"data": "prompt_tokens=48,output_tokens=9"},
                "metrics": metrics,
                "request_totals": totals,
                "requests": {"successful": second["requests"]["successful"][:1]},
                "duration": 3.1,
            }
        ]
    }


def guidellm_csv(report: dict[str, Any]) -> str:
    """The report as GuideLLM's CSV, cut down to the columns that are read and a few more."""
    groups = {
        "request_latency": ("Request Latency", "Sec"),
        "time_to_first_token_ms": ("Time to First Token", "ms"),
        "time_per_output_token_ms": ("Time per Output Token", "ms"),
        "inter_token_latency_ms": ("Inter Token Latency", "ms"),
        "requests_per_second": ("Server Throughput", "Requests/Sec"),
        "request_concurrency": ("Server Throughput", "Concurrency"),
        "prompt_token_count": ("Token Metrics", "Input Tokens"),
        "output_token_count": ("Token Metrics", "Output Tokens"),
        "output_tokens_per_second": ("Token Throughput", "Output Tokens/Sec"),
        "tokens_per_second": ("Token Throughput", "Total Tokens/Sec"),
    }
    tables = []
    for number, benchmark in enumerate(report["benchmarks"]):
        strategy, metrics = benchmark["config"]["strategy"], benchmark["metrics"]
        amount = strategy["streams"] if "streams" in strategy else f"{strategy['rate']:.2f}"
        row: dict[tuple[str, str, str], Any] = {
            ("Run Info", "Run Index", ""): number,
            ("Run Info", "Backend", ""): json.dumps(benchmark["config"]["backend"]),
            ("Benchmark", "Strategy", ""): f"{strategy['type_']}@{amount}",
            ("Timings", "Duration", "Sec"): benchmark["duration"],
        }
        for status in ("successful", "incomplete", "errored", "total"):
            count = metrics["request_totals"][status]
            row["Request Counts", status.capitalize(), ""] = count
        for key, (group, unit) in groups.items():
            summary, field = metrics[key]["successful"], f"Successful {unit}"
            row[group, field, "Mean"] = summary["mean"]
            if "percentiles" in summary:
                row[group, field, "Median"] = summary["median"]
                row[group, field, "Std Dev"] = summary["std_dev"]
                listed = [
                    value
                    for name, value in summary["percentiles"].items()
                    if name not in ("p50", "p999")
                ]
                values = [summary["min"], *listed, summary["max"]]
                row[group, field, "Percentiles"] = f"[{', '.join(map(str, values))}]"
        row["Runtime Info", "Metadata", ""] = json.dumps(report["metadata"])
        row["Runtime Info", "Arguments", ""] = json.dumps(report["config"])
        tables.append(row)
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerows(zip(*tables[0], strict=True))
    writer.writerows(list(row.values()) for row in tables)
    return out.getvalue()


def guidellm_console(report: dict[str, Any]) -> str:
    """The tables of the report that GuideLLM prints and that are read."""
    runs = [(each["config"]["strategy"], each["metrics"]) for each in report["benchmarks"]]
    names = [
        f"{strategy['type_']}@{strategy.get('streams') or format(strategy['rate'], '.2f')}"
        for strategy, _ in runs
    ]

    def table(title: str, heads: list[str], rows: list[list[str]]) -> str:
        """`heads` as printed, bars and all; cells are not padded, which no reader needs."""
        rule = "|".join("=" * 6 for _ in rows[0])
        body = ["|" + "|".join(f" {cell} " for cell in row) + "|" for row in rows]
        dashes = rule.replace("=", "-")
        lines = [f"\u2139 {title}", f"|{rule}|", *heads, f"|{dashes}|", *body, f"|{rule}|", ""]
        return "\n".join(lines)

    totals = [metrics["request_totals"] for _, metrics in runs]
    latencies = ("request_latency", "time_to_first_token_ms", "inter_token_latency_ms")
    return "\n".join(
        (
            table(
                "Run Summary Info",
                [
                    "| Benchmark | Timings ||| Requests |||",
                    "| Strategy | Start | End | Dur | Comp | Inc | Err |",
                    "|  |  |  | Sec | Tot | Tot | Tot |",
                ],
                [
                    [
                        name,
                        "10:15:00",
                        "10:15:03",
                        f"{benchmark['duration']:.1f}",
                        str(total["successful"]),
                        str(total["incomplete"]),
                        str(total["errored"]),
                    ]
                    for name, benchmark, total in zip(
                        names, report["benchmarks"], totals, strict=True
                    )
                ],
            ),
            table(
                "Request Latency Statistics (Completed Requests)",
                [
                    "| Benchmark | Request Latency ||| TTFT ||| ITL |||",
                    "| Strategy | Sec ||| ms ||| ms |||",
                    "|  | Mean | Mdn | p95 | Mean | Mdn | p95 | Mean | Mdn | p95 |",
                ],
                [
                    [
                        name,
                        *(
                            cell
                            for key in latencies
                            for summary in [metrics[key]["successful"]]
                            for cell in (
                                f"{summary['mean']:.1f} \u00b1 0.2",
                                f"{summary['median']:.1f}",
                                f"{summary['percentiles']['p95']:.1f}*",
                            )
                        ),
                    ]
                    for name, (_, metrics) in zip(names, runs, strict=True)
                ],
            ),
            table(
                "Server Throughput Statistics (All Requests)",
                [
                    "| Benchmark | Requests ||| Output Tokens |",
                    "| Strategy | Concurrency || Per Sec | Per Sec |",
                    "|  | Mdn | Mean | Mean ||",
                ],
                [
                    [
                        name,
                        "4.0",
                        "3.5",
                        "8.7",
                        f"{metrics['output_tokens_per_second']['successful']['mean']:.1f}",
                    ]
                    for name, (_, metrics) in zip(names, runs, strict=True)
                ],
            ),
        )
    )


def vllm_latency(seed: int, *, newer: bool) -> dict[str, Any]:
    """What `vllm bench latency` writes; only newer versions write the deviation."""
    latencies = np.random.default_rng(seed).normal(2.4, 0.1, 30)
    result: dict[str, Any] = {"avg_latency": float(latencies.mean())}
    if newer:
        result["std_latency"] = float(latencies.std())
    result["latencies"] = latencies.tolist()
    percents = (10, 25, 50, 75, 90, 99)
    result["percentiles"] = {str(each): float(np.percentile(latencies, each)) for each in percents}
    return result


def vllm_throughput() -> dict[str, Any]:
    """What `vllm bench throughput` writes."""
    seconds, requests, tokens = 41.125, 500, 262_144
    return {
        "elapsed_time": seconds,
        "num_requests": requests,
        "total_num_tokens": tokens,
        "requests_per_second": requests / seconds,
        "tokens_per_second": tokens / seconds,
    }


def sglang_batch(batch: int, inputs: int, outputs: int) -> dict[str, Any]:
    """A line of SGLang's `bench_one_batch`."""
    prefill, step = 0.0001 * inputs, 0.0081
    whole = prefill + step * (outputs - 1) * 1.01
    return {
        "run_name": "default",
        "batch_size": batch,
        "input_len": inputs,
        "output_len": outputs,
        "prefill_latency": prefill,
        "prefill_throughput": batch * inputs / prefill,
        "median_decode_latency": step,
        "median_decode_throughput": batch / step,
        "total_latency": whole,
        "overall_throughput": batch * (inputs + outputs) / whole,
    }


def sglang_batch_of_server(*, newer: bool) -> dict[str, Any]:
    """A line of SGLang's `bench_one_batch_server`, which rounds what it writes."""
    batch, inputs, outputs, whole, first = 16, 1024, 64, 1.23456, 0.31234
    result: dict[str, Any] = {
        "run_name": "default",
        "batch_size": batch,
        "input_len": inputs,
        "output_len": outputs,
        "latency": round(whole, 4),
        "output_throughput": round(batch * outputs / (whole - first if newer else whole), 2),
        "overall_throughput": round(batch * (inputs + outputs) / whole, 2),
    }
    if newer:
        result |= {
            "input_throughput": round(batch * inputs / first, 2),
            "last_ttft": round(first, 4),
            "last_gen_throughput": 0.0,
            "acc_length": -1,
            "total_output_tokens": batch * outputs,
            "cache_hit_rate": 0.125,
        }
    return result


def console_table(run: dict[str, Any]) -> str:
    """What `vllm bench serve` prints of a run."""
    lines = [f"{' Serving Benchmark Result ':=^50}"]

    def line(label: str, value: Any, digits: str = "") -> None:
        lines.append(f"{label:<40} {value:<10{digits}}")

    line("Successful requests:", run["completed"])
    line("Failed requests:", run["failed"])
    line("Maximum request concurrency:", run["max_concurrency"])
    line("Benchmark duration (s):", run["duration"], ".2f")
    line("Total input tokens:", run["total_input_tokens"])
    line("Total generated tokens:", run["total_output_tokens"])
    line("Request throughput (req/s):", run["request_throughput"], ".2f")
    line("Output token throughput (tok/s):", run["output_throughput"], ".2f")
    line("Peak output token throughput (tok/s):", run["max_output_tokens_per_s"], ".2f")
    line("Peak concurrent requests:", run["max_concurrent_requests"], ".2f")
    line("Total token throughput (tok/s):", run["total_token_throughput"], ".2f")
    for key, name, title in (
        ("ttft", "TTFT", "Time to First Token"),
        ("tpot", "TPOT", "Time per Output Token (excl. 1st token)"),
        ("itl", "ITL", "Inter-token Latency"),
        ("e2el", "E2EL", "End-to-end Latency"),
    ):
        lines.append(f"{title:-^50}")
        for statistic in ("mean", "median", "p90", "p99"):
            value = run[f"{statistic}_{key}_ms"]
            line(f"{statistic.capitalize()} {name} (ms):", value, ".2f")
    return "\n".join([*lines, "=" * 50, ""])


def _write(name: str, *values: Any, indent: int | None = None) -> None:
    text = "".join(json.dumps(value, indent=indent) + "\n" for value in values)
    (HERE / name).write_text(text, encoding="utf-8")


def _text(name: str, text: str) -> None:
    (HERE / name).write_bytes(text.encode())


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
    seconds = {key: value for key, value in seconds.items() if "itl" not in key}
    _write("vllm-derived-seconds.json", seconds | {"good_completed": None})
    _write("sglang-serving-detailed.jsonl", sglang_run(12, sglang_server(), detailed=True))
    servers = [sglang_server(), sglang_server(tp_size=4, disable_radix_cache=False)]
    router = {"internal_states": [], "prefill": servers[:1], "decode": servers[1:]}
    _write("sglang-serving-split.jsonl", sglang_run(13, router))
    requests = aiperf_requests(16)
    summary = aiperf_summary(requests)
    _write("aiperf-records.jsonl", *requests)
    _write("aiperf-summary.json", summary, indent=2)
    columns = "avg,min,max,sum,p1,p5,p10,p25,p50,p75,p90,p95,p99,std"
    _text("aiperf-summary.csv", perf_csv(summary, columns, AIPERF_HEADERS, ".2f"))
    _write("aiperf-telemetry.jsonl", *aiperf_telemetry(17))
    genai = genai_perf_summary(summary)
    _write("genai-perf.json", genai, indent=2)
    columns = "avg,min,max,p99,p95,p90,p75,p50,p25,p10,p5,p1"
    _text("genai-perf.csv", perf_csv(genai, columns, GENAI_PERF_HEADERS, ",.2f"))
    report = guidellm_report(18)
    _write("guidellm-report.json", report)
    _text("guidellm-report.csv", guidellm_csv(report))
    _text("guidellm-console.txt", guidellm_console(report))
    _write("guidellm-first.json", guidellm_first(report))
    _write("vllm-bench-latency.json", vllm_latency(19, newer=True), indent=4)
    _write("vllm-bench-latency-2024.json", vllm_latency(20, newer=False), indent=4)
    _write("vllm-bench-throughput.json", vllm_throughput(), indent=4)
    _write("sglang-one-batch.jsonl", sglang_batch(8, 256, 32), sglang_batch(8, 1024, 64))
    older, newer = (sglang_batch_of_server(newer=each) for each in (False, True))
    _write("sglang-one-batch-server.jsonl", older, newer)
    tables = [console_table(vllm_run(seed, failed=1)) for seed in (14, 15)]
    _text("vllm-serve-console.txt", "\n".join(tables))
    _write("pytest-benchmark-data.json", pytest_benchmark_saved(data=True), indent=4)
    _write("pytest-benchmark-summary.json", pytest_benchmark_saved(data=False), indent=4)


if __name__ == "__main__":
    main()
