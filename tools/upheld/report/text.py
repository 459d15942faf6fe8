"""Results for people on a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import click

from upheld.judge.judgement import Judged, Judgement
from upheld.records.metrics import BASES
from upheld.records.units import count
from upheld.records.verdicts import VERDICTS, Verdict
from upheld.report.finding_text import finding_lines, in_order

MARKS: dict[Verdict, str] = {
    "upheld": "✓",
    "contradicted": "✗",
    "unsupported": "✗",
    "insufficient": "✗",
    "out-of-envelope": "✗",
    "wrong-basis": "✗",
    "stale": "!",
    "assumed": "~",
    "untested": "○",
}


def check_lines(judged: Judged) -> Iterator[str]:
    """Every finding, the ledger of claims, and the gate's last word."""
    for finding in in_order(judged.findings):
        yield from finding_lines(finding)
        yield ""
    yield from _ledger(judged.judgements)
    yield ""
    yield _last_word(judged)


def _ledger(judgements: list[Judgement]) -> Iterator[str]:
    if not judgements:
        yield "No record makes a claim."
        return
    counted = Counter((each.claim.basis, each.verdict) for each in judgements)
    columns = [verdict for verdict in VERDICTS if any(key[1] == verdict for key in counted)]
    bases = [basis for basis in BASES if any(key[0] == basis for key in counted)]
    yield f"{'basis':<12}" + "".join(f"{MARKS[each]} {each}".rjust(18) for each in columns)
    for basis in bases:
        cells = (counted[basis, verdict] for verdict in columns)
        yield f"{basis:<12}" + "".join((str(cell) if cell else "·").rjust(18) for cell in cells)


def _last_word(judged: Judged) -> str:
    errors = sum(finding.severity == "error" for finding in judged.findings)
    warnings = len(judged.findings) - errors
    read = (
        f"{count(len(judged.corpus.entries), 'record')}, {count(len(judged.judgements), 'claim')}"
    )
    rejected = judged.corpus.rejected
    if rejected:
        read += f"; {count(rejected, 'file')} without a valid record, whose claims were not judged"
    warned = f", {count(warnings, 'warning')}" if warnings else ""
    if errors:
        stop = click.style("Blocked", fg="red", bold=True)
        return f"{stop}: {count(errors, 'error')}{warned} in {read}."
    go = click.style("Nothing blocks", fg="green", bold=True)
    return f"{go}: {read}{warned}."
