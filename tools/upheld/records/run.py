"""A run: raw files of a benchmark tool, untouched, and what they do not say."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from upheld.records.claim import Axes
from upheld.records.mapping import FORMS, Mapping
from upheld.records.shorten import shorten
from upheld.records.types import Commit, Date, Line, Part, Record, Sha256, Text


class RawFile(Part):
    """A file as the tool wrote it: its path from the corpus root and its SHA-256.

    A file of no known format is `json`, `jsonl` or `csv`, and a mapping says what is in it.

    Raises:
        ValueError: such a file without a mapping, or a mapping of another one.
    """

    path: Line
    sha256: Sha256
    format: Line
    mapping: Mapping | None = None

    @model_validator(mode="after")
    def _is_mapped_or_known(self) -> RawFile:
        if self.mapping is None and self.format in FORMS:
            raise ValueError(
                f"format {self.format} says nothing of what the figures are; write a mapping, "
                "which upheld read --suggest FILE proposes"
            )
        if self.mapping is not None and self.format not in FORMS:
            raise ValueError(
                f"a file of the format {shorten(self.format)!r} has no mapping; a mapping is for "
                f"{', '.join(FORMS)} of no known format"
            )
        return self


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
