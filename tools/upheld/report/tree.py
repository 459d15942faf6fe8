"""One record or claim as a tree: its verdict, why, and what that rests on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from upheld.arithmetic.ledger import Ledger
from upheld.judge.evidence import RunEvidence
from upheld.judge.judgement import Judged, Judgement
from upheld.records.assumption import Assumption
from upheld.records.run import Run
from upheld.records.source import Source
from upheld.records.units import format_bytes, format_number
from upheld.report.escape import one_line
from upheld.report.json_format import claim_object
from upheld.report.json_text import VERSION
from upheld.report.text import MARKS

# Of the record itself: its first two lines say these, and each claim is judged below.
_SHOWN_ELSEWHERE = ("kind", "id", "title", "claims")
# Of a frozen record: the text of a whole file.
_TOO_LONG = "text"


def claim_lines(judgement: Judgement, judged: Judged) -> Iterator[str]:
    """The claim, its verdict, and each assumption, source and run below it."""
    claim, outcome = judgement.claim, judgement.outcome
    yield f"{judgement.id}  {MARKS[judgement.verdict]} {judgement.verdict}, by {claim.basis}"
    yield f"  {one_line(claim.says)}"
    expected = f", expected {claim.expect}" if claim.expect else ""
    yield f"  metric {claim.metric}{one_line(expected)}"
    yield f"  because {one_line(outcome.because)}"
    if outcome.value is not None:
        value = outcome.value
        yield f"  {value.kind} {one_line(value.shown)} = {one_line(value.formula)}"
    for piece in outcome.pieces:
        mark = "✓" if piece.counts else "✗"
        case = f", {one_line(piece.case)}" if piece.case else ""
        yield f"  {mark} {piece.run}{case}: {one_line(piece.says)}"
    if judgement.blocks:
        yield "  blocks: a change that holds this claim is stopped"
    if not judgement.rests_on:
        yield "  rests on nothing else"
        return
    yield "  rests on"
    for index, id_ in enumerate(judgement.rests_on):
        branch = "└─" if index == len(judgement.rests_on) - 1 else "├─"
        yield f"  {branch} {id_}: {one_line(ground(id_, judged))}"


def record_lines(id_: str, judged: Judged) -> Iterator[str]:
    """The record with what it links to, what links to it, and its claims."""
    entry = judged.corpus.entries[id_]
    yield f"{id_}  {entry.kind}, {one_line(entry.document.path)}"
    yield f"  {one_line(entry.record.title)}"
    written = entry.document.value.items()
    yield from _facts({key: item for key, item in written if key not in _SHOWN_ELSEWHERE}, "  ")
    if id_ in judged.ledgers:
        yield from _memory(judged.ledgers[id_])
    if id_ in judged.runs:
        yield from _figures(judged.runs[id_])
    linked = linked_from(id_, judged)
    if linked:
        yield f"  linked from {', '.join(linked)}"
    for judgement in judged.of(id_):
        yield ""
        yield from claim_lines(judgement, judged)


def linked_from(id_: str, judged: Judged) -> list[str]:
    """The other records that link to this one."""
    links = judged.corpus.back_links.get(id_, [])
    return sorted({link.source for link in links} - {id_})


def _facts(value: Any, indent: str) -> Iterator[str]:
    """What a mapping or a list of the record says, as it is written."""
    pairs = enumerate(value, start=1) if isinstance(value, list) else value.items()
    for key, item in pairs:
        if key == _TOO_LONG:
            continue
        name = f"{key}." if isinstance(key, int) else one_line(key)
        if isinstance(item, str):
            yield f"{indent}{name} {one_line(item)}"
        elif isinstance(item, list) and all(isinstance(each, str) for each in item):
            yield f"{indent}{name} {one_line(', '.join(item))}"
        else:
            yield f"{indent}{name}"
            yield from _facts(item, indent + "  ")


def _memory(ledger: Ledger) -> Iterator[str]:
    terms = " + ".join(f"{term.name} {format_bytes(term.bytes)}" for term in ledger.terms)
    fits = "fits" if ledger.fits else "does not fit"
    yield f"  computed, one device: {terms} = {format_bytes(ledger.device_total)}"
    yield f"  computed: {fits} the budget of {format_bytes(ledger.budget.bytes)}"


def _figures(evidence: RunEvidence) -> Iterator[str]:
    for row in evidence.rows:
        case = f"{one_line(row.row.case)}: " if row.row.case else ""
        for figure in row.row.figures:
            value = f"{format_number(figure.value)} {figure.unit} ({figure.origin})"
            yield f"  measured, {case}{figure.name} {value}"


def ground(id_: str, judged: Judged) -> str:
    """What an assumption, source or run is, in one line."""
    record = judged.corpus.get(id_)
    match record:
        case Assumption():
            return f"assumed by {record.owner} on {record.date}: {record.title}"
        case Source():
            return f"source, checked {record.checked}: {record.title}"
        case Run():
            return f"run of {record.date} by {record.by}: {record.title}"
        case _:
            return "no valid record"


def claim_tree_object(judgement: Judgement, judged: Judged) -> dict[str, Any]:
    """The claim with its grounds, for scripts."""
    return {
        "version": VERSION,
        **claim_object(judgement),
        "evidence": [
            {"run": piece.run, "case": piece.case, "counts": piece.counts, "says": piece.says}
            for piece in judgement.outcome.pieces
        ],
        "grounds": [{"id": id_, "says": ground(id_, judged)} for id_ in judgement.rests_on],
    }


def record_object(id_: str, judged: Judged) -> dict[str, Any]:
    """The record with its links and judged claims, for scripts."""
    entry = judged.corpus.entries[id_]
    return {
        "version": VERSION,
        "id": id_,
        "kind": entry.kind,
        "title": entry.record.title,
        "path": entry.document.path,
        "sha256": entry.sha256,
        "linked_from": linked_from(id_, judged),
        "claims": [claim_tree_object(each, judged) for each in judged.of(id_)],
    }
