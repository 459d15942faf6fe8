"""A mapping with the place of each of its parts, and what it does not find, once for all rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches

from upheld.records.expression import quoted
from upheld.records.finding import Finding, Place, Severity
from upheld.records.mapping import Form, Mapping
from upheld.records.shorten import shorten

FINDS_OTHERWISE = "UPH522"
NOTHING = "nothing"

Path = tuple[str | int, ...]

# Of the keys that are there, in a help.
_MOST_KEYS = 12


@dataclass(frozen=True, slots=True)
class Mapped:
    """A mapping, the form of the file that it is for, and where a path below it is written."""

    form: Form
    mapping: Mapping
    place: Callable[[Path], Place]


@dataclass(slots=True)
class _Problem:
    message: str
    help: str
    severity: Severity
    rows: int = 0


@dataclass(slots=True)
class Problems:
    """What a mapping does not find in its rows: one finding for each part of it and reason."""

    mapped: Mapped
    _found: dict[tuple[Path, str], _Problem] = field(default_factory=dict)

    def add(
        self, path: Path, reason: str, message: str, help_text: str, severity: Severity = "error"
    ) -> None:
        """Note that the part at `path` found otherwise in one more row; the first is told of.

        Where a part finds NOTHING in some rows alone, that is a warning.
        """
        problem = _Problem(message, help_text, severity)
        self._found.setdefault((path, reason), problem).rows += 1

    def findings(self, rows: int) -> Iterator[Finding]:
        """A finding each, for a file of so many rows."""
        for (path, reason), problem in self._found.items():
            times = f", in {problem.rows:,} of {rows:,} rows" if rows > 1 else ""
            lacking = reason == NOTHING and problem.rows < rows
            yield Finding(
                FINDS_OTHERWISE,
                self.mapped.place(path),
                f"{problem.message}{times}",
                problem.help,
                "warning" if lacking else problem.severity,
            )


class NotFound(Exception):
    """A part of the mapping finds no row to read; `finding` says which and why."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


def not_found(mapped: Mapped, path: Path, message: str, help_text: str) -> NotFound:
    """What to raise where a part of the mapping finds otherwise for the whole file."""
    return NotFound(Finding(FINDS_OTHERWISE, mapped.place(path), message, help_text))


def keys_help(wanted: str | None, keys: list[str]) -> str:
    """Which keys there are where one was looked for, and the nearest of them."""
    if not keys:
        return "there are no keys where it looks; look into the file for where the value stands"
    if wanted in keys:
        return f"{wanted} is there and holds no value; leave it out of the mapping"
    near = get_close_matches(wanted, keys, n=1) if wanted else []
    if near:
        return f"did you mean {quoted(near[0])}?"
    more = f" and {len(keys) - _MOST_KEYS:,} more" if len(keys) > _MOST_KEYS else ""
    return "keys there: " + ", ".join(shorten(quoted(key)) for key in keys[:_MOST_KEYS]) + more
