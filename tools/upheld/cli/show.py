"""`upheld show`: one record or claim, with all that it rests on."""

from __future__ import annotations

from datetime import date
from difflib import get_close_matches
from pathlib import Path

import click

from upheld.cli import CouldNotRun
from upheld.cli.options import as_of_option, format_option, open_judged, root_option


@click.command("show")
@click.argument("id_", metavar="ID")
@root_option
@format_option
@as_of_option
def command(id_: str, root: Path, format_: str, as_of: date | None) -> None:
    """Show the record or claim with this ID, its verdicts, and all that they rest on.

    \b
    Examples:
      upheld show ADR-009
      upheld show 'ADR-009#kv-fits'
      upheld show one-device --format json

    Exit codes: 0 shown, whatever the verdict; 2 there is no such record or claim.
    """
    judged = open_judged(root, as_of)
    claim = judged.get(id_)
    entry = judged.corpus.entries.get(id_)
    if claim is None and entry is None:
        holder = id_.partition("#")[0]
        claims = [each.id for each in judged.of(holder)]
        known = claims or [*judged.corpus.entries, *(each.id for each in judged.judgements)]
        near = get_close_matches(id_, known, n=3, cutoff=0.5)
        raise CouldNotRun(
            f"there is no record or claim {id_!r}",
            f"did you mean {' or '.join(near)}?" if near else "upheld check lists every claim",
        )
    if format_ == "json":
        from upheld.report.json_text import json_text
        from upheld.report.tree import claim_tree_object, record_object

        shown = claim_tree_object(claim, judged) if claim else record_object(id_, judged)
        click.echo(json_text(shown))
        return
    from upheld.report.tree import claim_lines, record_lines

    lines = claim_lines(claim, judged) if claim else record_lines(id_, judged)
    click.echo("\n".join(lines))
