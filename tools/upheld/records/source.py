"""A source: something that others published, with when it was checked and what it is used for."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from upheld.records.types import Date, Line, Record, Text, Url


class Source(Record):
    """A published page, and what it is and is not used for here."""

    kind: Literal["source"]
    url: Url
    publisher: Line
    version: Line | None = None
    checked: Date
    used_for: list[Line] = Field(min_length=1)
    not_used_for: list[Line] = []
    notes: Text | None = None
