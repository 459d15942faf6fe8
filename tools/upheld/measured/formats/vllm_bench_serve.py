"""vLLM `bench serve`, formerly `benchmark_serving.py`: one JSON object a run.

Several runs are several objects (`--append-result`). Forks that keep the keys and their units
(InferenceX, llm-d, the Rust client) are read as well; those that drop the `_ms` are not, since
their latencies are seconds.

How vLLM works its figures out (vllm/benchmarks/serve.py, `calculate_metrics`): latencies are of
successful requests only, percentiles are NumPy's `linear`, standard deviations are of a
population; throughputs divide by the wall time of the whole run. With `--save-detailed` the file
holds an entry for each request, in seconds, 0.0 for a failed one.
"""

from __future__ import annotations

import re
from fractions import Fraction

from upheld.corpus.strict_json import Json, Keys
from upheld.measured.content import Content
from upheld.measured.draft import RowDraft
from upheld.measured.reading import Reading, Row
from upheld.measured.server_axes import SERVER_AXES
from upheld.measured.serving_result import Layout, read_figures, read_load, read_other_facts
from upheld.measured.single_requests import SingleRequests

NAME = "vllm-bench-serve"
TOOL = "vLLM bench serve"
TITLE = "vLLM bench serve: result of a run, JSON or JSON Lines"

_ALWAYS = {
    "model_id", "duration", "completed", "request_throughput", "total_token_throughput",
}  # fmt: skip
_SGLANG = {"total_output_tokens_retokenized", "mean_e2e_latency_ms", "server_info"}

LAYOUT = Layout(
    latencies={
        "ttft_ms": "latency.ttft", "tpot_ms": "latency.tpot", "itl_ms": "latency.itl",
        "e2el_ms": "latency.e2e",
    },
    unit="ms",
    total_throughput="total_token_throughput",
)  # fmt: skip

_READ_ELSEWHERE = re.compile(
    r"model_id|duration|completed|failed|num_prompts|request_rate|max_concurrency|total_\w+_tokens"
    r"|(request|input|output|total_token)_throughput|spec_decode_acceptance_\w+|best_of|rtfx"
)
_RENAMED = {
    "backend": "client_backend",
    "tokenizer_id": "tokenizer",
    "max_output_tokens_per_s": "peak_output_tokens_in_one_second",
    "max_concurrent_requests": "peak_requests_in_one_second",
    "request_goodput:": "request_goodput",
}


def recognise(content: Content) -> bool:
    """Objects, one or several, each with the keys that every version of the tool writes."""
    return bool(content.documents) and all(is_result(each.value) for each in content.documents)


def is_result(value: Json) -> bool:
    """Whether a JSON value is one result of `bench serve`, latencies in milliseconds."""
    return (
        isinstance(value, dict)
        and value.keys() >= _ALWAYS
        and not value.keys() & _SGLANG
        and any(map(LAYOUT.parse, value))
    )


def read(content: Content) -> Reading:
    """One row a run. `content` holds objects, or one array of them."""
    found: list[tuple[int, Keys, dict[str, Json]]] = []
    for index, document in enumerate(content.documents):
        value = document.value
        runs: list[tuple[Keys, Json]] = [((), value)]
        if isinstance(value, list):
            runs = [((at,), each) for at, each in enumerate(value)]
        found += [(index, keys, each) for keys, each in runs if isinstance(each, dict)]
    rows = [
        _read_run(RowDraft(content, index, keys, run, f"run {number}" if len(found) > 1 else None))
        for number, (index, keys, run) in enumerate(found, start=1)
    ]
    return Reading(tuple(rows))


def _read_run(draft: RowDraft) -> Row:
    single = SingleRequests(draft)
    requests = read_figures(draft, LAYOUT, single)
    _read_speculation(draft)
    not_stated = list(SERVER_AXES)
    model = draft.text("model_id")
    if model is not None:
        draft.envelope["model"] = model
    else:
        not_stated.insert(0, "model")
    not_stated += read_load(draft, single, requests)
    read_other_facts(draft, LAYOUT, _READ_ELSEWHERE, _RENAMED)
    return draft.finish(tuple(not_stated), requests)


def _read_speculation(draft: RowDraft) -> None:
    drafts = draft.count("spec_decode_num_drafts")
    drafted = draft.count("spec_decode_draft_tokens")
    accepted = draft.count("spec_decode_accepted_tokens")
    if accepted is not None and drafted:
        draft.recompute(
            "speculation.acceptance", "%", Fraction(100 * accepted, drafted),
            "spec_decode_acceptance_rate",
        )  # fmt: skip
    else:
        draft.report("speculation.acceptance", "%", "spec_decode_acceptance_rate")
    if accepted is not None and drafts:
        draft.recompute(
            "speculation.length", "tokens", 1 + Fraction(accepted, drafts),
            "spec_decode_acceptance_length",
        )  # fmt: skip
    else:
        draft.report("speculation.length", "tokens", "spec_decode_acceptance_length")
