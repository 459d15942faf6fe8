"""A decision: what was decided, on which claims, and how to learn it."""

from __future__ import annotations

from collections.abc import Iterator

from upheld.judge.judgement import Judged
from upheld.records.adr import Adr
from upheld.site.links import Links
from upheld.site.pages.page import Page
from upheld.site.pages.record import record_page


def pages(judged: Judged, links: Links) -> Iterator[Page]:
    """One page for each decision."""
    for adr in judged.corpus.of(Adr):
        yield record_page(
            judged,
            links,
            adr,
            "adr.html",
            search_boost=2.0,
            taken=next(option for option in adr.options if option.id == adr.decision.option),
            superseded_by=judged.corpus.superseded_by(adr.id),
        )
