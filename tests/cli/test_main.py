"""The command line's door."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from upheld import __version__
from upheld.cli import COMMANDS, main
from upheld.records.kinds import KINDS


def test_version() -> None:
    result = CliRunner().invoke(main, ["--version"])
    assert result.output == f"upheld, version {__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_opens_and_has_an_example(command: str) -> None:
    result = CliRunner().invoke(main, [command, "-h"])
    assert result.exit_code == 0
    if command == "snapshot":
        result = CliRunner().invoke(main, [command, "freeze", "-h"])
    assert f"upheld {command}" in result.output.partition("Example")[2]


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [
        (["--version"], {"pydantic", "yaml", "jinja2", "mkdocs", "markdown_it"}),
        (["--help"], {"pydantic", "yaml", "jinja2", "mkdocs", "markdown_it"}),
        (["read", "tests/corpora/benchmarks/vllm-serve-summary.json"], {"pydantic", "jinja2"}),
        (["check", "tests/corpora/small"], {"jinja2", "mkdocs", "markdown_it"}),
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
