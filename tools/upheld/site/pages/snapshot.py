"""A snapshot: what was frozen, and the verdicts as they were given then."""

from __future__ import annotations

from collections.abc import Iterator

from upheld.judge.judgement import Judged
from upheld.records.snapshot import Snapshot
from upheld.site.links import Links
from upheld.site.pages.page import Page
from upheld.site.pages.record import record_page


def pages(judged: Judged, links: Links) -> Iterator[Page]:
    """One page for each snapshot."""
    for snapshot in judged.corpus.of(Snapshot):
        yield record_page(judged, links, snapshot, "snapshot.html", search_boost=0.2)
