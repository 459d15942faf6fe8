"""A folder that `upheld record` filled into a run record: what is evidence, what is only kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from textwrap import wrap
from typing import Any

from upheld.corpus.files import read_regular
from upheld.importers.yaml_text import record_text
from upheld.measured.read import read_file
from upheld.measured.reading import FileReading
from upheld.records.envelope import AXES
from upheld.records.finding import Finding

_LONGEST_COMMAND = 500


@dataclass(frozen=True, slots=True)
class RunNaming:
    """How the run is called, who measured it, when, with what, and how it ended."""

    id_: str
    title: str
    by: str
    date: date
    command: str
    outcome: str


@dataclass(frozen=True, slots=True)
class CapturedRun:
    """The record's text, and what the person who measured should know of it.

    Attributes:
        text: the YAML of the record.
        evidence: paths of files that are read as evidence, besides the capture itself.
        unstated: axes that matter to those files and that no file states.
        refused: why files that a format recognised are kept only.
    """

    text: str
    evidence: tuple[str, ...]
    unstated: tuple[str, ...]
    refused: tuple[Finding, ...]


def captured_run(folder: Path, path: str, naming: RunNaming) -> CapturedRun:
    """The run record of the files in `folder`, which will lie at `path` in the corpus.

    Of a run that did not complete, nothing but its capture is read: a part of a benchmark's
    output is no evidence. Nor is a file whose own content is in error.

    Raises:
        FileError: a file that can't be read back.
        ConfigError: a value that no record can have.
    """
    files: list[dict[str, str]] = []
    kept: list[dict[str, str]] = []
    readings: list[FileReading] = []
    refused: list[Finding] = []
    for relative in _files_in(folder):
        shown = f"{path}/{relative}"
        reading = read_file(shown, read_regular(folder / relative))
        errors = [each for each in reading.all_findings if each.severity == "error"]
        usable = naming.outcome == "completed" or reading.capture is not None
        entry = {"path": shown, "sha256": reading.sha256}
        if usable and not errors:
            files.append({**entry, "format": reading.format})
            readings.append(reading)
        else:
            kept.append(entry)
            refused += errors if reading.format != "unknown" and usable else []
    unstated = tuple(_unstated(readings))
    record: dict[str, Any] = {
        "kind": "run",
        "id": naming.id_,
        "title": naming.title,
        "date": naming.date,
        "by": naming.by,
    }
    if len(naming.command) <= _LONGEST_COMMAND and naming.command.isprintable():
        record["command"] = naming.command
    record |= {"outcome": naming.outcome, "files": files}
    if kept:
        record["kept"] = kept
    return CapturedRun(
        text=record_text(record) + _to_fill(unstated),
        evidence=tuple(each.path for each in readings if each.capture is None),
        unstated=unstated,
        refused=tuple(refused),
    )


def _files_in(folder: Path) -> list[str]:
    return sorted(
        file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()
    )


def _unstated(readings: Sequence[FileReading]) -> Iterator[str]:
    """Axes that matter to a row and that neither it nor the capture states."""
    noted = {axis for each in readings if each.capture for axis in each.capture.envelope}
    needed = {axis for each in readings for row in each.rows for axis in row.not_stated}
    yield from (axis for axis in AXES if axis in needed - noted)


def _to_fill(unstated: Sequence[str]) -> str:
    if not unstated:
        return ""
    told = "No file states these. Write under `states` what is known; what is not stays out: "
    return "".join(f"# {line}\n" for line in wrap(told + ", ".join(unstated), 98))
