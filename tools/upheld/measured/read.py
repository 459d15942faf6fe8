"""A raw file's bytes to a reading: recognised by content, read by its format, checked."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import replace
from io import BufferedReader
from typing import TYPE_CHECKING

from upheld.corpus.files import MAX_RAW_BYTES, FileError
from upheld.measured.content import Content
from upheld.measured.dates import before_the_tool
from upheld.measured.formats import FORMATS, Format, plugged_in
from upheld.measured.reading import FileReading, Reading, Row
from upheld.measured.sufficiency import Shortcoming, repeats, shortcomings_of_row
from upheld.records.finding import Finding, Place

if TYPE_CHECKING:
    from upheld.measured.mapping.mapped import Mapped

UNKNOWN = "unknown"
UNKNOWN_FORMAT = "UPH501"
BY_MAPPING = "a script of its own, read by a mapping"


def read_file(path_shown: str, data: bytes, mapped: Mapped | None = None) -> FileReading:
    """What the bytes say. Never raises for what they hold: that is a finding.

    `path_shown` is how findings call the file; it plays no part in what the format is. `mapped`
    is how a run record reads a file of no known format. What a format recognises is read by that
    format alone, so that no mapping gets round what its reader finds.
    """
    digest = hashlib.sha256(data).hexdigest()
    content = Content(path_shown, data)
    candidates = all_recognised_by(content)
    if mapped is not None and not candidates and content.refusal is None:
        from upheld.measured.mapping.reading import read_mapped

        return by_mapping(path_shown, digest, mapped, read_mapped(content, mapped))
    if len(candidates) != 1:
        finding = content.refusal or _not_one_format(path_shown, candidates)
        return FileReading(path_shown, digest, UNKNOWN, None, None, (), (finding,))
    chosen = candidates[0]
    reading = chosen.read(content)
    return FileReading(
        path=path_shown,
        sha256=digest,
        format=chosen.NAME,
        tool=chosen.TOOL,
        tool_version=reading.tool_version,
        rows=_weighed(chosen.NAME, reading.rows),
        findings=reading.findings,
        capture=reading.capture,
    )


def read_mapped_file(path_shown: str, stream: BufferedReader, mapped: Mapped) -> FileReading:
    """What a mapping finds in an open file; large ones are not held in memory.

    Raises:
        FileError: too large to be read at once, or DuckDB is wanted and not installed.
    """
    from upheld.measured.mapping import large
    from upheld.measured.mapping.head import head_of

    size = os.fstat(stream.fileno()).st_size
    if not large.reads(mapped, size):
        if size > MAX_RAW_BYTES:
            raise FileError(
                f"{path_shown!r} has {size:,} bytes; at most {MAX_RAW_BYTES:,} are read where its "
                "records are not single requests",
                "split it",
            )
        return read_file(path_shown, stream.read(), mapped)
    digest = hashlib.file_digest(stream, "sha256").hexdigest()
    head = head_of(path_shown, stream, mapped.form)
    for known in all_recognised_by(head):
        return FileReading(path_shown, digest, known.NAME, known.TOOL, None, (), ())
    if head.refusal is not None:
        return by_mapping(path_shown, digest, mapped, Reading((), findings=(head.refusal,)))
    reading = large.read_large(path_shown, stream, head, mapped)
    return by_mapping(path_shown, digest, mapped, reading)


def by_mapping(path: str, digest: str, mapped: Mapped, reading: Reading) -> FileReading:
    """A file as it was read by a mapping."""
    rows = _weighed(mapped.form, reading.rows)
    return FileReading(path, digest, mapped.form, BY_MAPPING, None, rows, reading.findings)


def all_recognised_by(content: Content) -> list[Format]:
    """The formats that recognise the content: those here, and where none does, those added."""
    candidates = recognised_by(content, FORMATS)
    if not candidates and content.refusal is None:
        candidates = recognised_by(content, plugged_in())
    return candidates


def recognised_by(content: Content, formats: dict[str, Format]) -> list[Format]:
    """The formats that recognise the content: one for a file that is read."""
    return [each for each in formats.values() if each.recognise(content)]


def _weighed(format_name: str, rows: Sequence[Row]) -> tuple[Row, ...]:
    """The rows with what is too little in each, and with repeats that disagree."""
    found: list[list[Finding]] = []
    for row in rows:
        dated = before_the_tool(format_name, row)
        short = [_finding(row, each) for each in shortcomings_of_row(row)]
        found.append([*row.findings, *short, *([dated] if dated else [])])
    for at, short_of in repeats.check(rows):
        found[at].append(_finding(rows[at], short_of))
    return tuple(replace(row, findings=tuple(each)) for row, each in zip(rows, found, strict=True))


def _finding(row: Row, short_of: Shortcoming) -> Finding:
    return Finding(short_of.rule, row.place, short_of.message, short_of.help, short_of.severity)


def _not_one_format(path: str, candidates: list[Format]) -> Finding:
    known = ", ".join(sorted(FORMATS))
    if candidates:
        names = " and ".join(each.NAME for each in candidates)
        return Finding(
            UNKNOWN_FORMAT,
            Place(path),
            f"the content is recognised as {names}, so what it means is open",
            "add the file as one tool wrote it",
        )
    return Finding(
        UNKNOWN_FORMAT,
        Place(path),
        "no known benchmark format; nothing was read from it",
        f"formats that are read: {known}; for JSON, JSON lines or CSV of another kind a run record "
        "states a mapping, which upheld read --suggest FILE proposes",
    )
