"""A kind of device: its facts, and where each of them comes from."""

from __future__ import annotations

from collections.abc import Iterator

from upheld.judge.judgement import Judged
from upheld.records.device import Device
from upheld.site.links import Links
from upheld.site.pages.facts import facts_of
from upheld.site.pages.page import Page
from upheld.site.pages.record import record_page


def pages(judged: Judged, links: Links) -> Iterator[Page]:
    """One page for each device."""
    for device in judged.corpus.of(Device):
        facts = list(facts_of(device, Device.model_fields))
        yield record_page(judged, links, device, "facts.html", facts=facts)
