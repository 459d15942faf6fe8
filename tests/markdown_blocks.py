"""The fenced blocks of a Markdown page, and the records that they show written into a corpus."""

from __future__ import annotations

import hashlib
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BASE = ROOT / "tests" / "corpora" / "documented"

RUN = "evidence/runs/first-run.yaml"
RAW = "evidence/runs/raw/first-run/result.json"

_FENCE = re.compile(r"^```(?P<info>[^`\n]+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r'title="(?P<path>[^"]+)"')
_LINK = re.compile(r"^\$ ln -s (?P<target>\S+) (?P<path>\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the path in its title if it has one, and its text."""

    language: str
    path: str | None
    text: str


def blocks_of(markdown: str) -> list[Block]:
    """Every fenced block, in order."""
    return [
        Block(
            fence["info"].split()[0],
            title["path"] if (title := _TITLE.search(fence["info"])) else None,
            fence["body"],
        )
        for fence in _FENCE.finditer(markdown)
    ]


def section(markdown: str, heading: str) -> str:
    """The text below `## heading`, up to the next heading of that level."""
    _, found, rest = f"\n{markdown}".partition(f"\n## {heading}\n")
    assert found, f"there is no section {heading!r}"
    return rest.partition("\n## ")[0]


def corpus_with(blocks: list[Block], root: Path) -> Path:
    """The base corpus in `root`, with the blocks that have a title written over it.

    A block without a title may make a symbolic link, as `$ ln -s TARGET PATH`. Where a raw file
    is shown without its run record, the base's record gets the digest of what is shown.
    """
    shutil.copytree(BASE, root, dirs_exist_ok=True)
    written = {block.path: block.text for block in blocks if block.path}
    for path, text in written.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    for block in blocks:
        for link in _LINK.finditer(block.text):
            (root / link["path"]).symlink_to(link["target"])
    if RAW in written and RUN not in written:
        digest = hashlib.sha256((root / RAW).read_bytes()).hexdigest()
        run = root / RUN
        run.write_text(re.sub(r"\b[0-9a-f]{64}\b", digest, run.read_text("utf-8")), "utf-8")
    return root


def table_of(markdown: str, header: str) -> list[list[str]]:
    """The rows of every table whose first header cell is `header`, as lists of cells."""
    rows: list[list[str]] = []
    inside = False
    for line in markdown.splitlines():
        if not line.startswith("|"):
            inside = False
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not inside:
            inside = cells[0] == header
        elif inside and not set(cells[0]) <= set("-:"):
            rows.append(cells)
    return rows
