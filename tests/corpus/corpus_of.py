"""A corpus on disk from the texts of its files."""

from __future__ import annotations

from pathlib import Path

from upheld.corpus.load import Corpus, load


def write(root: Path, files: dict[str, str | bytes]) -> None:
    """Write the files below `root`."""
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())


def corpus_of(root: Path, files: dict[str, str | bytes]) -> Corpus:
    """The corpus that these files are."""
    write(root, files)
    return load(root)


def said(corpus: Corpus) -> list[tuple[str, str, str]]:
    """Rule, place and message of each finding, by place."""
    return sorted((each.rule, str(each.place), each.message) for each in corpus.findings)


def assumption(id_: str, *lines: str) -> str:
    """A valid assumption of that id, with more lines."""
    return "\n".join([
        "kind: assumption", f"id: {id_}", "title: T", "says: S", "why: W", "owner: O",
        "date: 2026-11-02", *lines, "",
    ])  # fmt: skip


def decision(id_: str, *lines: str) -> str:
    """A valid decision of that id, with more lines."""
    return "\n".join([
        "kind: adr", f"id: {id_}", "title: T", "date: 2026-11-02", "context: C",
        "options: [{id: o, title: O, depth: build}]", "decision: {option: o, because: B}",
        *(lines if any(line.startswith("status:") for line in lines) else
          ("status: accepted", *lines)), "",
    ])  # fmt: skip
