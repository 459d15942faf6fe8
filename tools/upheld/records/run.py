"""A run: raw files of a benchmark tool, untouched, and what they do not say."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from upheld.records.claim import Axes
from upheld.records.types import Commit, Date, Line, Part, Record, Sha256, Text


class RawFile(Part):
    """A file as the tool wrote it: its path from the corpus root and its SHA-256."""

    path: Line
    sha256: Sha256
    format: Line


class Run(Record):
    """What was measured. `states` holds the axes of the envelope that no file states.

    `commit` is that of the software under test.
    """

    kind: Literal["run"]
    date: Date
    by: Line
    command: Line | None = None
    commit: Commit | None = None
    outcome: Literal["completed", "failed", "interrupted"]
    files: list[RawFile] = Field(min_length=1)
    states: Axes = Axes()
    notes: Text | None = None
