"""The list of decisions."""

from __future__ import annotations

from collections.abc import Iterator

from upheld.judge.judgement import Judged
from upheld.records.adr import Adr
from upheld.site.links import Links
from upheld.site.pages.page import Page
from upheld.site.pages.template import render
from upheld.site.pages.view import View
from upheld.site.paths import DECISIONS


def pages(judged: Judged, links: Links) -> Iterator[Page]:
    """One page."""
    view = View(judged, links, DECISIONS)
    body = render(
        "decisions.html",
        view,
        judged=judged,
        trail=[("Home", view.home())],
        adrs=judged.corpus.of(Adr),
        blocked=[
            each for each in judged.judgements if each.blocks and isinstance(each.holder, Adr)
        ],
    )
    yield Page(DECISIONS, "Decisions", body)
