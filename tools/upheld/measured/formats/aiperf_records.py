"""AIPerf: the requests of a run, one JSON object a line.

Statistics are worked out as the summary of the same run has them (aiperf 0.13.0,
metrics/metric_dicts.py): percentiles `linear`, deviations of a population, failed requests left
out; the duration is from the first start to the last response of the successful ones
(`MaxResponseTimestampMetric`). Whether a file holds all requests of its run it does not say.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from upheld.corpus.strict_json import Json
from upheld.measured.content import Content
from upheld.measured.distribution import Distribution
from upheld.measured.draft import IMPOSSIBLE, UNTOUCHED, RowDraft
from upheld.measured.perf_summary import DOUBTS, LATENCIES, NOTES
from upheld.measured.reading import Mean, Reading, Requests, Row
from upheld.measured.recompute import Values
from upheld.measured.server_axes import SERVER_AXES
from upheld.records.units import UNITS, format_number

NAME = "aiperf-records"
TOOL = "AIPerf"
TITLE = "AIPerf: single requests of a run, JSON Lines"

_NOT_STATED = ("model", *SERVER_AXES, "concurrency", "request_rate")
_HELD = "of the requests that the file holds; that these are all of the run it does not say"
_LENGTHS = {
    "input_sequence_length": ("tokens.input.total", "input_tokens"),
    "output_sequence_length": ("tokens.output.total", "output_tokens"),
}
_DIMENSIONS = dict.fromkeys(LATENCIES, "time") | dict.fromkeys(_LENGTHS, "tokens")
_MILLISECOND = 10**6
_MOST_DOUBTFUL = 20
# Start and end are told by the wall clock, a latency by one that no clock service sets.
_CLOCKS = Fraction(101, 100)


def recognise(content: Content) -> bool:
    """Objects, one or several, each a request with its start and what was measured of it."""
    return bool(content.documents) and all(_is_record(each.value) for each in content.documents)


def _is_record(value: Json) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(metadata := value.get("metadata"), dict)
        and "request_start_ns" in metadata
        and "benchmark_phase" in metadata
        and isinstance(value.get("metrics"), dict)
    )


@dataclass(slots=True)
class _Measured:
    """The values of successful requests by tag, and when each began and ended, in ns."""

    values: dict[str, list[int | Decimal]] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    began: list[Fraction] = field(default_factory=list)
    ended: list[Fraction] = field(default_factory=list)
    succeeded: int = 0
    failed: int = 0
    doubtful: int = 0


def read(content: Content) -> Reading:
    """One row: the run that all of the requests are of."""
    first = content.documents[0].value
    assert isinstance(first, dict), "recognise() saw objects"
    draft = RowDraft(content, 0, (), first)
    measured = _Measured()
    for request in _requests(content):
        _take(draft, request, measured)
    return Reading((_row(draft, measured),))


def _requests(content: Content) -> Iterator[RowDraft]:
    """Each measured request: those of a warm-up are none."""
    for index, document in enumerate(content.documents):
        assert isinstance(document.value, dict), "recognise() saw objects"
        request = RowDraft(content, index, (), document.value)
        if request.get("metadata", "benchmark_phase") != "warmup":
            yield request


def _take(draft: RowDraft, request: RowDraft, measured: _Measured) -> None:
    if request.get("error") is not None or request.get("metadata", "was_cancelled") is True:
        measured.failed += 1
        return
    measured.succeeded += 1
    for tag, dimension in _DIMENSIONS.items():
        value = request.number("metrics", tag, "value")
        unit = request.get("metrics", tag, "unit")
        if value is None:
            continue
        if not isinstance(unit, str) or unit not in UNITS or UNITS[unit].dimension != dimension:
            request.find(IMPOSSIBLE, f"{tag} has no unit of {dimension}", UNTOUCHED, "metrics", tag)
        elif measured.units.setdefault(tag, unit) != unit:
            request.find(
                IMPOSSIBLE,
                f"{tag} is in {unit} here and in {measured.units[tag]} before",
                UNTOUCHED,
                "metrics", tag,
            )  # fmt: skip
        else:
            measured.values.setdefault(tag, []).append(value)
    _take_times(request, measured)
    if measured.doubtful < _MOST_DOUBTFUL and draft.adopt(request):
        measured.doubtful += 1


def _take_times(request: RowDraft, measured: _Measured) -> None:
    """When a request began and ended; a part of it that is longer than the whole is a finding."""
    start = request.count("metadata", "request_start_ns")
    end = request.count("metadata", "request_end_ns")
    latency = request.number("metrics", "request_latency", "value")
    first = request.number("metrics", "time_to_first_token", "value")
    if start is None or latency is None or measured.units.get("request_latency") != "ms":
        return
    took = Fraction(latency) * _MILLISECOND
    measured.began.append(Fraction(start))
    measured.ended.append(start + took)
    if end is not None and took > (end - start) * _CLOCKS + _MILLISECOND:
        request.find(
            IMPOSSIBLE,
            f"request_latency is {latency} ms, but the request was open for "
            f"{format_number(Fraction(end - start, _MILLISECOND))} ms",
            UNTOUCHED,
            "metrics", "request_latency",
        )  # fmt: skip
    same = measured.units.get("time_to_first_token") == measured.units["request_latency"]
    if first is not None and first > latency and same:
        request.find(
            IMPOSSIBLE,
            "time_to_first_token is longer than request_latency",
            UNTOUCHED,
            "metrics", "time_to_first_token",
        )  # fmt: skip


def _row(draft: RowDraft, measured: _Measured) -> Row:
    held = measured.succeeded + measured.failed
    for name, count in (
        ("recorded", held), ("completed", measured.succeeded), ("failed", measured.failed),
    ):  # fmt: skip
        draft.recompute(f"requests.{name}", "requests", Fraction(count), note=_HELD)
    for tag, (total, axis) in _LENGTHS.items():
        lengths = measured.values.get(tag)
        if not lengths:
            continue
        values = Values(lengths)
        draft.recompute(total, "tokens", values.total, note=_HELD)
        if values.smallest == values.largest and values.smallest.denominator == 1:
            draft.envelope[axis] = int(values.smallest)
        else:
            draft.means[axis] = Mean(values.mean, varies=True)
            draft.stated[axis] = (
                f"from {format_number(values.smallest)} to {format_number(values.largest)}"
            )
    _read_rates(draft, measured)
    for tag, names in LATENCIES.items():
        _read_latency(draft, measured, tag, names)
    open_axes = [axis for _, axis in _LENGTHS.values() if axis not in draft.envelope]
    open_axes = [axis for axis in open_axes if axis not in draft.means]
    return draft.finish(
        (*_NOT_STATED, *open_axes), Requests(measured.succeeded, measured.failed, held)
    )


def _read_rates(draft: RowDraft, measured: _Measured) -> None:
    if not measured.began or len(measured.began) != measured.succeeded:
        return
    duration = (max(measured.ended) - min(measured.began)) / 10**9
    draft.recompute("duration", "s", duration, note="from the first start to the last response")
    if not duration:
        return
    for name, unit, amount in (
        ("throughput.requests", "requests/s", Fraction(measured.succeeded)),
        ("throughput.output_tokens", "tokens/s", draft.value("tokens.output.total")),
    ):
        if amount is not None:
            draft.recompute(name, unit, amount / duration, note=_HELD)


def _read_latency(draft: RowDraft, measured: _Measured, tag: str, names: tuple[str, ...]) -> None:
    entries = measured.values.get(tag)
    if not entries:
        return
    values = Values(entries)
    for name in names:
        distribution = Distribution(
            name, measured.units[tag], dict.fromkeys(("mean", "min", "max", "std"), ())
        )
        draft.samples[name] = len(values)
        if name in DOUBTS:
            draft.doubts[name] = DOUBTS[name]
        distribution.recompute(draft, values, Fraction(1), NOTES.get(name))
