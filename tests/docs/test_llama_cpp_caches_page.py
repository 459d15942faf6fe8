"""The page of llama.cpp's caches is what the command on it prints, and says what is missed."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys

import yaml

from llama_cpp_cache_checks.page import page
from markdown_blocks import DOCS, ROOT

PAGE = (DOCS / "llama-cpp-caches.md").read_text("utf-8")
CORPUS = ROOT / "tests" / "corpora" / "llama-cpp-caches"


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


def test_a_miss_is_shown_with_both_figures() -> None:
    printed = json.loads((CORPUS / "printed.json").read_text("utf-8"))
    models = yaml.safe_load((CORPUS / "models.yaml").read_text("utf-8"))
    wrong = {**printed["runs"][0]}
    wrong["lines"] = [line.replace("  15 layers", "  14 layers") for line in wrong["lines"]]
    made = page({**printed, "runs": [wrong, *printed["runs"][1:]]}, models)
    assert "**306 of 307 starts are exact**" in made
    assert "`n_ctx` 1 | layers | 14 | 15 |" in made
    assert "## Misses" not in PAGE
