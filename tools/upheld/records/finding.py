"""A finding: one thing that is wrong, where it is, and how to mend it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A position in a file, as editors count: lines and columns start at 1."""

    path: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found at a place; `claim` is set when the finding is about one claim."""

    rule: str
    place: Place
    message: str
    help: str
    severity: Severity = "error"
    claim: str | None = None
