"""Files of people's own scripts, read by a mapping as a run record states it."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent
from typing import Any

from upheld.corpus.validate import validate
from upheld.corpus.yaml_reader import Document, read_yaml
from upheld.measured.mapping.mapped import Mapped
from upheld.measured.read import read_file, read_mapped_file
from upheld.measured.reading import FileReading
from upheld.records.finding import Finding
from upheld.records.run import Run

HEAD = """\
kind: run
id: own
title: A run of a script of its own
date: 2026-11-20
by: Tester
outcome: completed
"""


def record(form: str, mapping: str) -> str:
    """The text of a run record with one file, read by this mapping; its first line is line 11."""
    files = f"files:\n  - path: raw/own\n    sha256: {'0' * 64}\n    format: {form}\n    mapping:\n"
    return HEAD + files + indent(dedent(mapping).strip("\n"), "      ") + "\n"


def run_of(text: str) -> tuple[Document, Run | list[Finding]]:
    """The record, or what is wrong with it."""
    document = read_yaml("run.yaml", text.encode())
    outcome: Any = validate(document)
    return document, outcome


def mapped(form: str, mapping: str) -> Mapped:
    """A mapping that is valid, with the places of its record."""
    document, run = run_of(record(form, mapping))
    assert isinstance(run, Run), [f"{each.place}: {each.message}" for each in run]
    (raw,) = run.files
    assert raw.mapping is not None
    return Mapped(
        raw.format,  # type: ignore[arg-type]
        raw.mapping,
        lambda path: document.place(("files", 0, "mapping", *path)),
    )


def read(form: str, mapping: str, text: str) -> FileReading:
    """A text read by a mapping."""
    return read_file("raw/own", text.encode(), mapped(form, mapping))


def read_open(form: str, mapping: str, file: Path) -> FileReading:
    """A file read by a mapping as the corpus reads it."""
    with file.open("rb") as stream:
        return read_mapped_file("raw/own", stream, mapped(form, mapping))


def values(reading: FileReading) -> dict[str, tuple[float, str, str]]:
    """The figures of the only row: value, unit and origin by name."""
    (row,) = reading.rows
    return {each.name: (float(each.value), each.unit, each.origin) for each in row.figures}


def said(reading: FileReading) -> list[str]:
    """The findings that are no shortcoming of the row: rule, line and column, message."""
    return [
        f"{each.rule} {each.place.line}:{each.place.column} {each.message}"
        for each in reading.all_findings
        if each.rule not in ("UPH504", "UPH505", "UPH506")
    ]
