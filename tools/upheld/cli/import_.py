"""`upheld import`: records from files in other forms."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from upheld.cli import FINDINGS, CouldNotRun
from upheld.cli.ids import checked_id
from upheld.cli.output import write_whole
from upheld.report.escape import printable

if TYPE_CHECKING:
    from upheld.importers.model import Naming


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
    "--config",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The config.json that goes with tensors (default: that beside them).",
)
@click.option(
    "--config-origin",
    metavar="ID",
    help="The source or assumption of that config.json, if not --origin.",
)
@click.option(
    "--torch-dtype",
    type=click.Choice(["bfloat16", "float16", "float32"]),
    help="What the model computes in, where FILE is a GGUF file that does not say.",
)
@click.pass_context
def model_command(
    ctx: click.Context,
    file: Path,
    origin: str,
    assumed: str | None,
    id_: str | None,
    title: str | None,
    output: Path | None,
    config: Path | None,
    config_origin: str | None,
    torch_dtype: str | None,
) -> None:
    """Make a model record from FILE: a config.json, a GGUF file, or safetensors or their index.

    FILE is on disk and known by its content; nothing is fetched, and of weights the headers alone
    are read. Safetensors do not say how many heads there are: the config.json that goes with them
    does, and their shapes are held against it. What it leaves out and was
    assumed stands in the record's notes. A fact that the record needs and nothing gives is refused
    by name. An existing file is never overwritten.

    \b
    Examples:
      upheld import model config.json --origin example-shape
      upheld import model config.json --origin example-shape --id example-8b \\
        --output evidence/models/example-8b.yaml
      upheld import model model.gguf --origin example-shape --torch-dtype bfloat16
      upheld import model model.safetensors.index.json --origin example-weights \\
        --config config.json --config-origin example-shape

    Exit codes: 0 made, 1 tensors contradict the config.json, 2 the file gives no record.
    """
    from upheld.arithmetic.configs import ConfigError
    from upheld.corpus.files import FileError
    from upheld.importers.model import Naming
    from upheld.importers.safetensors import Contradictions

    another = "name an id such as example-8b"
    for each in (origin, assumed, id_, config_origin):
        if each is not None:
            checked_id(each, another)
    if output is not None and (output.exists() or output.is_symlink()):
        raise CouldNotRun(f"{output} is there already", "name a new file, or remove that one")
    naming = Naming(origin, id_, title, file.absolute().parent.name, assumed)
    try:
        text = _text_of(file, naming, _Beside(config, config_origin, torch_dtype))
    except FileError as error:
        raise CouldNotRun(str(error), error.help) from None
    except ConfigError as error:
        raise CouldNotRun(f"{file}: {error}", error.help) from None
    except Contradictions as error:
        for finding in error.findings:
            click.echo(printable(f"Error: {file}: {finding}"), err=True)
        click.echo("  help: give the config.json that is published with these weights", err=True)
        ctx.exit(FINDINGS)
    if output is None:
        click.echo(text, nl=False)
    else:
        write_whole(output, text)
        click.echo(f"Written: {printable(str(output))}")


@dataclass(frozen=True, slots=True)
class _Beside:
    """Options about what FILE does not say itself."""

    config: Path | None
    config_origin: str | None
    torch_dtype: str | None


def _text_of(file: Path, naming: Naming, beside: _Beside) -> str:
    from upheld.arithmetic.checkpoints import is_safetensors
    from upheld.arithmetic.config_json import MAX_BYTES
    from upheld.arithmetic.configs import ConfigError
    from upheld.arithmetic.gguf_header import is_gguf
    from upheld.corpus.files import read_regular
    from upheld.importers.gguf import gguf_text
    from upheld.importers.model import model_text
    from upheld.importers.safetensors import tensors_text
    from upheld.importers.tensors import is_index

    gguf, tensors = is_gguf(file), is_safetensors(file) or is_index(file)
    if beside.torch_dtype is not None and not gguf:
        raise ConfigError("--torch-dtype goes with a GGUF file", "config.json says it itself")
    if not tensors and (beside.config or beside.config_origin):
        raise ConfigError(
            "--config and --config-origin go with safetensors or their index", "leave them out"
        )
    if gguf:
        return gguf_text(file, naming, beside.torch_dtype)
    if not tensors:
        return model_text(read_regular(file, MAX_BYTES), naming)
    config = beside.config or file.parent / "config.json"
    if beside.config is None and not config.exists():
        raise ConfigError(
            "tensors do not say how many heads share a width, and no config.json is beside them",
            "put it beside them, or name it with --config",
        )
    return tensors_text(file, read_regular(config, MAX_BYTES), naming, beside.config_origin)
