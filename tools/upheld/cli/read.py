"""`upheld read`: what raw benchmark files say, recomputed, and what they leave out."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from upheld.cli import CLEAN, FINDINGS, CouldNotRun
from upheld.corpus.files import FileError, read_regular
from upheld.measured.read import UNKNOWN, read_file
from upheld.measured.reading import AxisValue, Figure, FileReading, Row
from upheld.measured.recompute import TOLERANCE
from upheld.records.envelope import AXES
from upheld.records.finding import Finding
from upheld.records.units import UNITS, format_number

_LEFT = 14
_WIDTH = 100
_WHOLE_FROM = 10**6


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE…")
@click.option(
    "--format",
    "output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="For people, or for scripts.",
)
@click.pass_context
def command(ctx: click.Context, files: tuple[Path, ...], output: str) -> None:
    """What raw benchmark files say, recomputed, and what they leave out.

    The format is recognised from the content. Figures are worked out again from the file's own
    records where it keeps them, and marked as only reported where it does not.

    \b
    Examples:
      upheld read result.json
      upheld read --format json evidence/runs/raw/*/*.json

    Exit codes: 0 clean, warnings included; 1 findings of severity error; 2 a file could not be
    read.
    """
    readings: list[FileReading] = []
    unreadable: list[FileError] = []
    for file in files:
        try:
            readings.append(read_file(os.fsdecode(file), read_regular(file)))
        except FileError as error:
            unreadable.append(error)
        except OSError as error:
            unreadable.append(FileError(f"{str(file)!r}: {error.strerror}", "name a readable file"))
    if output == "json":
        click.echo(json.dumps(as_json(readings), indent=2))
    else:
        click.echo("\n\n".join(map(as_text, readings)), color=_colour(), nl=bool(readings))
    if unreadable:
        *others, last = unreadable
        for other in others:
            click.echo(f"Error: {other}\n  help: {other.help}", err=True)
        raise CouldNotRun(str(last), last.help)
    errors = any(each.severity == "error" for one in readings for each in one.all_findings)
    ctx.exit(FINDINGS if errors else CLEAN)


def as_json(readings: Iterable[FileReading]) -> dict[str, Any]:
    """The documented shape, version 1: plain values, every number a float of the exact one."""
    return {"version": 1, "files": [_file_as_json(reading) for reading in readings]}


def _file_as_json(reading: FileReading) -> dict[str, Any]:
    rows = reading.rows
    unstated = dict.fromkeys(axis for row in rows for axis in row.not_stated)
    return {
        "path": reading.path,
        "sha256": reading.sha256,
        "format": reading.format,
        "tool": reading.tool,
        "tool_version": reading.tool_version,
        "metrics": [
            {"case": row.case, **_figure_as_json(figure)} for row in rows for figure in row.figures
        ],
        "envelope": _envelope_as_json(_common([row.envelope for row in rows])),
        "stated": _common([row.stated for row in rows]),
        "not_stated": list(unstated),
        "rows": [
            {
                "case": row.case,
                "metrics": [_figure_as_json(figure) for figure in row.figures],
                "samples": dict(row.samples),
                "envelope": _envelope_as_json(row.envelope),
                "stated": dict(row.stated),
                "not_stated": list(row.not_stated),
            }
            for row in rows
        ],
        "findings": [
            {
                "rule": each.rule,
                "path": each.place.path,
                "line": each.place.line,
                "column": each.place.column,
                "message": each.message,
                "help": each.help,
                "severity": each.severity,
                "claim": each.claim,
            }
            for each in reading.all_findings
        ],
    }


def _figure_as_json(figure: Figure) -> dict[str, Any]:
    return {
        "name": figure.name,
        "value": float(figure.value),
        "unit": figure.unit,
        "origin": figure.origin,
        "reported": None if figure.reported is None else float(figure.reported),
        "note": figure.note,
    }


def _envelope_as_json(envelope: Mapping[str, AxisValue]) -> dict[str, Any]:
    return {
        axis: float(value) if isinstance(value, Fraction) else value
        for axis, value in envelope.items()
    }


def _common(mappings: list[Any]) -> dict[str, Any]:
    """What all of them say alike."""
    if not mappings:
        return {}
    first, *others = mappings
    return {
        key: value
        for key, value in first.items()
        if all(key in other and other[key] == value for other in others)
    }


def as_text(reading: FileReading) -> str:
    """A file for people; text from the file is shown with control characters escaped."""
    lines = [click.style(_plain(reading.path), bold=True)]
    if reading.format == UNKNOWN:
        lines.append("  unknown format")
    else:
        version = f" {reading.tool_version}" if reading.tool_version else ""
        lines.append(f"  {_plain(f'{reading.tool}{version}')} · {reading.format}")
    lines.append(f"  sha256 {reading.sha256[:16]}…")
    shared_envelope = _common([row.envelope for row in reading.rows])
    shared_facts = _common([row.stated for row in reading.rows])
    for row in reading.rows:
        lines += ["", *_row_as_text(row, shared_envelope, shared_facts)]
    if reading.rows:
        lines += ["", *_facts("Stated", _axes(shared_envelope))]
        lines += _facts("Also says", [(name, fact) for name, fact in shared_facts.items()])
        unstated = dict.fromkeys(axis for row in reading.rows for axis in row.not_stated)
        lines += _list("Not stated", [AXES[axis].title for axis in unstated])
    if reading.all_findings:
        lines.append("")
    for finding in reading.all_findings:
        lines += _finding_as_text(finding)
    return "\n".join(lines)


def _row_as_text(
    row: Row, shared_envelope: Mapping[str, Any], shared_facts: Mapping[str, Any]
) -> list[str]:
    lines: list[str] = []
    if row.case is not None:
        lines.append("  " + click.style(_plain(row.case), bold=True))
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
    return lines + [f"    [{mark}] {_plain(note)}" for note, mark in notes.items()]


def _value(figure: Figure) -> tuple[str, str]:
    """The value and its unit, seconds below a millisecond in the unit that fits them."""
    unit = figure.unit
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
    slack = TOLERANCE * max(abs(figure.value), abs(figure.reported))
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
        f"    {heading if at == 0 else '':<{_LEFT}}{_plain(name).replace('_', ' '):<{width}}  "
        f"{_plain(fact)}"
        for at, (name, fact) in enumerate(facts)
    ]


def _list(heading: str, names: list[str]) -> list[str]:
    if not names:
        return []
    from textwrap import wrap

    lines = wrap(", ".join(names), _WIDTH - _LEFT - 4)
    return [f"    {heading if at == 0 else '':<{_LEFT}}{line}" for at, line in enumerate(lines)]


def _finding_as_text(finding: Finding) -> list[str]:
    severity = click.style(finding.severity, fg="red" if finding.severity == "error" else "yellow")
    return [
        f"{_plain(str(finding.place))}: {finding.rule} {severity}: {_plain(finding.message)}",
        f"    help: {_plain(finding.help)}",
    ]


def _plain(text: str) -> str:
    """The text with everything that could move a cursor or turn a line around made visible."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape", "surrogatepass").decode()
        for each in text
    )


def _colour() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")
