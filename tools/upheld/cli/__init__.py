"""The command line. Each command is one file; this one only finds and opens the door."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from io import TextIOWrapper
from keyword import iskeyword
from typing import Any

import click

from upheld import __version__
from upheld.report.escape import printable

# name → one line of help, so that `upheld --help` imports no command.
COMMANDS = {
    "check": "Validate, link, compute and judge a corpus: the gate.",
    "import": "Records from files in other forms: a config.json, GGUF or safetensors.",
    "memory": "The memory ledger of a deployment, or of a model's config.json or GGUF file.",
    "read": "What a raw benchmark file says, recomputed, and what it leaves out.",
    "record": "Run a benchmark, keep its files, and write the record of the run.",
    "schema": "JSON Schema of a kind of record, for editors.",
    "show": "One record or claim with its verdict and all that it rests on.",
    "snapshot": "Freeze a decision with all that it rests on, and verify it.",
}

CLEAN, FINDINGS, COULD_NOT_RUN = 0, 1, 2


class _LazyGroup(click.Group):
    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run; where the result can't be written that is exit 2, since it is no finding."""
        if sys.stdout is None:
            sys.stderr.write("Error: the result can't be written: standard output is closed\n")
            sys.exit(COULD_NOT_RUN)
        if isinstance(sys.stdout, TextIOWrapper):
            # A console of another encoding shows what it can't as an escape.
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            try:
                return super().main(*args, **kwargs)
            finally:
                sys.stdout.flush()
        except OSError as error:
            if not isinstance(error, BrokenPipeError):
                sys.stderr.write(f"Error: the result can't be written: {error.strerror}\n")
            # What is still held back can't be written either, also not by the interpreter's end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(COULD_NOT_RUN)

    def invoke(self, ctx: click.Context) -> Any:
        """Open the door; a reader who went away, or a stop by hand, is no finding either."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise CouldNotRun("stopped before the end") from None
        except BrokenPipeError:
            ctx.exit(COULD_NOT_RUN)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = f"{name}_" if iskeyword(name) else name
        command: click.Command = import_module(f"upheld.cli.{module}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))


class CouldNotRun(click.ClickException):
    """The tool could not do what was asked: exit 2, with what to do about it."""

    exit_code = COULD_NOT_RUN

    def __init__(self, message: str, help_text: str | None = None) -> None:
        lines = [message] if help_text is None else [message, f"  help: {help_text}"]
        super().__init__("\n".join(map(printable, lines)))


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="upheld")
def main() -> None:
    """Every claim, upheld or blocked.

    \b
    Examples:
      upheld read result.json
      upheld memory --config config.json --engine vllm --device-memory '80 GiB'
      upheld check

    Exit codes: 0 clean, 1 findings, 2 the tool could not run.
    """
    if os.environ.get("NO_COLOR"):
        click.get_current_context().color = False
