"""A page: a path, a title and a body of Markdown that any generator can take."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import escape

from upheld.site.user_text import without_controls

# A template marks its headings with this; no text of a record can hold it.
HEADING_MARK = "\x1e"

# Preprocessors of Markdown extensions look for these at any place, also within HTML.
_ENTITIES = str.maketrans({mark: f"&#{ord(mark)};" for mark in "`~{}"})


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the site.

    `body` has headings in Markdown, for tables of contents, and each HTML block on one line
    between them, so that nothing in a block can be taken for Markdown. `search_boost` is None
    where a search should leave the page out, because it only repeats others.
    """

    path: str
    title: str
    body: str
    search_boost: float | None = 1.0

    def markdown(self, **meta: Any) -> str:
        """The page as a file with front matter. The title in it is HTML, as themes expect."""
        front: Mapping[str, Any] = {
            "title": str(escape(without_controls(self.title))).translate(_ENTITIES),
            "search": {"exclude": True}
            if self.search_boost is None
            else {"boost": self.search_boost},
            **meta,
        }
        lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in front.items()]
        return "\n".join(["---", *lines, "---", "", self.body])


def body_of(rendered: str) -> str:
    """The body of a page from what its template gave: headings, and blocks between them."""
    blocks: list[str] = []
    for index, piece in enumerate(rendered.split(HEADING_MARK)):
        if index % 2:
            blocks.append(f"## {piece}")
        elif piece.strip():
            html = re.sub(r"\s*\n\s*", " ", piece.strip()).translate(_ENTITIES)
            blocks.append(f'<div class="uph">{html}</div>')
    return "\n\n".join(blocks) + "\n"
