"""Addresses between pages, and where pages and downloads are kept."""

from __future__ import annotations

import pytest

from upheld.site.links import Links
from upheld.site.paths import download_path, page_path


@pytest.mark.parametrize(
    ("here", "there", "address"),
    [
        ("index.md", "decisions/index.md", "decisions/"),
        ("index.md", "index.md", "./"),
        ("decisions/adr-009.md", "index.md", "../../"),
        ("decisions/adr-009.md", "decisions/index.md", "../"),
        ("decisions/adr-009.md", "evidence/models/m-1.5.md", "../../evidence/models/m-1.5/"),
        ("untested.md", "raw/a b/c#1.json", "../raw/a%20b/c%231.json"),
    ],
)
def test_directory_addresses(here: str, there: str, address: str) -> None:
    assert Links().page(here, there) == address


def test_file_addresses() -> None:
    links = Links(directory_urls=False)
    assert links.page("decisions/adr-009.md", "evidence/index.md") == "../evidence/index.html"
    assert links.page("index.md", "claims.md", "list-cited-upheld") == (
        "claims.html#list-cited-upheld"
    )


def test_rule_pages_are_outside_the_base() -> None:
    links = Links(base="decided", rules={"UPH101": "rules/UPH101.md"})
    assert links.page("index.md", "claims.md") == "claims/"
    assert links.rule("index.md", "UPH101") == "../rules/UPH101/"
    assert links.rule("index.md", "UPH102") is None


def test_a_record_never_takes_the_page_of_a_folder() -> None:
    assert page_path("model", "index") == "evidence/models/_index.md"
    assert page_path("adr", "ADR-009") == "decisions/adr-009.md"


def test_a_raw_file_that_a_browser_would_run_is_offered_as_text() -> None:
    assert download_path("evidence/raw/r.json") == "raw/evidence/raw/r.json"
    assert download_path("evidence/raw/r.html") == "raw/evidence/raw/r.html.txt"
    assert download_path("evidence/raw/r.md") == "raw/evidence/raw/r.md.txt"
