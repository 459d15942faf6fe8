"""`upheld read --suggest`: a mapping for each file of no known format."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import click

from upheld.cli import CLEAN, FINDINGS, CouldNotRun
from upheld.corpus.files import FileError, read_regular
from upheld.measured.content import Content
from upheld.measured.mapping.suggest import suggest
from upheld.measured.read import all_recognised_by
from upheld.report.suggestion import Proposal, proposals_object, proposals_text


def proposals(files: Sequence[Path], format_: str) -> int:
    """Print what is proposed for each file; the exit code says whether each has a mapping.

    Raises:
        CouldNotRun: a file can't be read.
    """
    try:
        made = [_proposal(os.fsdecode(file), read_regular(file)) for file in files]
    except FileError as error:
        raise CouldNotRun(str(error), error.help) from None
    if format_ == "json":
        from upheld.report.json_text import json_text

        click.echo(json_text(proposals_object(made)))
    else:
        click.echo(proposals_text(made), nl=False)
    return CLEAN if all(each.yaml for each in made) else FINDINGS


def _proposal(path: str, data: bytes) -> Proposal:
    content = Content(path, data)
    digest = hashlib.sha256(data).hexdigest()
    known = [each.NAME for each in all_recognised_by(content)]
    found = None if known or content.refusal is not None else suggest(content)
    refusal = None if content.refusal is None else content.refusal.message
    return Proposal(path, digest, known, found, refusal)
