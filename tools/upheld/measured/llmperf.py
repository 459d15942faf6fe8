"""LLMPerf: what its summaries and its files of single requests share.

All times are seconds, statistics are pandas' (percentiles linear, deviation of a sample) over the
requests without an error (ray-project/llmperf, token_benchmark_ray.py, `metrics_summary`, at
f1d6bed). Tokens are counted with a Llama tokenizer, whatever the model.
"""

from __future__ import annotations

TOOL = "LLMPerf"

LATENCIES = {
    "ttft_s": "latency.ttft", "inter_token_latency_s": "latency.itl",
    "end_to_end_latency_s": "latency.e2e",
}  # fmt: skip

ITL_DOUBT = (
    "LLMPerf divides the whole time of a request, that to its first token included, by its tokens"
)

NEVER_STATED = (
    "model_revision", "engine", "engine_version", "weight_dtype", "kv_cache_dtype", "device",
    "device_count", "tensor_parallel", "max_model_len", "request_rate", "prefix_caching",
    "speculative_decoding",
)  # fmt: skip

TOKENIZER = "a Llama tokenizer, whatever the model"
