"""The page of Transformers' caches is what its command prints."""

from __future__ import annotations

import copy
import json
import os
import re
import shlex
import subprocess
import sys

from markdown_blocks import DOCS, ROOT
from transformers_cache_checks.page import page
from transformers_cache_checks.scores import score

PAGE = (DOCS / "transformers-caches.md").read_text("utf-8")
MEASURED = ROOT / "tests" / "corpora" / "transformers-caches" / "measured.json"


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


def test_one_wrong_byte_is_a_miss_of_its_model_on_the_page() -> None:
    measurement = json.loads(MEASURED.read_text("utf-8"))
    wrong = copy.deepcopy(measurement)
    row = next(each for each in wrong["rows"] if each["model"] == "mistral")
    row["measured"]["tensors"] += 1
    made, right = (page([(each, score(each))]) for each in (wrong, measurement))
    assert "- **mistral** in 5.24.0, 1 of 16 rows.\n  No reason is known." in made
    assert "- **mistral**" not in right
