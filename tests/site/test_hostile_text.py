"""Whatever stands in a record, a page has the same elements as with harmless text."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import markdown
import pytest
import yaml

from small_corpus import SmallCorpus
from upheld.corpus.load import load_texts
from upheld.judge.judge import judge_corpus
from upheld.site.links import Links
from upheld.site.pages import render_all

EXTENSIONS = [
    "admonition",
    "attr_list",
    "def_list",
    "footnotes",
    "md_in_html",
    "tables",
    "toc",
    "pymdownx.snippets",
    "pymdownx.superfences",
    "pymdownx.tabbed",
    "pymdownx.tilde",
]
CORPUS = Path(__file__).parent / "corpus"
VOID = {"br", "hr", "img", "input", "link", "meta", "path", "rect", "line"}
PLAIN = "plain text"
# Fields whose values are chosen from a list, or are ids, dates and quantities.
FIXED = {
    "kind", "id", "status", "date", "depth", "option", "basis", "metric", "expect", "deployment",
    "concurrency", "review", "source", "max_age", "failure", "seconds", "state", "assessed_on",
    "after_days", "supersedes", "related", "sources", "assumes",
}  # fmt: skip

PAYLOADS = [
    "</title><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "{{ 7 * 7 }} {% raw %} {# x #}",
    "# heading {: onclick=alert(1) }",
    "{: .uph-verdict-upheld }",
    "| a | b |",
    "!!! danger",
    "``` mermaid",
    "~~~~",
    "--8<-- 'mkdocs.yml'",
    '--8<-- "mkdocs.yml"',
    "&#x3c;script&#x3e;alert(1)&lt;/script&gt;",
    "<!-- comment",
    "]]> <![CDATA[ x",
    "<div markdown='1'># x</div>",
    "</div></div></div>",
    "[TOC]",
    "[^1] [x][y] ![z](https://evil.example/z.png)",
    "*a* _b_ ~~c~~ `d` \\e",
    '=== "Tab"',
    "&",
]


class Skeleton(HTMLParser):
    """Elements with the names of their attributes, but for what stands in a Markdown field."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.open: list[str] = []
        self.prose_depth: int | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = tuple(sorted(name for name, _ in attrs))
        assert not any(name.startswith("on") or name == "style" for name in names), names
        assert tag not in {"script", "iframe", "img", "form", "base", "meta", "style", "object"}
        for name, value in attrs:
            if name == "href":
                assert not (value or "").lower().startswith(("javascript", "data", "file")), value
        if self.prose_depth is None:
            self.elements.append((tag, names))
        if tag in VOID:
            return
        self.open.append(tag)
        if self.prose_depth is None and ("class", "uph-prose") in attrs:
            self.prose_depth = len(self.open)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag
        if self.prose_depth is not None and len(self.open) < self.prose_depth:
            self.prose_depth = None


def with_text(value: Any, text: str, key: str = "") -> Any:
    """The record with `text` in every field that anybody may write freely."""
    if isinstance(value, dict):
        return {name: with_text(item, text, name) for name, item in value.items()}
    if isinstance(value, list):
        if key in FIXED and all(isinstance(item, str) for item in value):
            return value
        return [with_text(item, text, "" if isinstance(item, dict) else key) for item in value]
    return value if key in FIXED else text


def skeletons(small: SmallCorpus, text: str) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    texts = {
        str(file.relative_to(small.root)): file.read_text()
        for file in sorted(small.root.rglob("*.yaml"))
    }
    path = "adrs/ADR-002-full.yaml"
    record = yaml.load((CORPUS / path).read_text(), yaml.BaseLoader)
    texts[path] = yaml.safe_dump(with_text(record, text), allow_unicode=True, width=10_000)
    corpus = load_texts(small.root, texts)
    assert "ADR-002" in corpus.entries, corpus.findings
    made = {}
    for page in render_all(judge_corpus(corpus), Links()):
        parser = Skeleton()
        parser.feed(markdown.markdown(page.body, extensions=EXTENSIONS))
        parser.close()
        assert parser.open == [], page.path
        made[page.path] = parser.elements
        front = yaml.safe_load(page.markdown().split("---\n")[1])
        assert "<" not in front["title"]
        assert "{" not in front["title"]
    return made


def lines_of(folder: Path) -> Iterator[tuple[str, str]]:
    for file in sorted((folder / "attacks" / "md").glob("*.md")):
        body = file.read_text(encoding="utf-8", errors="replace").split("---\n", 2)[-1]
        yield file.name, " ".join(body.split())[:500]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_text_stays_text(small: SmallCorpus, payload: str) -> None:
    assert skeletons(small, payload) == skeletons(small, PLAIN)


@pytest.mark.corpus
def test_the_attacks_of_others_stay_text(small: SmallCorpus, corpora: Path) -> None:
    harmless = skeletons(small, PLAIN)
    for name, line in lines_of(corpora):
        assert skeletons(small, line) == harmless, name


def test_braces_and_fences_reach_no_extension(small: SmallCorpus) -> None:
    texts = {"adrs/ADR-002-full.yaml": (CORPUS / "adrs/ADR-002-full.yaml").read_text()}
    texts = {
        path: text.replace("What was", "{{ x }} ``` ~~~ What was") for path, text in texts.items()
    }
    for page in render_all(judge_corpus(load_texts(small.root, texts)), Links()):
        assert not set("{}`~") & set(page.body), page.path
