"""A trace in Chrome's format, as the PyTorch profiler writes it: recognised, and what it spans.

Times are microseconds. What took how long is for a profiler to add up; nothing of it is a figure
here but the span of the trace.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from upheld.corpus.strict_json import Json
from upheld.measured.content import Content
from upheld.measured.draft import NOT_MEASURED, RowDraft
from upheld.measured.printed import is_number, shown
from upheld.measured.reading import Reading

NAME = "chrome-trace"
TOOL = "PyTorch profiler"
TITLE = "PyTorch profiler and others: trace in Chrome's format, JSON"

_MOST_KINDS = 20


def recognise(content: Content) -> bool:
    """One object with a list of trace events, or a list of them alone."""
    if len(content.documents) != 1:
        return False
    return _events(content.documents[0].value) is not None


def _events(value: Json) -> list[Json] | None:
    events = value.get("traceEvents") if isinstance(value, dict) else None
    if isinstance(value, list) and value and all(map(_is_event, value)):
        return value
    return events if isinstance(events, list) else None


def _is_event(value: Json) -> bool:
    return isinstance(value, dict) and isinstance(value.get("ph"), str) and "name" in value


def read(content: Content) -> Reading:
    """One row: how many events of which kinds, and the time from the first to the last."""
    value = content.documents[0].value
    events = _events(value)
    assert events is not None, "recognise() saw them"
    draft = RowDraft(content, 0, (), value if isinstance(value, dict) else {})
    kinds: dict[str, int] = {}
    starts: list[Fraction] = []
    ends: list[Fraction] = []
    for event in events:
        if not isinstance(event, dict):
            continue
        kind = event.get("cat")
        if isinstance(kind, str):
            kinds[kind] = kinds.get(kind, 0) + 1
        at, lasts = event.get("ts"), event.get("dur", 0)
        if event.get("ph") == "X" and is_number(at) and is_number(lasts):
            assert isinstance(at, int | Decimal)
            assert isinstance(lasts, int | Decimal)
            starts.append(Fraction(at))
            ends.append(Fraction(at) + Fraction(lasts))
    draft.stated["events"] = f"{len(events):,}"
    for kind in sorted(kinds, key=lambda each: -kinds[each])[:_MOST_KINDS]:
        draft.stated[f"events_{shown(kind)}"] = f"{kinds[kind]:,}"
    if starts:
        draft.recompute(
            "duration", "us", max(ends) - min(starts), note="from the first event to the last"
        )
    else:
        draft.find(
            NOT_MEASURED,
            "the trace holds no event with a duration",
            "profile at least one step",
            "traceEvents",
        )
    return Reading((draft.finish(("model", "engine", "device")),))
