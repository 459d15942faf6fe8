"""`upheld read`: what raw benchmark files say, recomputed, and what they leave out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from upheld.cli import CLEAN, FINDINGS, CouldNotRun
from upheld.cli.options import format_option, root_option
from upheld.corpus.files import FileError, read_regular
from upheld.measured.read import read_file
from upheld.measured.reading import FileReading
from upheld.report.escape import printable

if TYPE_CHECKING:
    from upheld.cli.read_beside import Against
    from upheld.judge.beside import Beside


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE…")
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Set a start-up log beside arithmetic for the model of this config.json.",
)
@click.option(
    "--deployment",
    metavar="ID",
    help="The same for this deployment's record, which also says what the log leaves open.",
)
@click.option(
    "--suggest",
    is_flag=True,
    help="Propose a mapping for files of no known format, from the names of their keys.",
)
@root_option
@format_option
@click.pass_context
def command(
    ctx: click.Context,
    files: tuple[Path, ...],
    config: Path | None,
    deployment: str | None,
    suggest: bool,
    root: Path,
    format_: str,
) -> None:
    """What raw benchmark files and engines' start-up logs say, and what they leave out.

    The format is recognised from the content. Figures are worked out again from the file's own
    records where it keeps them, and marked as only reported where it does not.

    \b
    Examples:
      upheld read result.json
      upheld read --format json evidence/runs/raw/*/*.json
      upheld read engine.log --config config.json
      upheld read --suggest results.csv

    Exit codes: 0 clean, warnings included; 1 findings of severity error, or a figure that differs
    from arithmetic; 2 a file could not be read.
    """
    if suggest:
        from upheld.cli.read_suggest import proposals

        if config is not None or deployment is not None:
            raise CouldNotRun(
                "--suggest proposes a mapping, and sets nothing beside arithmetic",
                "leave --config and --deployment out",
            )
        ctx.exit(proposals(files, format_))
    against = _against(config, deployment, root)
    readings: list[FileReading] = []
    unreadable: list[FileError] = []
    for file in files:
        try:
            readings.append(read_file(os.fsdecode(file), read_regular(file)))
        except FileError as error:
            unreadable.append(error)
    besides = [None if against is None else against.of_file(reading) for reading in readings]
    if format_ == "json":
        from upheld.report.json_text import json_text
        from upheld.report.reading_json import readings_object

        click.echo(json_text(readings_object(readings, besides)))
    else:
        click.echo("\n\n".join(_texts(readings, besides, against)), nl=bool(readings))
    if unreadable:
        *others, last = unreadable
        for other in others:
            click.echo(f"Error: {other}\n  help: {other.help}", err=True)
        raise CouldNotRun(str(last), last.help)
    for reading, starts in zip(readings, besides, strict=True):
        if starts is not None and not any(start.compared for start in starts):
            raise CouldNotRun(
                f"{printable(reading.path)}: no figure could be set beside arithmetic",
                "the reasons are above; a whole log, with the engine's settings, has most to say",
            )
    errors = any(each.severity == "error" for one in readings for each in one.all_findings)
    differs = any(start.differs for starts in besides if starts for start in starts)
    ctx.exit(FINDINGS if errors or differs else CLEAN)


def _against(config: Path | None, deployment: str | None, root: Path) -> Against | None:
    if config is None and deployment is None:
        return None
    if config is not None and deployment is not None:
        raise CouldNotRun(
            "--config and --deployment both name what the log is set beside", "give one of the two"
        )
    from upheld.cli.read_beside import against_config, against_deployment

    if config is not None:
        return against_config(config)
    assert deployment is not None, "one of the two is given"
    return against_deployment(root, deployment)


def _texts(
    readings: Sequence[FileReading],
    besides: Sequence[tuple[Beside, ...] | None],
    against: Against | None,
) -> Iterator[str]:
    from upheld.report.reading_text import reading_text

    for reading, starts in zip(readings, besides, strict=True):
        yield reading_text(reading)
        if starts is not None and against is not None:
            from upheld.report.beside_text import beside_text

            yield beside_text(reading, against.title, starts)
