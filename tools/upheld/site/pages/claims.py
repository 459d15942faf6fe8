"""All claims, by basis and verdict: where the counts of the ledger lead."""

from __future__ import annotations

from collections.abc import Iterator

from upheld.judge.judgement import Judged, Judgement
from upheld.records.metrics import BASES, Basis
from upheld.records.verdicts import VERDICTS, Verdict
from upheld.site.links import Links
from upheld.site.pages.page import Page
from upheld.site.pages.template import render
from upheld.site.pages.view import View
from upheld.site.paths import CLAIMS


def pages(judged: Judged, links: Links) -> Iterator[Page]:
    """One page, which a search leaves out because it repeats what others say."""
    view = View(judged, links, CLAIMS)
    groups = [(basis, _lists(judged, basis)) for basis in BASES]
    body = render(
        "claims.html",
        view,
        trail=[("Home", view.home())],
        groups=[(basis, lists) for basis, lists in groups if lists],
    )
    yield Page(CLAIMS, "Claims", body, search_boost=None)


def _lists(judged: Judged, basis: Basis) -> list[tuple[Verdict, list[Judgement]]]:
    of_basis = [each for each in judged.judgements if each.claim.basis == basis]
    lists = ((name, [each for each in of_basis if each.verdict == name]) for name in VERDICTS)
    return [(name, found) for name, found in lists if found]
