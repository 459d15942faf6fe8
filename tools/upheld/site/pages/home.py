"""The ledger: how many claims there are of each basis and verdict, and what blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from upheld.judge.judgement import Judged
from upheld.records.adr import Adr
from upheld.records.metrics import BASES
from upheld.records.verdicts import VERDICTS
from upheld.site.links import Links
from upheld.site.pages.page import Page
from upheld.site.pages.template import render
from upheld.site.pages.view import View


def pages(judged: Judged, links: Links) -> Iterator[Page]:
    """The one page that a reader begins at."""
    counted = Counter((each.claim.basis, each.verdict) for each in judged.judgements)
    used = {each.verdict for each in judged.judgements}
    body = render(
        "home.html",
        View(judged, links, links.home),
        judged=judged,
        holders=len({each.holder.id for each in judged.judgements}),
        blocked=[each for each in judged.judgements if each.blocks],
        columns=[verdict for verdict in VERDICTS if verdict in used or verdict == "upheld"],
        matrix=[
            (basis, {verdict: counted[basis, verdict] for verdict in VERDICTS}) for basis in BASES
        ],
        adrs=judged.corpus.of(Adr),
        errors=[each for each in judged.findings if each.severity == "error"],
        warnings=[each for each in judged.findings if each.severity == "warning"],
    )
    yield Page(links.home, "Ledger", body, search_boost=1.5)
