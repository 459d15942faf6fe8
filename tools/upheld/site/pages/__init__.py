"""The pages of the site, one module a kind of page, in code that knows no generator."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from upheld.judge.judgement import Judged
from upheld.site.links import Links
from upheld.site.pages import (
    adr,
    assumption,
    claims,
    decisions,
    deployment,
    device,
    evidence,
    home,
    model,
    policy,
    run,
    snapshot,
    source,
    untested,
)
from upheld.site.pages.page import Page

Maker = Callable[[Judged, Links], Iterator[Page]]

MAKERS: tuple[Maker, ...] = (
    home.pages,
    decisions.pages,
    evidence.pages,
    untested.pages,
    claims.pages,
    adr.pages,
    deployment.pages,
    model.pages,
    device.pages,
    run.pages,
    policy.pages,
    source.pages,
    assumption.pages,
    snapshot.pages,
)


def render_all(judged: Judged, links: Links) -> list[Page]:
    """Every page of a judged corpus, in the order of the makers and then of ids."""
    return [page for maker in MAKERS for page in maker(judged, links)]
