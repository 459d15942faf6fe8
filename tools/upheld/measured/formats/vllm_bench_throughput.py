"""vLLM `bench throughput`, formerly `benchmark_throughput.py`: all prompts given to the engine.

`tokens_per_second` counts input and output tokens together, and no tokens of images on most
backends (vllm/benchmarks/throughput.py, `main`). The engine, vLLM or another that `--backend`
names, runs without a server, and where a request fails the tool ends without a file. Nothing but
these five numbers is in it.
"""

from __future__ import annotations

from fractions import Fraction

from upheld.measured.content import Content
from upheld.measured.draft import IMPOSSIBLE, UNTOUCHED, RowDraft
from upheld.measured.reading import Reading, Requests, Row

NAME = "vllm-bench-throughput"
TOOL = "vLLM bench throughput"
TITLE = "vLLM bench throughput: result of an offline run, JSON"

_KEYS = {
    "elapsed_time", "num_requests", "total_num_tokens", "requests_per_second", "tokens_per_second",
}  # fmt: skip
_NOT_STATED = (
    "model", "model_revision", "engine", "engine_version", "weight_dtype", "kv_cache_dtype",
    "device", "device_count", "tensor_parallel", "max_model_len", "input_tokens", "output_tokens",
    "prefix_caching", "speculative_decoding",
)  # fmt: skip


def recognise(content: Content) -> bool:
    """One object with exactly the keys of the tool."""
    if len(content.documents) != 1:
        return False
    result = content.documents[0].value
    return isinstance(result, dict) and result.keys() == _KEYS


def read(content: Content) -> Reading:
    """The one run that the file holds."""
    result = content.documents[0].value
    assert isinstance(result, dict), "recognise() saw an object"
    return Reading((_read(RowDraft(content, 0, (), result)),))


def _read(draft: RowDraft) -> Row:
    requests, tokens = draft.count("num_requests"), draft.count("total_num_tokens")
    draft.report(
        "requests.completed", "requests", "num_requests", note="where one fails there is no file"
    )
    draft.report("duration", "s", "elapsed_time")
    duration = draft.value("duration")
    if duration == 0:
        draft.find(
            IMPOSSIBLE, "elapsed_time is 0, so nothing has a rate", UNTOUCHED, "elapsed_time"
        )
    elif duration is not None and requests is not None and tokens is not None:
        draft.recompute(
            "throughput.requests", "requests/s", requests / duration, "requests_per_second"
        )
        draft.recompute(
            "throughput.total_tokens", "tokens/s", Fraction(tokens) / duration,
            "tokens_per_second", note="input and output together: no rate of output",
        )  # fmt: skip
    if tokens is not None:
        draft.stated["tokens"] = f"{tokens:,}, input and output together"
    failed = None if requests is None else 0
    return draft.finish(_NOT_STATED, Requests(requests, failed, requests))
