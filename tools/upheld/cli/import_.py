"""`upheld import`: records from files in other forms."""

from __future__ import annotations

from pathlib import Path

import click

from upheld.cli import CouldNotRun
from upheld.cli.ids import checked_id
from upheld.cli.output import write_whole
from upheld.report.escape import printable


@click.group("import")
def command() -> None:
    """Make records from files in other forms."""


@command.command("model")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--origin",
    required=True,
    metavar="ID",
    help="The source or assumption that the facts of the file rest on.",
)
@click.option(
    "--assumed",
    metavar="ID",
    help="The assumption behind what the file leaves out, if there is one.",
)
@click.option("--id", "id_", metavar="ID", help="Id of the record (default: the model's name).")
@click.option("--title", metavar="TEXT", help="Title of the record (default: the model's name).")
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the record to a new file instead of standard output.",
)
@click.option(
    "--torch-dtype",
    type=click.Choice(["bfloat16", "float16", "float32"]),
    help="What the model computes in, where FILE is a GGUF file that does not say.",
)
def model_command(
    file: Path,
    origin: str,
    assumed: str | None,
    id_: str | None,
    title: str | None,
    output: Path | None,
    torch_dtype: str | None,
) -> None:
    """Make a model record from FILE: a model's config.json, or a GGUF file.

    FILE is on disk and known by its content; nothing is fetched, and of a GGUF file the header
    alone is read. What it leaves out and was
    assumed stands in the record's notes. A fact that the record needs and nothing gives is refused
    by name. An existing file is never overwritten.

    \b
    Examples:
      upheld import model config.json --origin example-shape
      upheld import model config.json --origin example-shape --id example-8b \\
        --output evidence/models/example-8b.yaml
      upheld import model model.gguf --origin example-shape --torch-dtype bfloat16

    Exit codes: 0 made, 2 the file gives no record.
    """
    from upheld.arithmetic.config_json import MAX_BYTES
    from upheld.arithmetic.configs import ConfigError
    from upheld.arithmetic.gguf_header import is_gguf
    from upheld.corpus.files import FileError, read_regular
    from upheld.importers.gguf import gguf_text
    from upheld.importers.model import Naming, model_text

    another = "name an id such as example-8b"
    for each in (origin, assumed, id_):
        if each is not None:
            checked_id(each, another)
    if output is not None and (output.exists() or output.is_symlink()):
        raise CouldNotRun(f"{output} is there already", "name a new file, or remove that one")
    naming = Naming(origin, id_, title, file.absolute().parent.name, assumed)
    try:
        if is_gguf(file):
            text = gguf_text(file, naming, torch_dtype)
        elif torch_dtype is not None:
            raise ConfigError("--torch-dtype goes with a GGUF file", "config.json says it itself")
        else:
            text = model_text(read_regular(file, MAX_BYTES), naming)
    except FileError as error:
        raise CouldNotRun(str(error), error.help) from None
    except ConfigError as error:
        raise CouldNotRun(f"{file}: {error}", error.help) from None
    if output is None:
        click.echo(text, nl=False)
    else:
        write_whole(output, text)
        click.echo(f"Written: {printable(str(output))}")
