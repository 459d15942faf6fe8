"""LLMPerf: the single requests of a run, one array of objects."""

from __future__ import annotations

from fractions import Fraction

from upheld.corpus.strict_json import Json, Keys
from upheld.measured import llmperf, single_values
from upheld.measured.content import Content
from upheld.measured.draft import DISAGREES, RowDraft
from upheld.measured.reading import Reading, Requests, Row
from upheld.measured.recompute import Values
from upheld.records.units import format_number

NAME = "llmperf-individual"
TOOL = llmperf.TOOL
TITLE = "LLMPerf: single requests of a run, JSON"

_ALWAYS = {"error_code", "ttft_s", "inter_token_latency_s", "end_to_end_latency_s"}
_RATE = "request_output_throughput_token_per_s"
# The tool's two counts of a request's tokens differ by one or two.
_SAME = Fraction(1, 20)

Entries = list[tuple[Keys, dict[str, Json]]]


def recognise(content: Content) -> bool:
    """One array of requests, each with its error and its times."""
    if len(content.documents) != 1:
        return False
    requests = content.documents[0].value
    return (
        isinstance(requests, list)
        and bool(requests)
        and all(isinstance(each, dict) and each.keys() >= _ALWAYS for each in requests)
    )


def read(content: Content) -> Reading:
    """One row: everything follows from the requests."""
    requests = content.documents[0].value
    assert isinstance(requests, list), "recognise() saw an array"
    entries: Entries = [
        ((index,), each) for index, each in enumerate(requests) if isinstance(each, dict)
    ]
    return Reading((_read_requests(RowDraft(content, 0, (), {}), entries),))


def _read_requests(draft: RowDraft, entries: Entries) -> Row:
    succeeded = [each for each in entries if each[1].get("error_code") is None]
    completed, failed = len(succeeded), len(entries) - len(succeeded)
    draft.recompute("requests.recorded", "requests", Fraction(len(entries)))
    draft.recompute("requests.completed", "requests", Fraction(completed))
    draft.recompute("requests.failed", "requests", Fraction(failed))
    for key, name in llmperf.LATENCIES.items():
        if numbers := single_values.column(draft, succeeded, key):
            single_values.recompute(draft, name, "s", Values(numbers), 1, {})
    draft.doubts["latency.itl"] = llmperf.ITL_DOUBT
    not_stated = ["model", *llmperf.NEVER_STATED, "concurrency"]
    for axis, key in (
        ("input_tokens", "number_input_tokens"), ("output_tokens", "number_output_tokens"),
    ):  # fmt: skip
        lengths = single_values.read_lengths(draft, axis, succeeded, key)
        if lengths is None:
            not_stated.append(axis)
        else:
            draft.recompute(f"tokens.{axis.partition('_')[0]}.total", "tokens", lengths.total)
    _hold_rates_against_tokens(draft, succeeded)
    draft.stated["tokens_counted_by"] = llmperf.TOKENIZER
    draft.stated["load"] = "how many requests were open at once stands in the summary of the run"
    return draft.finish(tuple(not_stated), Requests(completed, failed, len(entries)))


def _hold_rates_against_tokens(draft: RowDraft, succeeded: Entries) -> None:
    """A finding where the requests' rates are of chunks of the stream, not of tokens."""
    rates = single_values.column(draft, succeeded, _RATE)
    times = single_values.column(draft, succeeded, "end_to_end_latency_s")
    total = draft.value("tokens.output.total")
    if not rates or not times or not total:
        return
    counted = sum(
        (Fraction(rate) * Fraction(time) for rate, time in zip(rates, times, strict=True)),
        Fraction(0),
    )
    if abs(counted - total) > _SAME * total:
        draft.find(
            DISAGREES,
            f"{_RATE} times end_to_end_latency_s make {format_number(counted)} over all requests, "
            f"but number_output_tokens {format_number(total)}: the rates are not of tokens",
            "no figure is taken from those rates; tokens over time are in the summary of the run",
            0, _RATE,
            severity="warning",
        )  # fmt: skip
