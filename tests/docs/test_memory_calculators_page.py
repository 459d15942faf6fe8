"""The page of memory calculators is made from the run that is kept."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest

from markdown_blocks import DOCS, ROOT
from memory_calculator_checks.page import page, summary
from memory_calculator_checks.scores import counts, misses

PAGE = (DOCS / "memory-calculators.md").read_text("utf-8")
KEPT = ROOT / "tests/corpora/memory-calculators/results.json"


@pytest.fixture
def kept() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(KEPT.read_text("utf-8"))
    return found


def test_the_page_is_made_from_the_kept_run(kept: dict[str, Any]) -> None:
    assert page(kept) == PAGE, "make it anew from the kept run with --results and --markdown"


def test_the_page_has_every_figure_and_every_answer(kept: dict[str, Any]) -> None:
    tools = 1 + len(kept["versions"])
    assert PAGE.count('scope="rowgroup"') == len(kept["cases"])
    assert PAGE.count('data-label="Answer"') == tools * len(kept["cases"])


def test_counts_add_up_to_the_figures(kept: dict[str, Any]) -> None:
    rows = re.findall(r"^\| \S+ \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 3 * (1 + len(kept["versions"]))
    for exact, wrong, none, missed in (map(int, row) for row in rows):
        assert wrong + none == missed
        assert exact + missed in (
            len(kept["cases"]),
            *(
                sum(each["question"] == question for each in kept["cases"])
                for question in ("tokens", "size")
            ),
        )


def test_where_another_tool_does_better_it_is_named(kept: dict[str, Any]) -> None:
    worse = copy.deepcopy(kept)
    case = next(
        each for each in worse["cases"] if each["answers"]["vramscout"]["verdict"] == "exact"
    )
    case["model"] = "<b>a & b</b>"
    case["answers"]["Upheld"] = {"verdict": "off", "answer": "1"}
    made = page(worse)
    assert re.search(r"^- &lt;b&gt;a &amp; b&lt;/b&gt;, KV cache.*: vramscout", made, re.MULTILINE)
    assert "On none of these figures" not in made


def test_the_text_says_the_same_misses(kept: dict[str, Any]) -> None:
    for tool in ("Upheld", *kept["versions"]):
        missed = misses(counts(kept["cases"], tool))
        assert re.search(rf"^  {tool}: .*misses: {missed}$", summary(kept), re.MULTILINE)
