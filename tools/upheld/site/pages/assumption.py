"""An assumption: who takes what as given, why, and what rests on it."""

from __future__ import annotations

from collections.abc import Iterator

from upheld.judge.judgement import Judged
from upheld.records.assumption import Assumption
from upheld.site.links import Links
from upheld.site.pages.page import Page
from upheld.site.pages.record import record_page


def pages(judged: Judged, links: Links) -> Iterator[Page]:
    """One page for each assumption."""
    for assumption in judged.corpus.of(Assumption):
        yield record_page(judged, links, assumption, "assumption.html")
