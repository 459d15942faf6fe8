"""`capture.json`: what was noted around a command, in a versioned shape.

`formats/upheld_capture.py` reads it back; the reference page of records describes it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from upheld import __version__
from upheld.measured.capture.execution import Execution

CAPTURE = "capture.json"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Noted:
    """One execution with what was noted around it.

    `folder` is where its files lie, below the folder of the run, and empty where that is the same.
    `load` is the load average before and after; `processor_seconds` the processor time of the
    command and of the whole host while it ran; `not_kept` the files that are missing, and why.
    """

    folder: str
    execution: Execution
    load: tuple[list[float] | None, list[float] | None]
    processor_seconds: tuple[float, float | None]
    gpus: list[dict[str, Any]]
    not_kept: tuple[tuple[str, str], ...] = ()

    def facts(self) -> dict[str, Any]:
        """The same, under the names of `capture.json`."""
        execution = self.execution
        return {
            "folder": self.folder,
            "outcome": execution.outcome,
            "started": utc(execution.started),
            "ended": utc(execution.ended),
            "exit_status": execution.exit_status,
            "signal": execution.signal,
            "stopped_by": execution.stopped_by,
            "cut": list(execution.cut),
            "load_average": {"before": self.load[0], "after": self.load[1]},
            "processor_seconds": dict(
                zip(("command", "host"), self.processor_seconds, strict=True)
            ),
            "gpus": self.gpus,
            "not_kept": [{"path": path, "reason": reason} for path, reason in self.not_kept],
        }


def capture_text(
    command: Sequence[str], repeats: int, surroundings: dict[str, Any], noted: Sequence[Noted]
) -> str:
    """The JSON of a capture; `surroundings` are what holds for all executions, by name."""
    content = {
        "upheld_capture": VERSION,
        "upheld_version": __version__,
        "command": [printed(word) for word in command],
        "repeats": repeats,
        **surroundings,
        "executions": [each.facts() for each in noted],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def printed(word: str) -> str:
    """A word of a command line; bytes that are not UTF-8 become escapes such as `\\xff`."""
    return os.fsencode(word).decode("utf-8", "backslashreplace")


def utc(moment: datetime) -> str:
    """`2026-12-01T18:20:01.250Z`."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
