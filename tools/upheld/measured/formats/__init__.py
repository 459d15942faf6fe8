"""The formats that are read: one module a format, listed here and nowhere else.

A format is a module with five names:

- `NAME`: how records and reports call it, such as `vllm-bench-serve`;
- `TOOL`: the tool that writes it;
- `TITLE`: what it is, in a few words;
- `recognise(content)`: whether the content, never the file's name, is of this format;
- `read(content)`: the rows that it holds. Called only where `recognise` said so, and never
  raising: what is wrong with the content is a finding.

Another package adds one through the entry-point group `upheld.formats`; those are asked only
about content that no format here recognises, so that they can't change what a file means.
"""

from __future__ import annotations

from typing import Protocol

from upheld.measured.content import Content
from upheld.measured.formats import (
    aiperf,
    aiperf_csv,
    aiperf_records,
    aiperf_telemetry,
    chrome_trace,
    dcgmi_dmon,
    genai_bench,
    genai_perf,
    genai_perf_csv,
    guidellm,
    guidellm_csv,
    guidellm_text,
    hey,
    hey_csv,
    inference_perf,
    inferencex_agg,
    inferencex_csv,
    junit_xml,
    k6,
    k6_summary,
    kubernetes_nodes,
    kubernetes_pods,
    lighteval,
    llama_batched_bench,
    llama_bench_csv,
    llama_bench_doc,
    llama_bench_json,
    llama_bench_jsonl,
    llama_bench_md,
    llama_cpp_startup_log,
    llmd_benchmark_report,
    llmperf_individual,
    llmperf_summary,
    llmperf_summary_map,
    lm_eval,
    lmdeploy_startup_log,
    locust_failures,
    locust_history,
    locust_json,
    locust_stats,
    mlperf_loadgen_detail,
    mlperf_loadgen_summary,
    nccl_tests,
    nsys_stats,
    nvbandwidth_json,
    nvbandwidth_text,
    nvidia_smi_csv,
    nvidia_smi_q,
    nvidia_smi_table,
    nvidia_smi_xml,
    ollama,
    ollama_startup_log,
    optimum_benchmark_config,
    optimum_benchmark_report,
    prometheus,
    pytest_benchmark,
    sglang_bench_one_batch,
    sglang_bench_serving,
    sglang_startup_log,
    tensorrt_llm_startup_log,
    trtllm_bench,
    upheld_capture,
    vllm_bench_latency,
    vllm_bench_serve,
    vllm_bench_serve_text,
    vllm_bench_throughput,
    vllm_derived_seconds,
    vllm_startup_log,
    vllm_sweep_summary,
    wrk,
)
from upheld.measured.reading import Reading


class Format(Protocol):
    """What a format module offers."""

    NAME: str
    TOOL: str
    TITLE: str

    def recognise(self, content: Content) -> bool:
        """Whether the content is of this format."""

    def read(self, content: Content) -> Reading:
        """The rows that the content holds."""


FORMATS: dict[str, Format] = {
    "aiperf": aiperf,
    "aiperf-csv": aiperf_csv,
    "aiperf-records": aiperf_records,
    "aiperf-telemetry": aiperf_telemetry,
    "chrome-trace": chrome_trace,
    "dcgmi-dmon": dcgmi_dmon,
    "genai-bench": genai_bench,
    "genai-perf": genai_perf,
    "genai-perf-csv": genai_perf_csv,
    "guidellm": guidellm,
    "guidellm-csv": guidellm_csv,
    "guidellm-text": guidellm_text,
    "hey": hey,
    "hey-csv": hey_csv,
    "inference-perf": inference_perf,
    "inferencex-agg": inferencex_agg,
    "inferencex-csv": inferencex_csv,
    "junit-xml": junit_xml,
    "k6": k6,
    "k6-summary": k6_summary,
    "kubernetes-nodes": kubernetes_nodes,
    "kubernetes-pods": kubernetes_pods,
    "lighteval": lighteval,
    "llama-batched-bench": llama_batched_bench,
    "llama-bench-csv": llama_bench_csv,
    "llama-bench-doc": llama_bench_doc,
    "llama-bench-json": llama_bench_json,
    "llama-bench-jsonl": llama_bench_jsonl,
    "llama-bench-md": llama_bench_md,
    "llama-cpp-startup-log": llama_cpp_startup_log,
    "llmd-benchmark-report": llmd_benchmark_report,
    "llmperf-individual": llmperf_individual,
    "llmperf-summary": llmperf_summary,
    "llmperf-summary-map": llmperf_summary_map,
    "lm-eval": lm_eval,
    "lmdeploy-startup-log": lmdeploy_startup_log,
    "locust-failures": locust_failures,
    "locust-history": locust_history,
    "locust-json": locust_json,
    "locust-stats": locust_stats,
    "mlperf-loadgen-detail": mlperf_loadgen_detail,
    "mlperf-loadgen-summary": mlperf_loadgen_summary,
    "nccl-tests": nccl_tests,
    "nsys-stats": nsys_stats,
    "nvbandwidth-json": nvbandwidth_json,
    "nvbandwidth-text": nvbandwidth_text,
    "nvidia-smi-csv": nvidia_smi_csv,
    "nvidia-smi-q": nvidia_smi_q,
    "nvidia-smi-table": nvidia_smi_table,
    "nvidia-smi-xml": nvidia_smi_xml,
    "ollama": ollama,
    "ollama-startup-log": ollama_startup_log,
    "optimum-benchmark": optimum_benchmark_report,
    "optimum-benchmark-config": optimum_benchmark_config,
    "prometheus": prometheus,
    "pytest-benchmark": pytest_benchmark,
    "sglang-bench-one-batch": sglang_bench_one_batch,
    "sglang-bench-serving": sglang_bench_serving,
    "sglang-startup-log": sglang_startup_log,
    "tensorrt-llm-startup-log": tensorrt_llm_startup_log,
    "trtllm-bench": trtllm_bench,
    "upheld-capture": upheld_capture,
    "vllm-bench-latency": vllm_bench_latency,
    "vllm-bench-serve": vllm_bench_serve,
    "vllm-bench-serve-text": vllm_bench_serve_text,
    "vllm-bench-throughput": vllm_bench_throughput,
    "vllm-derived-seconds": vllm_derived_seconds,
    "vllm-startup-log": vllm_startup_log,
    "vllm-sweep-summary": vllm_sweep_summary,
    "wrk": wrk,
}


def plugged_in() -> dict[str, Format]:
    """The formats that other installed packages add."""
    from importlib.metadata import entry_points

    return {point.name: point.load() for point in entry_points(group="upheld.formats")}
