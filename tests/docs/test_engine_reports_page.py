"""The page of engine reports is what the command prints."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from typing import Any

import pytest
import yaml

from engine_report_checks.page import page
from engine_report_checks.scores import score_all
from markdown_blocks import DOCS, ROOT

PAGE = (DOCS / "engine-reports.md").read_text("utf-8")
CORPUS = ROOT / "tests" / "corpora" / "engine-reports"


@pytest.fixture(scope="module")
def reports() -> list[dict[str, Any]]:
    return [
        report
        for name in ("reports.yaml", "blind.yaml")
        for report in yaml.safe_load((CORPUS / name).read_text("utf-8"))
    ]


@pytest.fixture(scope="module")
def shapes() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((CORPUS / "shapes.yaml").read_text("utf-8"))
    return found


def test_the_page_is_what_its_command_prints() -> None:
    block = re.search(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    assert block is not None
    python, *rest = shlex.split(block[1].replace("\\\n", ""))
    assert python == "python"
    done = subprocess.run(
        [sys.executable, *rest],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT / "tools"), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    assert done.stdout == PAGE, "run the command on the page, and keep what it prints"


def test_the_page_has_every_case_and_every_weight(
    reports: list[dict[str, Any]], shapes: dict[str, Any]
) -> None:
    result = score_all(reports, shapes)
    figures = sum(len(case["checks"]) for case in result["cases"])
    assert PAGE.count('scope="rowgroup"') == len(reports) + result["weights"]["total"]
    assert PAGE.count('data-label="Printed"') == figures + result["weights"]["total"]
    assert PAGE.count('data-label="Predicted"') == PAGE.count('data-label="Printed"')
    missed_weights = sum("weights_do_not_follow" in report for report in reports)
    missed = len(reports) - result["summary"]["exact"] + missed_weights
    assert PAGE.count("Why it is missed:") == missed


def test_a_miss_stands_first_and_a_name_is_text(
    reports: list[dict[str, Any]], shapes: dict[str, Any]
) -> None:
    case = next(each for each in reports if each["engine"] == "sglang")
    pools = [{**pool, "k_gb": "999.00"} for pool in case["reported"]["pools"]]
    wrong = {**case, "model": "<b>a & b</b>", "reported": {**case["reported"], "pools": pools}}
    made = page([wrong], score_all([wrong], shapes))
    assert "**0 of 1 cases are exact.**" in made
    assert "&lt;b&gt;a &amp; b&lt;/b&gt;" in made
    assert made.index("## Misses") < made.index("999.00") < made.index("## SGLang")
    assert "0 of 1 case is exact. The miss stands [above](#misses)." in made
