"""Options and doors that several commands share."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from upheld.cli import CouldNotRun

if TYPE_CHECKING:
    from upheld.corpus.load import Corpus
    from upheld.judge.judgement import Judged


def _iso_date(text: str) -> date:
    try:
        found = date.fromisoformat(text)
    except ValueError:
        found = None
    # Python reads other forms as well, such as 20261201.
    if found is None or found.isoformat() != text:
        raise click.BadParameter(f"{text!r} is no date; write it as YYYY-MM-DD")
    return found


as_of_option = click.option(
    "--as-of", type=_iso_date, metavar="DATE", help="Judge as of this day (default: today)."
)
format_option = click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="For people, or for scripts.",
)
root_option = click.option(
    "--root",
    type=click.Path(path_type=Path),
    default=Path(),
    metavar="DIR",
    help="The corpus (default: here).",
)


def open_corpus(root: Path) -> Corpus:
    """Load the corpus at `root`.

    Raises:
        CouldNotRun: nothing there to judge, or a configuration that can't be used.
    """
    from upheld.corpus.config import ConfigError
    from upheld.corpus.load import CorpusError, load

    try:
        return load(root)
    except CorpusError as error:
        raise CouldNotRun(
            str(error),
            "name the directory that holds adrs/ and evidence/, or set records in [tool.upheld]",
        ) from None
    except ConfigError as error:
        raise CouldNotRun(str(error), "correct the configuration") from None


def open_judged(root: Path, as_of: date | None) -> Judged:
    """Load and judge the corpus at `root`.

    Raises:
        CouldNotRun: see open_corpus.
    """
    from upheld.judge.judge import judge_corpus

    return judge_corpus(open_corpus(root), as_of)
