"""`upheld read`: what raw benchmark files say, recomputed, and what they leave out."""

from __future__ import annotations

import os
from pathlib import Path

import click

from upheld.cli import CLEAN, FINDINGS, CouldNotRun
from upheld.cli.options import format_option
from upheld.corpus.files import FileError, read_regular
from upheld.measured.read import read_file
from upheld.measured.reading import FileReading


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE…")
@format_option
@click.pass_context
def command(ctx: click.Context, files: tuple[Path, ...], format_: str) -> None:
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
    if format_ == "json":
        from upheld.report.json_text import json_text
        from upheld.report.reading_json import readings_object

        click.echo(json_text(readings_object(readings)))
    else:
        from upheld.report.reading_text import reading_text

        click.echo("\n\n".join(map(reading_text, readings)), nl=bool(readings))
    if unreadable:
        *others, last = unreadable
        for other in others:
            click.echo(f"Error: {other}\n  help: {other.help}", err=True)
        raise CouldNotRun(str(last), last.help)
    errors = any(each.severity == "error" for one in readings for each in one.all_findings)
    ctx.exit(FINDINGS if errors else CLEAN)
