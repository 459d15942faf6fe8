"""Commands in the documentation exist, and print what the page says they print."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from textwrap import indent

import click
import pytest
from click.testing import CliRunner

from markdown_blocks import BASE, DOCS, ROOT, Block, blocks_of, table_of
from upheld.cli import COMMANDS, main

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
CORPORA = ROOT / "tests" / "corpora"
COMMAND_LINE = DOCS / "reference" / "command-line.md"

# The day on which every command judges, so that the calendar changes no output.
AS_OF = "2026-12-01"


def commands() -> dict[str, click.Command]:
    """Every command and subcommand by its whole name, `snapshot freeze`."""
    found: dict[str, click.Command] = {}
    context = click.Context(main)
    for name in COMMANDS:
        command = main.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            found |= {f"{name} {each}": inner for each, inner in command.commands.items()}
        else:
            found[name] = command
    return found


def options_of(command: click.Command) -> set[str]:
    own = {name for each in command.params if isinstance(each, click.Option) for name in each.opts}
    return own | {"-h", "--help"}


def command_in(line: str) -> tuple[str, list[str]] | None:
    """The name of the command in `upheld …` and its options; None for `upheld --help`."""
    words = shlex.split(line)[1:]
    if "--" in words:
        # What follows is another program's.
        words = words[: words.index("--")]
    named = re.match(r"[a-z]+( [a-z]+)?", " ".join(words))
    if named is None:
        return None
    known = commands()
    name = next((each for each in (named[0], named[0].split()[0]) if each in known), named[0])
    return name, [word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)]


def command_lines(markdown: str) -> list[str]:
    """Every `upheld …` in a block of commands or in inline code."""
    joined = markdown.replace("\\\n", "")
    in_blocks = re.findall(r"^(?:\$ )?(upheld [a-z-].*)$", joined, re.MULTILINE)
    inline = re.findall(
        r"`(upheld [a-z-][^`]*)`", re.sub(r"^```.*?^```$", "", joined, flags=re.M | re.S)
    )
    return in_blocks + inline


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_and_option_that_a_page_names_exists(page: Path) -> None:
    known = commands()
    for line in command_lines(page.read_text("utf-8")):
        named = command_in(line)
        if named is None or named[0] in ("import", "snapshot"):
            continue
        name, options = named
        assert name in known, line
        assert set(options) <= options_of(known[name]), line


def test_the_reference_has_every_command_with_every_option() -> None:
    page = COMMAND_LINE.read_text("utf-8")
    headings = re.findall(r"^## `upheld ([a-z ]+)`$", page, re.MULTILINE)
    assert sorted(headings) == sorted(commands())
    for name, command in commands().items():
        _, _, rest = page.partition(f"\n## `upheld {name}`\n")
        rows = table_of(rest.partition("\n## ")[0], "option")
        listed = {option for row in rows for option in re.findall(r"`(--?[a-z-]+)", row[0])}
        assert listed == options_of(command) - {"-h", "--help"}, name


# Their members are named by what is read: axes, facts of a file, bases and verdicts.
FREE = {"envelope", "stated", "samples", "claims"}


def keys_of(value: object) -> set[str]:
    """Every key of an object of JSON, however deep."""
    if isinstance(value, list):
        return {key for each in value for key in keys_of(each)}
    if not isinstance(value, dict):
        return set()
    inner = {
        key
        for name, each in value.items()
        if not (name in FREE and isinstance(each, dict))
        for key in keys_of(each)
    }
    return {*value, *inner}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("check", []),
        ("show", ["ADR-001"]),
        ("show", ["ADR-001#weights-fit"]),
        ("memory", ["one-device"]),
        ("read", ["evidence/runs/raw/first-run/result.json"]),
        ("snapshot verify", []),
    ],
)
def test_the_reference_names_every_key_of_json(
    name: str, arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(BASE, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    runner.invoke(main, ["snapshot", "freeze", "ADR-001", "--as-of", AS_OF])
    result = runner.invoke(main, [*name.split(), *arguments, "--format", "json"])
    assert result.exit_code == 0, result.output
    shapes = {
        each: next(
            block.text
            for block in blocks_of(
                COMMAND_LINE.read_text("utf-8").partition(f"\n## `upheld {each}`\n")[2]
            )
            if block.language == "text"
        )
        for each in ("check", name)
    }
    listed = set(re.findall(r'"(\w+)"', "".join(shapes.values())))
    assert keys_of(json.loads(result.output)) <= listed


def prepare(page: Path, folder: Path) -> None:
    """What a page takes to be there: nothing, files of the reader, or a corpus."""
    if page.name == "README.md":
        for each in ("adrs", "evidence"):
            shutil.copytree(ROOT / each, folder / each)
        (claim,) = [each for each in blocks_of(page.read_text("utf-8")) if each.language == "yaml"]
        adr = next((folder / "adrs").glob("ADR-009-*.yaml"))
        claims = "\nclaims:\n" + indent(claim.text, "  ")
        adr.write_text(adr.read_text("utf-8").replace("\nclaims:\n", claims, 1), "utf-8")
    elif page.name != "getting-started.md":
        shutil.copytree(BASE, folder, dirs_exist_ok=True)
    shutil.copy(CORPORA / "configs" / "llama-8b.json", folder / "config.json")
    shutil.copy(CORPORA / "benchmarks" / "vllm-serve-detailed.json", folder / "result.json")
    shutil.copy(CORPORA / "benchmarks" / "vllm-startup-8b.log", folder / "engine.log")


def printed(said: str) -> re.Pattern[str]:
    """What the page says is printed; a line of `…` stands for any lines, as `:9:5:` for any place.

    Places are left open so that a change of ADR-009 does not need one of the README.
    """
    lines = [line.rstrip() for line in said.rstrip("\n").split("\n")]
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "…" else re.escape(line) + r"\n" for line in lines
    )
    return re.compile(re.sub(r":\d+:\d+:", lambda _: r":\d+:\d+:", pattern))


def run_console(block: Block) -> None:
    text = block.text.replace("\\\n", "")
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, said = part.partition("\n")
        if not line.startswith("upheld ") or not said.strip():
            continue
        words = shlex.split(line)[1:]
        if "--as-of" in options_of(commands().get(words[0], main)):
            words += ["--as-of", AS_OF]
        result = CliRunner().invoke(main, words)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        output = "".join(f"{each.rstrip()}\n" for each in result.output.rstrip("\n").split("\n"))
        assert printed(said).fullmatch(output), f"$ {line}\n{output}"


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.parent != DOCS / "rules"],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_commands_print_what_the_page_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(page, tmp_path)
    monkeypatch.chdir(tmp_path)
    for block in blocks_of(page.read_text("utf-8")):
        if block.path is not None:
            file = tmp_path / block.path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, "utf-8")
        elif block.language == "console":
            run_console(block)
