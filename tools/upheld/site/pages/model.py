"""A model: its shape, and where each fact of it comes from."""

from __future__ import annotations

from collections.abc import Iterator

from upheld.judge.judgement import Judged
from upheld.records.model import Model
from upheld.site.links import Links
from upheld.site.pages.facts import facts_of
from upheld.site.pages.page import Page
from upheld.site.pages.record import record_page


def pages(judged: Judged, links: Links) -> Iterator[Page]:
    """One page for each model."""
    for model in judged.corpus.of(Model):
        facts = list(facts_of(model, Model.model_fields))
        yield record_page(judged, links, model, "facts.html", facts=facts)
