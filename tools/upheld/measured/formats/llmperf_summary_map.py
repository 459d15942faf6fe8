"""LLMPerf: several summaries in one object, such as one for each number of concurrent requests."""

from __future__ import annotations

from upheld.measured import llmperf
from upheld.measured.content import Content
from upheld.measured.draft import RowDraft
from upheld.measured.formats import llmperf_summary
from upheld.measured.reading import Reading

NAME = "llmperf-summary-map"
TOOL = llmperf.TOOL
TITLE = "LLMPerf: summaries by name, JSON"


def recognise(content: Content) -> bool:
    """One object that holds summaries and nothing else."""
    if len(content.documents) != 1:
        return False
    runs = content.documents[0].value
    return (
        isinstance(runs, dict)
        and bool(runs)
        and all(map(llmperf_summary.is_summary, runs.values()))
    )


def read(content: Content) -> Reading:
    """One row a summary, in the order of the file."""
    runs = content.documents[0].value
    assert isinstance(runs, dict), "recognise() saw an object"
    drafts = [
        RowDraft(content, 0, (name,), run, name)
        for name, run in runs.items()
        if isinstance(run, dict)
    ]
    return Reading(tuple(map(llmperf_summary.read_summary, drafts)))
