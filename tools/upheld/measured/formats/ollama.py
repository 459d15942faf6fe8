"""Ollama's own measurements: the last message of a response, one request each.

Six numbers end each response of its API: times in nanoseconds, counts in tokens. People keep them
as JSON or in a CSV file; either is read, one row a model. Rates are tokens over time, over all
requests of a model together; what generating took is `eval_duration`, what the prompt took
`prompt_eval_duration`, without prompt tokens that the cache held already
(ollama, docs/api.md, "Generate a completion").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

from upheld.corpus.strict_json import Json, Keys
from upheld.measured import single_values
from upheld.measured.content import Content
from upheld.measured.draft import IMPOSSIBLE, UNTOUCHED, RowDraft
from upheld.measured.places import Places
from upheld.measured.reading import Reading, Requests, Row
from upheld.measured.recompute import Values
from upheld.measured.tables import csv_header, csv_table
from upheld.records.finding import Finding, Place
from upheld.records.units import format_number

NAME = "ollama"
TOOL = "Ollama"
TITLE = "Ollama: durations and counts of responses, CSV, JSON or JSON Lines"

_TIMES = {
    "total_duration": "latency.e2e", "load_duration": "latency.load",
    "prompt_eval_duration": "latency.prefill", "eval_duration": "latency.decode",
}  # fmt: skip
_COUNTS = ("prompt_eval_count", "eval_count")
_ALWAYS = {"model", "total_duration", "load_duration", "eval_count", "eval_duration"}
_PARTS = ("load_duration", "prompt_eval_duration", "eval_duration")

# Ollama's parts are timed by another clock than its total: this far they may be apart.
_CLOCKS = Fraction(1, 100)
_COLD = Fraction(1, 20)
_AXES = (
    "model_revision", "engine_version", "weight_dtype", "kv_cache_dtype", "device", "device_count",
    "max_model_len", "concurrency", "prefix_caching", "speculative_decoding",
)  # fmt: skip

Entries = list[tuple[Keys, dict[str, Json]]]


class _Responses:
    """All responses of a file, each the value at `(its index, …)`."""

    def __init__(self, path: str) -> None:
        self.entries: Entries = []
        self._at = Place(path)
        self._places: list[tuple[Places, int]] = []

    def add(self, places: Places, document: int, record: dict[str, Json]) -> None:
        """One response, which stands in a document of `places`."""
        self.entries.append(((len(self.entries),), record))
        self._places.append((places, document))

    def place(self, document: int = 0, keys: Keys = ()) -> Place:
        """Where a response, or one of its numbers, stands."""
        del document  # keys say which
        if not keys or not isinstance(keys[0], int) or keys[0] >= len(self._places):
            return self._at
        places, of = self._places[keys[0]]
        return places.place(of, keys[1:])


def recognise(content: Content) -> bool:
    """A CSV header with the numbers of a response, or objects that have them."""
    if content.documents:
        return all(
            isinstance(each.value, dict) and each.value.keys() >= _ALWAYS
            for each in content.documents
        )
    header = csv_header(content) if content.refusal is None else None
    return header is not None and set(header[1]) >= _ALWAYS


def read(content: Content) -> Reading:
    """One row a model."""
    responses = _Responses(content.path)
    findings: tuple[Finding, ...] = ()
    for index, document in enumerate(content.documents):
        if isinstance(document.value, dict):
            responses.add(content, index, document.value)
    if not content.documents:
        table = csv_table(content)
        findings = table.findings
        for row in table.rows:
            responses.add(row, 0, row.record({*_TIMES, *_COUNTS}))
    by_model: dict[str, Entries] = {}
    for keys, entry in responses.entries:
        by_model.setdefault(str(entry["model"]), []).append((keys, entry))
    rows = [
        _read_model(RowDraft(responses, 0, (), {}, model if len(by_model) > 1 else None), entries)
        for model, entries in by_model.items()
    ]
    return Reading(tuple(rows), findings=findings)


def _read_model(draft: RowDraft, entries: Entries) -> Row:
    draft.envelope |= {"engine": TOOL, "model": str(entries[0][1]["model"])}
    requests = Requests(len(entries), None, None)
    draft.recompute("requests.recorded", "requests", Fraction(len(entries)))
    times = {key: single_values.column(draft, entries, key) for key in _TIMES}
    for key, name in _TIMES.items():
        if numbers := times[key]:
            seconds = [Decimal(number).scaleb(-9) for number in numbers]
            single_values.recompute(draft, name, "s", Values(seconds), 1, {})
    not_stated = list(_AXES)
    for axis, count, time, name in (
        ("input_tokens", "prompt_eval_count", "prompt_eval_duration", "throughput.prompt_tokens"),
        ("output_tokens", "eval_count", "eval_duration", "throughput.generation_tokens"),
    ):
        lengths = single_values.read_lengths(draft, axis, entries, count)
        if lengths is None:
            not_stated.append(axis)
            continue
        draft.recompute(f"tokens.{axis.partition('_')[0]}.total", "tokens", lengths.total)
        if (numbers := times[time]) and sum(numbers):
            draft.samples[name] = len(numbers)
            rate = lengths.total * 10**9 / Values(numbers).total
            draft.recompute(name, "tokens/s", rate, note="all tokens over all time")
    _hold_parts_against_whole(draft, entries, times)
    _note_cold_starts(draft, times)
    return draft.finish(tuple(not_stated), requests)


def _hold_parts_against_whole(
    draft: RowDraft, entries: Entries, times: Mapping[str, Sequence[int | Decimal] | None]
) -> None:
    totals = times["total_duration"]
    parts = [numbers for key in _PARTS if (numbers := times[key]) is not None]
    if not totals:
        return
    beyond = [
        (sum(map(Fraction, each), Fraction(0)) / Fraction(total) - 1 if total else Fraction(1), at)
        for at, (total, *each) in enumerate(zip(totals, *parts, strict=True))
    ]
    too_long = [(share, at) for share, at in beyond if share > 0]
    if not too_long:
        return
    most, worst = max(too_long)
    draft.find(
        IMPOSSIBLE,
        f"in {len(too_long)} of {len(entries)} responses loading, prompt and generating take "
        f"longer than the whole, by up to {format_number(100 * most, 2)} %",
        "a little is two clocks; more is another file's numbers, or edited ones: "
        f"{UNTOUCHED}",
        *entries[worst][0], "total_duration",
        severity="warning" if most <= _CLOCKS else "error",
    )  # fmt: skip


def _note_cold_starts(draft: RowDraft, times: Mapping[str, Sequence[int | Decimal] | None]) -> None:
    totals, loads = times["total_duration"], times["load_duration"]
    if not totals or not loads:
        return
    cold = sum(
        Fraction(load) > _COLD * Fraction(total) for total, load in zip(totals, loads, strict=True)
    )
    if cold:
        draft.stated["cold"] = f"{cold} of {len(totals)} responses waited for the model to load"
