"""Writes the fixtures of load generators and of engines' own benchmarks, the same bytes each time.

Like make.py: single values are drawn first, and the summary is worked out from them as the tools
do it, with NumPy. The numbers describe no engine and no machine. What a tool prints for people
stands in files of its own, written by hand.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
PERCENTS = (0.1, 1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9)


def inference_perf_stage() -> dict[str, Any]:
    """A lifecycle report of one stage, whose time per output token is of tokens, not chunks."""
    draw = np.random.default_rng(21)
    sent, wall = 240, 61.5
    inputs, outputs = draw.integers(190, 214, sent), draw.integers(40, 66, sent)
    first, each = draw.gamma(4, 0.01, sent), draw.gamma(9, 0.001, sent)
    whole = first + each * (outputs - 1)

    def summary(values: Any) -> dict[str, float]:
        named = {f"p{percent:g}": float(np.percentile(values, percent)) for percent in PERCENTS}
        named["median"] = named.pop("p50")
        return {
            "mean": float(np.mean(values)), "min": float(values.min()), "max": float(values.max()),
        } | named  # fmt: skip

    return {
        "load_summary": {
            "count": sent,
            "schedule_delay": summary(draw.gamma(2, 0.0001, sent)),
            "send_duration": 60.25,
            "requested_rate": 4.0,
            "achieved_rate": sent / 60.25,
        },
        "successes": {
            "count": sent,
            "latency": {
                "request_latency": summary(whole),
                "normalized_time_per_output_token": summary(whole / outputs),
                "time_per_output_token": summary(each),
                "time_to_first_token": summary(first),
                "inter_token_latency": summary(draw.gamma(9, 0.001, int(outputs.sum()))),
            },
            "throughput": {
                "input_tokens_per_sec": int(inputs.sum()) / wall,
                "output_tokens_per_sec": int(outputs.sum()) / wall,
                "total_tokens_per_sec": int(inputs.sum() + outputs.sum()) / wall,
                "requests_per_sec": sent / wall,
            },
            "prompt_len": summary(inputs.astype(float)),
            "output_len": summary(outputs.astype(float)),
        },
        "failures": {"count": 0, "request_latency": None, "prompt_len": None},
    }


def inference_perf_server() -> dict[str, Any]:
    """The report on what Prometheus scraped of the server."""
    return {
        "load_summary": {},
        "successes": {
            "count": 611,
            "rate": 8.125,
            "prompt_len": {"mean": 1220, "rate": 2480.5},
            "output_len": {"mean": 402, "rate": 817.25},
            "request_latency": {"mean": 1.25, "median": 1.125, "p90": 1.75, "p99": 2.25},
            "time_to_first_token": {"mean": 0.04, "median": 0.03, "p90": 0.06, "p99": 0.11},
            "time_per_output_token": {"mean": 0.0, "median": 0.0, "p90": 0.0, "p99": 0.0},
            "kv_cache_usage_percentage": {"mean": 0.0},
        },
        "failures": {},
    }


def llama_bench_test(seed: int, prompt: int, generated: int, depth: int = 0) -> dict[str, Any]:
    """One test, its summary as `%f` prints it."""
    draw = np.random.default_rng(seed)
    samples = [int(each) for each in draw.normal(0.25, 0.001, 5) * 10**9]
    rates = np.array([10**9 * (prompt + generated) / each for each in samples])
    return {
        "build_commit": "0123abcd",
        "build_number": 7654,
        "cpu_info": "Example CPU 9000",
        "gpu_info": "Example Accelerator 80GB",
        "backends": "CUDA",
        "model_filename": "models/example-8b-Q4_K_M.gguf",
        "model_type": "llama 8B Q4_K - Medium",
        "model_size": 4912898304,
        "model_n_params": 8030261248,
        "n_batch": 2048,
        "n_ubatch": 512,
        "n_threads": 8,
        "type_k": "f16",
        "type_v": "f16",
        "n_gpu_layers": 99,
        "split_mode": "layer",
        "flash_attn": True,
        "use_mmap": True,
        "n_prompt": prompt,
        "n_gen": generated,
        "n_depth": depth,
        "test_time": "2026-03-01T10:15:00Z",
        "avg_ns": sum(samples) // 5,
        "stddev_ns": int(np.std(samples, ddof=1)),
        "avg_ts": round(float(rates.mean()), 6),
        "stddev_ts": round(float(rates.std(ddof=1)), 6),
        "samples_ns": samples,
        "samples_ts": [float(f"{each:.6g}") for each in rates],
    }


def llama_bench_tests() -> list[dict[str, Any]]:
    """Prompt, generation at two depths, and both in one test."""
    return [
        llama_bench_test(31, 512, 0), llama_bench_test(32, 0, 128),
        llama_bench_test(33, 0, 128, depth=4096), llama_bench_test(34, 512, 128),
    ]  # fmt: skip


def llama_bench_csv() -> str:
    """The same without samples, every cell quoted."""
    text = io.StringIO()
    tests = [
        {key: value for key, value in test.items() if not key.startswith("samples")}
        for test in llama_bench_tests()
    ]
    text.write(",".join(tests[0]) + "\n")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    for test in tests:
        writer.writerow(int(value) if isinstance(value, bool) else value for value in test.values())
    return text.getvalue()


def llama_bench_document() -> str:
    """A page on the tool that shows three of its outputs."""
    tests = llama_bench_tests()
    printed = (HERE / "llama-bench-tables.log").read_text(encoding="utf-8")
    return (
        "# Example\n\nAs tables:\n\n"
        + printed.partition("Device 1")[2].partition("\n")[2]
        + "\nAs JSON:\n\n```json\n" + json.dumps(tests[:2], indent=2) + "\n```\n"
        + "\nAs JSON Lines:\n\n```json lines\n" + json.dumps(tests[2]) + "\n```\n"
        + "\nAs CSV:\n\n```csv\n" + llama_bench_csv() + "```\n"
    )  # fmt: skip


def llmperf_requests() -> list[dict[str, Any]]:
    """The single requests of a run, two of which failed."""
    draw = np.random.default_rng(41)
    requests: list[dict[str, Any]] = []
    for number in range(122):
        first, tokens = float(draw.gamma(4, 0.05)), int(draw.integers(140, 160))
        whole = first + float(draw.gamma(9, 0.002)) * (tokens - 1)
        failed = number in (7, 70)
        requests.append(
            {
                "error_code": 429 if failed else None,
                "error_msg": "Too Many Requests" if failed else "",
                "inter_token_latency_s": 0 if failed else whole / tokens,
                "ttft_s": 0 if failed else first,
                "end_to_end_latency_s": 0 if failed else whole,
                "request_output_throughput_token_per_s": 0 if failed else tokens / whole,
                "number_total_tokens": 0 if failed else 550 + tokens,
                "number_output_tokens": 0 if failed else tokens,
                "number_input_tokens": 550,
            }
        )
    return requests


def llmperf_summary(concurrency: int = 5) -> dict[str, Any]:
    """What the tool makes of those requests, over a wall time of its own."""
    requests = llmperf_requests()
    good = [each for each in requests if each["error_code"] is None]
    wall = 88.75
    summary: dict[str, Any] = {
        "version": "2023-08-31",
        "name": "example-8b_550_150_summary",
        "model": "example-org/example-8b",
        "mean_input_tokens": 550,
        "stddev_input_tokens": 0,
        "mean_output_tokens": 150,
        "stddev_output_tokens": 10,
        "num_concurrent_requests": concurrency,
    }
    for key in (
        "inter_token_latency_s", "ttft_s", "end_to_end_latency_s",
        "request_output_throughput_token_per_s", "number_input_tokens", "number_output_tokens",
    ):  # fmt: skip
        values = np.array([each[key] for each in good], dtype=float)
        for percent in (25, 50, 75, 90, 95, 99):
            value = float(np.percentile(values, percent))
            summary[f"results_{key}_quantiles_p{percent}"] = value
        summary[f"results_{key}_mean"] = float(values.mean())
        summary[f"results_{key}_min"] = float(values.min())
        summary[f"results_{key}_max"] = float(values.max())
        summary[f"results_{key}_stddev"] = float(values.std(ddof=1))
    for key in ("results_number_input_tokens", "results_number_output_tokens"):
        summary[f"{key}_min"] = str(int(summary[f"{key}_min"]))
        summary[f"{key}_max"] = str(int(summary[f"{key}_max"]))
    tokens = sum(each["number_output_tokens"] for each in good)
    return summary | {
        "results_num_requests_started": len(requests),
        "results_error_rate": (len(requests) - len(good)) / len(requests),
        "results_number_errors": len(requests) - len(good),
        "results_error_code_frequency": "{429: 2}",
        "results_mean_output_throughput_token_per_s": tokens / wall,
        "results_num_completed_requests": len(good),
        "results_num_completed_requests_per_min": 60 * len(good) / wall,
        "timestamp": 1772360100,
    }


def genai_bench_run() -> dict[str, Any]:
    """One operating point, with a failed request that counts for nothing."""
    draw = np.random.default_rng(51)
    singles: list[dict[str, Any]] = []
    for _ in range(120):
        first, tokens = float(draw.gamma(4, 0.05)), int(draw.integers(90, 110))
        output = float(draw.gamma(9, 0.1))
        singles.append(
            {
                "ttft": first,
                "tpot": output / (tokens - 1),
                "e2e_latency": first + output,
                "output_latency": output,
                "num_input_tokens": 106,
                "num_output_tokens": tokens,
                "total_tokens": 106 + tokens,
                "error_code": None,
                "error_message": None,
            }
        )
    keys = [key for key in singles[0] if not key.startswith("error")]
    stats = {}
    for key in keys:
        values = np.array([each[key] for each in singles], dtype=float)
        stats[key] = {
            "min": float(values.min()), "max": float(values.max()), "mean": float(values.mean()),
            "stddev": float(values.std()), "sum": float(values.sum()),
        }  # fmt: skip
        for percent in (25, 50, 75, 90, 95, 99):
            stats[key][f"p{percent}"] = float(np.percentile(values, percent))
    duration = 42.5
    failed = dict.fromkeys(keys) | {"error_code": 503, "error_message": "Service Unavailable"}
    return {
        "aggregated_metrics": {
            "scenario": "D(100,100)",
            "num_concurrency": 4,
            "batch_size": 1,
            "iteration_type": "num_concurrency",
            "run_duration": duration,
            "mean_output_throughput_tokens_per_s": stats["num_output_tokens"]["sum"] / duration,
            "mean_input_throughput_tokens_per_s": stats["num_input_tokens"]["sum"] / duration,
            "mean_total_tokens_throughput_tokens_per_s": stats["total_tokens"]["sum"] / duration,
            "requests_per_second": len(singles) / duration,
            "error_codes_frequency": {"503": 1},
            "error_rate": 1 / 121,
            "num_error_requests": 1,
            "num_completed_requests": len(singles),
            "num_requests": len(singles) + 1,
            "stats": stats,
        },
        "individual_request_metrics": [*singles, failed],
        "_time_unit": "s",
    }


def ollama_responses() -> list[dict[str, Any]]:
    """Last messages of two models, the first of each after a load."""
    draw = np.random.default_rng(61)
    responses = []
    for model in ("example:8b-q4_K_M", "example:1b-q8_0"):
        for number in range(12):
            load = 1_900_000_000 if number == 0 else 1_500_000
            prompt, generated = int(draw.integers(60, 120)), int(draw.integers(100, 900))
            parts = (load, prompt * 1_250_000, generated * 16_000_000)
            responses.append(
                {
                    "model": model,
                    "total_duration": sum(parts) + 2_000_000,
                    "load_duration": parts[0],
                    "prompt_eval_count": prompt,
                    "prompt_eval_duration": parts[1],
                    "eval_count": generated,
                    "eval_duration": parts[2],
                }
            )
    return responses


def as_csv(records: list[dict[str, Any]]) -> str:
    """The records below a header of their keys."""
    text = io.StringIO()
    writer = csv.DictWriter(text, records[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def inferencex_point(concurrency: int = 4) -> dict[str, Any]:
    """One operating point; latencies in seconds, interactivity one over each."""
    draw = np.random.default_rng(70 + concurrency)
    point: dict[str, Any] = {
        "hw": "mi355x",
        "conc": concurrency,
        "image": "vllm/vllm-openai-rocm:v0.21.0",
        "model": "example-org/example-8b",
        "infmax_model_prefix": "example",
        "framework": "vllm",
        "precision": "fp8",
        "spec_decoding": "none",
        "disagg": False,
        "isl": 1024,
        "osl": 1024,
        "is_multinode": False,
        "tp": 8,
        "ep": 1,
        "dp_attention": "false",
        "tput_per_gpu": 56.0,
        "output_tput_per_gpu": 27.75,
        "input_tput_per_gpu": 28.25,
    }
    for key, scale in (("ttft", 0.05), ("tpot", 0.004), ("itl", 0.004), ("e2el", 4.0)):
        values = draw.gamma(9, scale / 9, 400)
        for statistic, value in (
            ("mean", values.mean()), ("median", np.median(values)), ("std", values.std()),
            ("p90", np.percentile(values, 90)), ("p99", np.percentile(values, 99)),
        ):  # fmt: skip
            point[f"{statistic}_{key}"] = float(value)
            if key == "tpot":
                point[f"{statistic}_intvty"] = 1 / float(value)
    return point


def inferencex_csv() -> str:
    """Two operating points as they are exported: headers say ms over seconds."""
    names = {"ttft": "TTFT (ms)", "tpot": "TPOT (ms)", "intvty": "Interactivity (tok/s/user)",
             "itl": "ITL (ms)", "e2el": "E2E Latency (ms)"}  # fmt: skip
    lines = []
    for point in (inferencex_point(4), inferencex_point(8)):
        line = {
            "Model": point["model"], "ISL": point["isl"], "OSL": point["osl"],
            "Hardware": point["hw"], "Framework": point["framework"],
            "Precision": point["precision"], "TP": point["tp"], "Concurrency": point["conc"],
            "Throughput/GPU (tok/s)": point["tput_per_gpu"],
            "Output Throughput/GPU (tok/s)": point["output_tput_per_gpu"],
            "Input Throughput/GPU (tok/s)": point["input_tput_per_gpu"],
            "Spec Decoding": "none", "EP": 1, "DP Attention": "false", "Is Multinode": "false",
        }  # fmt: skip
        for key, name in names.items():
            for statistic in ("mean", "median", "p99", "std"):
                line[f"{statistic.title()} {name}"] = point[f"{statistic}_{key}"]
        lines.append(line)
    return "# A line on the licence\n" + as_csv(lines)


def _section(values: Any, volume: int | None, unit: str) -> dict[str, Any]:
    deviation = float(values.std()) if len(values) > 1 else 0
    mean = float(values.mean())
    return {
        "memory": {"unit": "MB", "max_ram": 4474.25, "max_allocated": 4002.5},
        "latency": {
            "unit": "s",
            "values": values.tolist(),
            "count": len(values),
            "total": float(values.sum()),
            "mean": mean,
            **{f"p{each}": float(np.percentile(values, each)) for each in (50, 90, 95, 99)},
            "stdev": deviation,
            "stdev_": 100 * deviation / mean,
        },
        "throughput": None if volume is None else {"unit": unit, "value": volume / mean},
        "energy": None,
        "efficiency": None,
    }


def optimum_benchmark_config() -> dict[str, Any]:
    """A benchmark of text generation on one of the machine's two accelerators."""
    return {
        "name": "example",
        "backend": {
            "name": "pytorch",
            "version": "2.6.0",
            "model": "example-org/example-8b",
            "task": "text-generation",
            "library": "transformers",
            "device": "cuda",
            "device_ids": "0",
            "torch_dtype": "bfloat16",
            "quantization_scheme": None,
        },
        "scenario": {
            "name": "inference",
            "iterations": 10,
            "duration": 10,
            "warmup_runs": 10,
            "input_shapes": {"batch_size": 2, "sequence_length": 64},
            "generate_kwargs": {"max_new_tokens": 64, "min_new_tokens": 64, "num_beams": 1},
        },
        "launcher": {"name": "process", "device_isolation": True},
        "environment": {
            "cpu": " Example CPU 9000",
            "cpu_count": 64,
            "system": "Linux",
            "python_version": "3.11.9",
            "gpu": ["Example Accelerator 80GB", "Example Display"],
            "optimum_benchmark_version": "0.6.0",
        },
    }


