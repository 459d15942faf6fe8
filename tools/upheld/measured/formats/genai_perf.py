"""GenAI-Perf: the JSON summary of a run.

A metric is an object with its unit, beside the options of the run in `input_config` (genai-perf
0.0.16, export_data/json_exporter.py). Failed requests are left out and not counted. The time
between tokens is rounded to a nanosecond for each request.
"""

from __future__ import annotations

from fractions import Fraction

from upheld.corpus.strict_json import Keys
from upheld.measured.content import Content
from upheld.measured.draft import RowDraft
from upheld.measured.perf_summary import PerfSummary
from upheld.measured.reading import Reading, Requests
from upheld.measured.server_axes import SERVER_AXES

NAME = "genai-perf"
TOOL = "GenAI-Perf"
TITLE = "GenAI-Perf: summary of a run, JSON"

_AIPERF = {"was_cancelled", "aiperf_version"}


def recognise(content: Content) -> bool:
    """One object with latency and rate of requests, and with options that are GenAI-Perf's."""
    if len(content.documents) != 1:
        return False
    summary = content.documents[0].value
    return (
        isinstance(summary, dict)
        and isinstance(summary.get("input_config"), dict)
        and not summary.keys() & _AIPERF
        and all(
            isinstance(metric := summary.get(tag), dict) and "avg" in metric and "unit" in metric
            for tag in ("request_latency", "request_throughput")
        )
    )


def read(content: Content) -> Reading:
    """The one run that a summary is of."""
    summary = content.documents[0].value
    assert isinstance(summary, dict), "recognise() saw an object"
    draft = RowDraft(content, 0, (), summary)
    metrics = PerfSummary(draft, {tag: (tag,) for tag in summary})
    metrics.read_scalars()
    metrics.refuse_other_token_rate()
    completed = draft.value("requests.completed")
    count = int(completed) if completed is not None and completed.denominator == 1 else None
    metrics.read_latencies(count)
    not_stated = list(SERVER_AXES)
    _read_configuration(draft, not_stated)
    metrics.read_lengths(not_stated)
    return Reading((draft.finish(tuple(not_stated), Requests(count, None, None)),))


_CONFIG = "input_config"
_STIMULUS = (_CONFIG, "perf_analyzer", "stimulus")


def _read_configuration(draft: RowDraft, not_stated: list[str]) -> None:
    """Model and load: under `model_names` and `perf_analyzer.stimulus`, flat before 2025."""
    model = draft.text(_CONFIG, "model_names", 0) or draft.text(_CONFIG, "model", 0)
    if model is not None:
        draft.envelope["model"] = model
    else:
        not_stated.insert(0, "model")
    flat = draft.get(_CONFIG, "concurrency") or draft.get(_CONFIG, "request_rate")
    load: Keys = (_CONFIG,) if flat else _STIMULUS
    concurrency = draft.count(*load, "concurrency")
    if concurrency:
        draft.envelope["concurrency"] = concurrency
        draft.report("concurrency.limit", "requests", *load, "concurrency")
    else:
        not_stated.append("concurrency")
    rate = draft.number(*load, "request_rate")
    if rate:
        draft.envelope["request_rate"] = Fraction(rate)
    else:
        not_stated.append("request_rate")
    client = draft.text(_CONFIG, "endpoint", "type") or draft.text(_CONFIG, "endpoint_type")
    if client is not None:
        draft.stated["client_backend"] = client
    streaming = draft.get(_CONFIG, "endpoint", "streaming")
    if isinstance(streaming, bool):
        draft.stated["streaming"] = "yes" if streaming else "no: there is no time to first token"
