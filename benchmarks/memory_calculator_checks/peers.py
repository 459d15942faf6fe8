"""The other tools, in interpreters where they are installed."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from memory_calculator_checks.adapters.asks import Ask

ADAPTERS = {
    "vramscout": "vramscout",
    "hf-vram-calc": "hf_vram_calc",
    "llm-mem-planner": "llm_mem_planner",
}
BENCHMARKS = Path(__file__).parents[1]
TIMEOUT_SECONDS = 600


class ToolFailed(Exception):
    """A tool that is installed did not answer as a whole."""


def installed(python: Path) -> dict[str, bool]:
    """Which of the tools the interpreter has.

    Raises:
        ToolFailed: The interpreter can't be run.
    """
    listing = (
        "import importlib.util, json, sys; "
        "print(json.dumps([bool(importlib.util.find_spec(name)) for name in sys.argv[1:]]))"
    )
    found = json.loads(_run(python, ["-c", listing, *ADAPTERS.values()], ""))
    return dict(zip(ADAPTERS, found, strict=True))


def answers(tool: str, python: Path, asks: Sequence[Ask]) -> dict[str, Any]:
    """The tool's version, and its answer to each question.

    Raises:
        ToolFailed: It ended with an error; its last words are in the message.
    """
    given = json.dumps([asdict(ask) for ask in asks])
    found: dict[str, Any] = json.loads(
        _run(python, ["-m", "memory_calculator_checks.adapters", ADAPTERS[tool]], given)
    )
    return found


def _run(python: Path, arguments: Sequence[str], given: str) -> str:
    # The Hub is not asked, so that a run depends on nothing but the versions.
    own = {"PYTHONPATH": str(BENCHMARKS), "HF_HUB_OFFLINE": "1", "PYTHONIOENCODING": "utf-8"}
    try:
        done = subprocess.run(
            [python, *arguments],
            input=given,
            capture_output=True,
            encoding="utf-8",
            env=os.environ | own,
            timeout=TIMEOUT_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ToolFailed(f"{python} can't be run: {error}") from error
    if done.returncode:
        raise ToolFailed(f"{python} failed: {done.stderr.strip()[-2000:]}")
    return done.stdout