def optimum_benchmark_report() -> dict[str, Any]:
    """Loading once, prefill and decode ten times."""
    draw = np.random.default_rng(81)
    return {
        "load_model": _section(np.array([12.5]), None, ""),
        "prefill": _section(draw.gamma(900, 0.0002, 10), 2, "samples/s"),
        "decode": _section(draw.gamma(900, 0.0024, 10), 126, "tokens/s"),
    }


def as_yaml(value: Any, indent: int = 0) -> str:
    """A nested mapping of numbers in YAML's block style."""
    text = ""
    for key, each in value.items():
        if isinstance(each, dict) and each:
            text += " " * indent + f"{key}:\n" + as_yaml(each, indent + 2)
        else:
            text += " " * indent + f"{key}: {json.dumps(each)}\n"
    return text


def _write(name: str, text: str) -> None:
    (HERE / name).write_text(text, encoding="utf-8")


def _json(*values: Any, indent: int | None = None) -> str:
    return "".join(json.dumps(value, indent=indent) + "\n" for value in values)


def main() -> None:
    """All fixtures that are not printed."""
    _write("inference-perf-stage.json", _json(inference_perf_stage()))
    _write("inference-perf-stage.yaml", as_yaml(inference_perf_stage()))
    _write("inference-perf-server.json", _json(inference_perf_server()))
    _write("llama-bench.json", _json(llama_bench_tests(), indent=2))
    _write("llama-bench.jsonl", _json(*llama_bench_tests()))
    _write("llama-bench.csv", llama_bench_csv())
    _write("llama-bench-document.md", llama_bench_document())
    _write("llmperf-individual.json", _json(llmperf_requests(), indent=2))
    _write("llmperf-summary.json", _json(llmperf_summary(), indent=2))
    _write(
        "llmperf-summary-map.json",
        _json({"1": llmperf_summary(1), "5": llmperf_summary(5)}, indent=2),
    )
    _write("genai-bench.json", _json(genai_bench_run(), indent=2))
    _write("ollama.csv", as_csv(ollama_responses()))
    _write("ollama.jsonl", _json(*ollama_responses()))
    _write("inferencex-agg.json", _json(inferencex_point(), indent=2))
    _write("inferencex.csv", inferencex_csv())
    _write("optimum-benchmark-report.json", _json(optimum_benchmark_report(), indent=2))
    _write(
        "optimum-benchmark.json",
        _json({"config": optimum_benchmark_config(), "report": optimum_benchmark_report()}),
    )
    _write("optimum-benchmark-config.json", _json(optimum_benchmark_config(), indent=2))


if __name__ == "__main__":
    main()
