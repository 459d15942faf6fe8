"""A source: what it is used for, how long ago it was checked, and what rests on it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from upheld.judge.judgement import Judged
from upheld.records.source import Source
from upheld.site.links import Links
from upheld.site.pages.page import Page
from upheld.site.pages.record import record_page
from upheld.site.pages.view import counted, day


def pages(judged: Judged, links: Links) -> Iterator[Page]:
    """One page for each source."""
    for source in judged.corpus.of(Source):
        days = (judged.as_of - source.checked).days
        yield record_page(judged, links, source, "source.html", age=_age(days, judged.as_of))


def _age(days: int, as_of: date) -> str:
    if days < 0:
        return "in the future"
    return "the day of judging" if days == 0 else f"{counted(days, 'day')} before {day(as_of)}"
