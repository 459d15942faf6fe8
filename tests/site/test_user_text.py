"""Markdown fields become HTML that can only be read."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from upheld.site.user_text import prose


def test_markdown_is_rendered_on_one_line() -> None:
    html = prose("One **bold** word\nand the next line.\n\n- a list")
    assert "<strong>bold</strong>" in html
    assert "<li>a list</li>" in html
    assert "\n" not in html
    assert html.startswith('<div class="uph-prose">')


def test_code_keeps_its_line_breaks_as_entities() -> None:
    assert "<pre><code>a&#10;b</code></pre>" in prose("```mermaid\na\nb\n```")


def test_a_web_link_has_rel() -> None:
    link = '<a href="https://example.org/" rel="noopener noreferrer">x</a>'
    assert link in prose("[x](https://example.org/)")
    assert 'href="mailto:a@example.org"' in prose("[x](mailto:a@example.org)")


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "javascript&colon;alert(1)",
        "vbscript:x",
        "data:text/html,x",
        "file:///etc/passwd",
        "//evil.example/x",
        "smb://evil/x",
        "../up.html",
        "#claim-fits",
    ],
)
def test_no_other_link_is_made(address: str) -> None:
    assert "<a " not in prose(f"[x]({address})")
    assert "<a " not in prose(f"<{address}>")
    assert "<a " not in prose(f"[x]\n\n[x]: {address}")


def test_html_and_images_are_not_made() -> None:
    html = prose("<script>alert(1)</script> ![x](https://evil.example/x.png) <b onclick=x>")
    assert "<script" not in html
    assert "<img" not in html
    assert "<b " not in html


def test_a_heading_of_a_user_is_none_of_the_page() -> None:
    html = prose("# Verdict: upheld")
    assert "<h1" not in html
    assert '<p class="uph-prose-heading">Verdict: upheld</p>' in html


def test_many_emphasis_marks_take_little_time() -> None:
    started = time.process_time()
    prose("*a _b " * 8_000)
    assert time.process_time() - started < 1


@pytest.mark.corpus
def test_the_attacks_of_others_make_nothing_active(corpora: Path) -> None:
    files = sorted((corpora / "attacks" / "md").glob("*.md"))
    assert files
    for file in files:
        started = time.process_time()
        html = prose(file.read_text(encoding="utf-8", errors="replace")[:50_000]).lower()
        assert time.process_time() - started < 2, file.name
        for active in ("<script", "<style", "<svg", "<meta", "<base", "<form", "<img", "<iframe"):
            assert active not in html, file.name
        assert 'href="' not in html.replace('href="http', "").replace('href="mailto', ""), file.name
