"""What a raw file says, for people: figures, envelope, what it leaves out, findings."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import click

from upheld.measured.read import UNKNOWN
from upheld.measured.reading import AxisValue, Capture, Figure, FileReading, Row
from upheld.measured.recompute import TOLERANCE
from upheld.records.envelope import AXES
from upheld.records.units import UNITS, format_number
from upheld.report.escape import printable
from upheld.report.finding_text import finding_lines
from upheld.report.reading_json import in_common

_LEFT = 14
_WIDTH = 100
_WHOLE_FROM = 10**6


def reading_text(reading: FileReading) -> str:
    """A file for people; text from the file is shown with control characters escaped."""
    lines = [click.style(printable(reading.path), bold=True)]
    if reading.format == UNKNOWN:
        lines.append("  unknown format")
    else:
        version = f" {reading.tool_version}" if reading.tool_version else ""
        lines.append(f"  {printable(f'{reading.tool}{version}')} · {reading.format}")
    lines.append(f"  sha256 {reading.sha256[:16]}…")
    shared_envelope = in_common([row.envelope for row in reading.rows])
    shared_facts = in_common([row.stated for row in reading.rows])
    for row in reading.rows:
        lines += ["", *_row_as_text(row, shared_envelope, shared_facts)]
    if reading.rows:
        lines += ["", *_facts("Stated", _axes(shared_envelope))]
        lines += _facts("Also says", [(name, fact) for name, fact in shared_facts.items()])
        unstated = dict.fromkeys(axis for row in reading.rows for axis in row.not_stated)
        lines += _list("Not stated", [AXES[axis].title for axis in unstated])
    if reading.capture is not None:
        lines += ["", *_capture_as_text(reading.capture)]
    if reading.all_findings:
        lines.append("")
    for finding in reading.all_findings:
        lines += finding_lines(finding)
    return "\n".join(lines)


def _capture_as_text(capture: Capture) -> list[str]:
    return [
        *_facts("Outcome", [(capture.outcome, "")]),
        *_facts("Stated", _axes(capture.envelope)),
        *_facts("Also says", list(capture.stated.items())),
    ]


def _row_as_text(
    row: Row, shared_envelope: Mapping[str, Any], shared_facts: Mapping[str, Any]
) -> list[str]:
    lines: list[str] = []
    if row.case is not None:
        lines.append("  " + click.style(printable(row.case), bold=True))
        own = {axis: each for axis, each in row.envelope.items() if axis not in shared_envelope}
        facts = {name: each for name, each in row.stated.items() if name not in shared_facts}
        lines += _facts("Stated", _axes(own))
        lines += _facts("Also says", list(facts.items()))
    notes: dict[str, int] = {}
    cells = [
        (
            figure.name,
            *_value(figure),
            _samples(row, figure),
            _origin(figure, notes),
        )
        for figure in row.figures
    ]
    if not cells:
        return [*lines, "    no figures"]
    header = ("metric", "value", "unit", "n", "origin")
    table = [header, *cells]
    widths = [max(len(cell[at]) for cell in table) for at in range(4)]
    for at, (name, value, unit, count, origin) in enumerate(table):
        line = (
            f"    {name:<{widths[0]}}  {value:>{widths[1]}}  {unit:<{widths[2]}}"
            f"  {count:>{widths[3]}}  {origin}"
        )
        lines.append(click.style(line, dim=True) if at == 0 else line)
    return lines + [f"    [{mark}] {printable(note)}" for note, mark in notes.items()]


def _value(figure: Figure) -> tuple[str, str]:
    """The value and its unit; seconds below a millisecond and nanoseconds above it in what fits."""
    unit = figure.unit
    if unit == "ns" and figure.value >= 10**6:
        unit = "ms"
    if unit == "s" and 0 < figure.value < UNITS["ms"].factor:
        unit = "us" if figure.value >= UNITS["us"].factor else "ns"
    value = figure.value * UNITS[figure.unit].factor / UNITS[unit].factor
    return f"{round(value):,}" if abs(value) >= _WHOLE_FROM else format_number(value), unit


def _samples(row: Row, figure: Figure) -> str:
    count = row.samples.get(figure.distribution)
    if count is None:
        return "" if figure.distribution == figure.name else "?"
    return f"{count:,}"


def _origin(figure: Figure, notes: dict[str, int]) -> str:
    mark = f" [{notes.setdefault(figure.note, len(notes) + 1)}]" if figure.note else ""
    if figure.origin == "reported":
        return f"reported only{mark}"
    if figure.reported is None:
        return f"recomputed{mark}"
    slack = max(TOLERANCE * max(abs(figure.value), abs(figure.reported)), figure.rounding)
    if abs(figure.value - figure.reported) <= slack:
        return click.style("recomputed ✓ the summary agrees", fg="green") + mark
    said = format_number(figure.reported, 9)
    return click.style(f"recomputed ✗ the summary says {said}", fg="red") + mark


def _axes(envelope: Mapping[str, AxisValue]) -> list[tuple[str, str]]:
    return [(AXES[axis].title, _axis_value(value)) for axis, value in envelope.items()]


def _axis_value(value: AxisValue) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return value if isinstance(value, str) else format_number(Fraction(value))


def _facts(heading: str, facts: list[tuple[str, str]]) -> list[str]:
    width = max((len(name) for name, _ in facts), default=0)
    return [
        f"    {heading if at == 0 else '':<{_LEFT}}{printable(name).replace('_', ' '):<{width}}  "
        f"{printable(fact)}"
        for at, (name, fact) in enumerate(facts)
    ]


def _list(heading: str, names: list[str]) -> list[str]:
    if not names:
        return []
    from textwrap import wrap

    lines = wrap(", ".join(names), _WIDTH - _LEFT - 4)
    return [f"    {heading if at == 0 else '':<{_LEFT}}{line}" for at, line in enumerate(lines)]
