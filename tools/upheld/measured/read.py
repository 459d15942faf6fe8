"""A raw file's bytes to a reading: recognised by content, read by its format, checked."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from upheld.measured.content import Content
from upheld.measured.dates import before_the_tool
from upheld.measured.formats import FORMATS, Format, plugged_in
from upheld.measured.reading import FileReading, Row
from upheld.measured.sufficiency import Shortcoming, repeats, shortcomings_of_row
from upheld.records.finding import Finding, Place

UNKNOWN = "unknown"
UNKNOWN_FORMAT = "UPH501"


def read_file(path_shown: str, data: bytes) -> FileReading:
    """What the bytes say. Never raises for what they hold: that is a finding.

    `path_shown` is how findings call the file; it plays no part in what the format is.
    """
    digest = hashlib.sha256(data).hexdigest()
    content = Content(path_shown, data)
    candidates = recognised_by(content, FORMATS)
    if not candidates and content.refusal is None:
        candidates = recognised_by(content, plugged_in())
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
    )


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
        f"formats that are read: {known}; another needs a module in measured/formats or a "
        "package with an entry point in upheld.formats",
    )
