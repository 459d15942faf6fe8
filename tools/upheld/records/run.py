"""A run: raw files of a benchmark tool, untouched, and what they do not say."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from upheld.records.claim import Axes
from upheld.records.mapping import FORMS, Mapping
from upheld.records.shorten import shorten
from upheld.records.types import Commit, Date, Line, Part, Record, Sha256, Text


class KeptFile(Part):
    """A file as it was written, from which nothing is read: its path and its SHA-256."""

    path: Line
    sha256: Sha256


class RawFile(KeptFile):
    """A file as the tool wrote it, from which its figures are read: path, SHA-256 and format.

    A file of no known format is `json`, `jsonl` or `csv`, and a mapping says what is in it.

    Raises:
        ValueError: such a file without a mapping, or a mapping of another one.
    """

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

    `files` are read as evidence. `kept` lie beside them, pinned by their digest as well: what a
    command printed, or wrote before it failed.
    `commit` is that of the software under test.
    """

    kind: Literal["run"]
    date: Date
    by: Line
    command: Line | None = None
    commit: Commit | None = None
    outcome: Literal["completed", "failed", "interrupted"]
    files: list[RawFile] = Field(min_length=1)
    kept: list[KeptFile] = []
    states: Axes = Axes()
    notes: Text | None = None
