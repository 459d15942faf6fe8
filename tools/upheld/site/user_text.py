"""Markdown that anybody may have written, as HTML that can do nothing but be read.

No HTML, no images, no link but http, https and mailto, no heading that could pass for one of the
page's own. The result has no line breaks: a page's body keeps each HTML block on a single line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup

# Beyond this many emphasis marks the time that they take grows with their square.
MAX_EMPHASIS_MARKS = 1_000

_ALLOWED_LINK = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x20\x7f]+", re.IGNORECASE)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


def without_controls(text: str) -> str:
    """`text` without control characters; tabs and newlines stay."""
    return _CONTROL.sub("", text)


def prose(text: str) -> Markup:
    """A Markdown field as a `div` of class `uph-prose`."""
    text = without_controls(text)
    if text.count("*") + text.count("_") > MAX_EMPHASIS_MARKS:
        html = f"<p>{escapeHtml(text)}</p>"
    else:
        html = _renderer().render(text)
    return Markup(f'<div class="uph-prose">{on_one_line(html)}</div>')  # noqa: S704  # made here


def on_one_line(html: str) -> str:
    """HTML that reads the same without a line break; those of code stay, as entities."""
    return html.strip().replace("\n", " ")


@cache
def _renderer() -> MarkdownIt:
    markdown = MarkdownIt("js-default", {"html": False, "linkify": False, "typographer": False})
    markdown.disable("image")
    markdown.validateLink = lambda url: _ALLOWED_LINK.fullmatch(url) is not None  # type: ignore[method-assign]
    assert isinstance(markdown.renderer, RendererHTML)
    rules: dict[str, Any] = {
        "heading_open": lambda *_: '<p class="uph-prose-heading">',
        "heading_close": lambda *_: "</p>",
        "table_open": lambda *_: (
            '<div class="uph-scroll" tabindex="0" role="region" aria-label="Table"><table>'
        ),
        "table_close": lambda *_: "</table></div>",
        "fence": _code,
        "code_block": _code,
        "link_open": _link_open,
    }
    markdown.renderer.rules.update(rules)
    return markdown


def _code(tokens: Sequence[Token], index: int, *_: Any) -> str:
    content = escapeHtml(tokens[index].content.rstrip("\n")).replace("\n", "&#10;")
    return f"<pre><code>{content}</code></pre>"


def _link_open(tokens: Sequence[Token], index: int, *_: Any) -> str:
    href = escapeHtml(str(tokens[index].attrGet("href")))
    return f'<a href="{href}" rel="noopener noreferrer">'
