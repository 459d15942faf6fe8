"""A run: its raw files, the envelope that they and the record state, and its figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from upheld.judge.evidence import RunEvidence
from upheld.judge.judgement import Judged
from upheld.measured.reading import Capture, Row
from upheld.records.claim import Axes
from upheld.records.envelope import AXES
from upheld.records.run import Run
from upheld.site.links import Links
from upheld.site.pages.page import Page
from upheld.site.pages.record import record_page
from upheld.site.pages.view import plain


@dataclass(frozen=True, slots=True)
class EnvelopeAxis:
    """One axis: what the files say, what the record adds; both empty where nobody said."""

    title: str
    file: str
    record: str


def pages(judged: Judged, links: Links) -> Iterator[Page]:
    """One page for each run."""
    for run in judged.corpus.of(Run):
        evidence = judged.runs.get(run.id) or RunEvidence(run, (), (), ())
        record_path = judged.corpus.entries[run.id].document.path
        yield record_page(
            judged,
            links,
            run,
            "run.html",
            search_boost=1.5,
            readings={reading.path: reading for reading in evidence.readings},
            captures=evidence.captures,
            rows=evidence.rows,
            envelope=list(_envelope(run, evidence)),
            findings=[each for each in evidence.findings if each.place.path != record_path],
        )


def _envelope(run: Run, evidence: RunEvidence) -> Iterator[EnvelopeAxis]:
    rows = [row.row for row in evidence.rows]
    open_axes = {name for row in rows for name in row.not_stated}
    for name, axis in AXES.items():
        in_files = _values(name, rows, evidence.captures)
        in_record = getattr(run.states, name) if name in Axes.model_fields else None
        if in_files or in_record is not None or name in open_axes:
            record = "" if in_record is None else plain(in_record)
            yield EnvelopeAxis(axis.title[0].upper() + axis.title[1:], in_files, record)


def _values(name: str, rows: list[Row], captures: list[Capture]) -> str:
    found = [_value(name, row) for row in rows]
    found += [plain(each.envelope[name]) for each in captures if name in each.envelope]
    return ", ".join(dict.fromkeys(value for value in found if value))


def _value(name: str, row: Row) -> str:
    if name in row.envelope:
        return plain(row.envelope[name])
    mean = row.means.get(name)
    if mean is None:
        return ""
    return f"{plain(mean.value)} on average{', requests differ' if mean.varies else ''}"
