"""What comes of setting one printed figure beside arithmetic."""

from __future__ import annotations

from dataclasses import dataclass

from upheld.judge.beside.figures import Check


@dataclass(frozen=True, slots=True)
class Compared:
    """A printed figure and its prediction, both in `unit`."""

    check: Check
    unit: str


@dataclass(frozen=True, slots=True)
class NotCompared:
    """A printed figure for which nothing was predicted, and why."""

    name: str
    printed: str
    unit: str
    why: str
