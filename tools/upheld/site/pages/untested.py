"""What nobody has shown: untested, assumed and unsupported claims, soonest review first."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from upheld.judge.judgement import Judged
from upheld.records.verdicts import Verdict
from upheld.site.links import Links
from upheld.site.pages.page import Page
from upheld.site.pages.template import render
from upheld.site.pages.view import View
from upheld.site.paths import UNTESTED

OPEN: tuple[Verdict, ...] = ("unsupported", "untested", "assumed")


def pages(judged: Judged, links: Links) -> Iterator[Page]:
    """One page."""
    view = View(judged, links, UNTESTED)
    groups = [
        (
            verdict,
            sorted(
                (each for each in judged.judgements if each.verdict == verdict),
                key=lambda each: each.claim.review or date.max,
            ),
        )
        for verdict in OPEN
    ]
    body = render("untested.html", view, trail=[("Home", view.home())], groups=groups)
    yield Page(UNTESTED, "Untested", body)
