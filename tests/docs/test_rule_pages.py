"""Every rule has a page, and what the page shows is what the rule does."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from markdown_blocks import BASE, DOCS, ROOT, blocks_of, corpus_with, section, table_of
from upheld.corpus.load import load
from upheld.judge.judge import judge_corpus
from upheld.records.finding import Finding
from upheld.records.rules import RULES
from upheld.records.snapshot import Snapshot
from upheld.snapshot.verify import verify

PAGES = DOCS / "rules"
AS_OF = date(2026, 12, 1)

# One cause that two rules rightly see: where nothing completed, the requests failed.
SEEN_BY_ANOTHER_RULE = {"UPH504": {"UPH505"}}


def findings_in(root: Path) -> list[Finding]:
    corpus = load(root)
    found = list(judge_corpus(corpus, AS_OF).findings)
    for snapshot in corpus.of(Snapshot):
        found += verify(corpus, snapshot).findings
    return found


def page_of(code: str) -> str:
    return (PAGES / f"{code}.md").read_text("utf-8")


def severity_on(page: str) -> str:
    stated = re.search(r"^Severity: (error|warning)\.$", page, re.MULTILINE)
    assert stated, "the page states no severity"
    return stated[1]


def test_the_base_corpus_is_clean() -> None:
    assert findings_in(BASE) == []


@pytest.mark.parametrize("code", RULES)
def test_the_page_begins_with_the_rule_and_what_it_finds(code: str) -> None:
    rule = RULES[code]
    page = page_of(code)
    assert page.startswith(f"# {code} {rule.name}\n\n{rule.finds}.\n")
    assert severity_on(page) == RULES[code].severity
    assert section(page, "Why").strip()


@pytest.mark.parametrize("code", RULES)
def test_the_failing_example_gives_that_rule_and_no_other(code: str, tmp_path: Path) -> None:
    page = page_of(code)
    found = findings_in(corpus_with(blocks_of(section(page, "Fails")), tmp_path))
    others = {each.rule for each in found} - SEEN_BY_ANOTHER_RULE.get(code, set())
    assert others == {code}, [f"{each.place}: {each.rule} {each.message}" for each in found]
    assert {each.severity for each in found if each.rule == code} == {severity_on(page)}


@pytest.mark.parametrize("code", RULES)
def test_the_mended_example_gives_nothing(code: str, tmp_path: Path) -> None:
    page = page_of(code)
    found = findings_in(corpus_with(blocks_of(section(page, "Mended")), tmp_path))
    assert [f"{each.place}: {each.rule} {each.message}" for each in found] == []


def test_every_page_is_about_a_rule() -> None:
    assert {page.stem for page in PAGES.glob("UPH*.md")} == set(RULES)


def test_the_index_lists_every_rule_as_it_is() -> None:
    listed = table_of((PAGES / "index.md").read_text("utf-8"), "rule")
    assert listed == [
        [f"[{rule.code}]({rule.code}.md)", rule.name, rule.finds, rule.severity]
        for rule in RULES.values()
    ]


def test_every_code_that_the_tool_emits_is_a_rule() -> None:
    code = "\n".join(
        file.read_text("utf-8")
        for file in (ROOT / "tools" / "upheld").rglob("*.py")
        if file.name != "rules.py"
    )
    assert set(re.findall(r'"(UPH\d{3})"', code)) == set(RULES)
