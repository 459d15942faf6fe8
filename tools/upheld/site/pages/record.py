"""What the pages of all kinds of record have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from upheld.judge.judgement import Judged
from upheld.records.types import Record
from upheld.site.links import Links
from upheld.site.pages.page import Page
from upheld.site.pages.template import render
from upheld.site.pages.view import View
from upheld.site.paths import DECISIONS, EVIDENCE, page_path


@dataclass(frozen=True, slots=True)
class Fact:
    """A field of a record by its own name: its value, and the record that it links to."""

    name: str
    value: str | None
    link: str | None = None


def record_page(
    judged: Judged,
    links: Links,
    record: Record,
    template: str,
    *,
    search_boost: float = 1.0,
    **values: Any,
) -> Page:
    """The page of one record, from the template of its kind."""
    entry = judged.corpus.entries[record.id]
    view = View(judged, links, page_path(entry.kind, record.id))
    parent = ("Decisions", DECISIONS) if entry.kind == "adr" else ("Evidence", EVIDENCE)
    body = render(
        template,
        view,
        record=record,
        entry=entry,
        trail=[("Home", view.home()), (parent[0], view.to(parent[1]))],
        judgements=judged.of(record.id),
        **values,
    )
    title = f"{record.id}: {record.title}" if entry.kind == "adr" else record.title
    return Page(view.path, title, body, search_boost)
