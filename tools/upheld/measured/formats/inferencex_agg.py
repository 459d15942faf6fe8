"""InferenceX: the aggregated result of one operating point, one flat object."""

from __future__ import annotations

from upheld.measured import inferencex
from upheld.measured.content import Content
from upheld.measured.draft import RowDraft
from upheld.measured.reading import Reading

NAME = "inferencex-agg"
TOOL = "InferenceX"
TITLE = "InferenceX: aggregated result of an operating point, JSON"


def recognise(content: Content) -> bool:
    """One object with the keys of an operating point."""
    return len(content.documents) == 1 and inferencex.is_point(content.documents[0].value)


def read(content: Content) -> Reading:
    """One row: the operating point."""
    point = content.documents[0].value
    assert isinstance(point, dict), "recognise() saw an object"
    return Reading((inferencex.read_point(RowDraft(content, 0, (), point)),))
