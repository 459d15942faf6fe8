"""A client derived from vLLM's that drops `_ms` from its keys: its latencies are seconds.

InferenceX, experimental/token_position_decode_slo, whose script prints the same numbers as "(s)".
Only its own count of requests that met their objectives tells it from a file whose unit nobody
states, which stays unknown.
"""

from __future__ import annotations

import re

from upheld.corpus.strict_json import Json
from upheld.measured.content import Content
from upheld.measured.draft import RowDraft
from upheld.measured.reading import Reading, Row
from upheld.measured.server_axes import SERVER_AXES
from upheld.measured.serving_result import Layout, read_figures, read_load, read_other_facts
from upheld.measured.single_requests import SingleRequests

NAME = "vllm-derived-seconds"
TOOL = "InferenceX token_position_decode_slo"
TITLE = "InferenceX token_position_decode_slo: result of a run in seconds, JSON"

_ALWAYS = {"model_id", "num_prompts", "duration", "completed", "good_completed"}
_LAYOUT = Layout(
    latencies={"ttft": "latency.ttft", "tpot": "latency.tpot", "e2el": "latency.e2e"},
    unit="s",
    total_throughput="total_token_throughput",
)
_READ_ELSEWHERE = re.compile(
    r"model_id|duration|completed|num_prompts|request_rate|max_concurrency|total_\w+_tokens"
    r"|(request|input|output)_throughput"
)


def recognise(content: Content) -> bool:
    """One object with the keys that the script always writes and none in milliseconds."""
    return len(content.documents) == 1 and _is_result(content.documents[0].value)


def _is_result(value: Json) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() >= _ALWAYS
        and any(map(_LAYOUT.parse, value))
        and not any(key.endswith("_ms") for key in value)
    )


def read(content: Content) -> Reading:
    """The one run that the file holds."""
    run = content.documents[0].value
    assert isinstance(run, dict), "recognise() saw an object"
    return Reading((_read_run(RowDraft(content, 0, (), run)),))


def _read_run(draft: RowDraft) -> Row:
    single = SingleRequests(draft)
    requests = read_figures(draft, _LAYOUT, single)
    not_stated = list(SERVER_AXES)
    model = draft.text("model_id")
    if model is not None:
        draft.envelope["model"] = model
    else:
        not_stated.insert(0, "model")
    not_stated += read_load(draft, single, requests)
    read_other_facts(draft, _LAYOUT, _READ_ELSEWHERE, {"tokenizer_id": "tokenizer"})
    return draft.finish(tuple(not_stated), requests)
