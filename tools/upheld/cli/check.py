"""`upheld check`: the gate."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import click

from upheld.cli import CLEAN, FINDINGS
from upheld.cli.options import as_of_option, format_option, open_judged
from upheld.cli.output import write_whole


@click.command("check")
@click.argument("path", type=click.Path(path_type=Path), default=Path())
@format_option
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the result to a file instead of standard output.",
)
@as_of_option
@click.pass_context
def command(
    ctx: click.Context, path: Path, format_: str, output: Path | None, as_of: date | None
) -> None:
    """Validate, link, compute and judge the corpus at PATH: the gate.

    \b
    Examples:
      upheld check
      upheld check --format json --output verdicts.json
      upheld check path/to/repository --as-of 2026-12-01

    Exit codes: 0 nothing blocks, 1 something does, 2 nothing could be judged.
    """
    from upheld.records.snapshot import Snapshot
    from upheld.snapshot.verify import tampered

    judged = open_judged(path, as_of)
    for snapshot in judged.corpus.of(Snapshot):
        judged.findings.extend(tampered(judged.corpus, snapshot))
    if format_ == "json":
        from upheld.report.json_format import check_object
        from upheld.report.json_text import json_text

        text = json_text(check_object(judged))
    else:
        from upheld.report.text import check_lines

        text = "\n".join(check_lines(judged))
    if output is None:
        click.echo(text)
    else:
        write_whole(output, click.unstyle(text) + "\n")
    ctx.exit(FINDINGS if judged.blocked else CLEAN)
