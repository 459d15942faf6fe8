"""`upheld schema`: what an editor needs to complete and check a record."""

from __future__ import annotations

import click

from upheld.cli import CouldNotRun

_DRAFT = "https://json-schema.org/draft/2020-12/schema"


@click.command("schema")
@click.argument("kind")
def command(kind: str) -> None:
    """Print the JSON Schema (2020-12) of a KIND of record.

    \b
    Examples:
      upheld schema adr > adr.schema.json
      # in a record, for editors with the YAML language server:
      # yaml-language-server: $schema=adr.schema.json

    Exit codes: 0 printed, 2 no such kind.
    """
    from upheld.records.kinds import KINDS
    from upheld.report.json_text import json_text

    model = KINDS.get(kind)
    if model is None:
        raise CouldNotRun(f"there is no kind of record {kind!r}", f"kinds: {', '.join(KINDS)}")
    schema = {"$schema": _DRAFT, "$id": f"upheld:{kind}", **model.model_json_schema()}
    click.echo(json_text(schema))
