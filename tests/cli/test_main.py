"""The command line's door."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from upheld import __version__
from upheld.cli import COMMANDS, main
from upheld.records.kinds import KINDS

TESTS = Path(__file__).parents[1]
SMALL = str(TESTS / "corpora" / "small")
# Commands that hold others, with one of these.
GROUPS = {"import": "model", "snapshot": "freeze"}
RESULT = str(TESTS / "corpora" / "benchmarks" / "vllm-serve-summary.json")


def test_version() -> None:
    result = CliRunner().invoke(main, ["--version"])
    assert result.output == f"upheld, version {__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_opens_and_has_an_example(command: str) -> None:
    result = CliRunner().invoke(main, [command, "-h"])
    assert result.exit_code == 0
    if command in GROUPS:
        result = CliRunner().invoke(main, [command, GROUPS[command], "-h"])
    assert f"upheld {command}" in result.output.partition("Example")[2]


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [
        (["--version"], {"pydantic", "yaml", "jinja2", "mkdocs", "markdown_it"}),
        (["--help"], {"pydantic", "yaml", "jinja2", "mkdocs", "markdown_it"}),
        (["read", RESULT], {"pydantic", "jinja2"}),
        (["check", SMALL], {"jinja2", "mkdocs", "markdown_it"}),
    ],
)
def test_loads_only_what_it_needs(arguments: list[str], unwanted: set[str]) -> None:
    code = (
        "import sys\n"
        "from upheld.cli import main\n"
        "main(sys.argv[1:], standalone_mode=False)\n"
        "print('loaded', ' '.join({name.partition('.')[0] for name in sys.modules}))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    loaded = set(result.stdout.rpartition("loaded")[2].split())
    assert "click" in loaded
    assert not loaded & unwanted


def test_help_lists_every_command_with_what_it_does() -> None:
    shown = " ".join(CliRunner().invoke(main, ["-h"]).output.split())
    for name, line in COMMANDS.items():
        assert f"{name} {line}" in shown


def test_no_such_command() -> None:
    result = CliRunner().invoke(main, ["chekc"])
    assert result.exit_code == 2
    assert "No such command 'chekc'" in result.output


@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_colour_is_for_terminals_and_may_be_declined(no_color: str, coloured: bool) -> None:
    arguments = ["check", SMALL]
    on_a_terminal = CliRunner().invoke(main, arguments, color=True, env={"NO_COLOR": no_color})
    assert ("\x1b[" in on_a_terminal.output) is coloured
    assert "\x1b" not in CliRunner().invoke(main, arguments).output


@pytest.mark.parametrize("kind", KINDS)
def test_schema(kind: str) -> None:
    result = CliRunner().invoke(main, ["schema", kind])
    schema = json.loads(result.output)
    assert schema["$schema"].endswith("2020-12/schema")
    assert schema["additionalProperties"] is False
    assert "id" in schema["required"]


def test_schema_of_no_kind() -> None:
    result = CliRunner().invoke(main, ["schema", "claim"])
    assert result.exit_code == 2
    assert "kinds: adr, model" in result.output


def upheld(*arguments: str, **settings: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "upheld.cli", *arguments]
    return subprocess.run(command, stderr=subprocess.PIPE, check=False, **settings)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_result_that_cannot_be_written_is_no_finding() -> None:
    with Path("/dev/full").open("w") as full:
        result = upheld("check", SMALL, stdout=full, text=True)
    assert result.returncode == 2
    assert result.stderr == "Error: the result can't be written: No space left on device\n"


def test_a_reader_who_went_away_is_no_finding_and_no_noise() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe:
        result = upheld("check", SMALL, "--format", "json", stdout=pipe, text=True)
    assert (result.returncode, result.stderr) == (2, "")


def test_a_stop_by_hand_is_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("upheld.cli.check.open_judged", stopped)
    result = CliRunner().invoke(main, ["check", SMALL])
    assert (result.exit_code, result.output) == (2, "Error: stopped before the end\n")


def test_a_closed_output_is_told() -> None:
    command = f"exec {shlex.join([sys.executable, '-m', 'upheld.cli', 'check', SMALL])} >&-"
    result = subprocess.run(
        ["/bin/sh", "-c", command], stderr=subprocess.PIPE, text=True, check=False
    )
    assert result.returncode == 2
    assert result.stderr == "Error: the result can't be written: standard output is closed\n"


def test_a_console_of_another_encoding_gets_escapes() -> None:
    result = upheld(
        "check",
        SMALL,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONIOENCODING": "cp1252"},
    )
    assert result.returncode == 0
    assert b"\\u2713 upheld" in result.stdout


def test_an_argument_cannot_give_orders_to_ci() -> None:
    result = CliRunner().invoke(main, ["check", "x\n::error::y"])
    assert result.exit_code == 2
    assert not any(line.startswith("::") for line in result.output.splitlines())
