"""Which files of a corpus are records."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from upheld.records.finding import Finding, Place

# Folders of this name hold the raw files of benchmark tools, which are never records.
RAW = "raw"
SUFFIXES = (".yaml", ".yml")


def discover(root: Path, folders: tuple[str, ...]) -> Iterator[str | Finding]:
    """Paths of record files under `root`, in order; a finding for each that is not a plain file."""
    for folder in folders:
        if (root / folder).is_dir():
            yield from _walk(root, folder)


def _walk(root: Path, folder: str) -> Iterator[str | Finding]:
    if (root / folder).is_symlink():
        yield _refuse(folder, "is a symbolic link", "commit the folder itself")
        return
    try:
        with os.scandir(root / folder) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
    except OSError as error:
        yield _refuse(folder, f"can't be listed: {error.strerror}", "check its permissions")
        return
    for entry in entries:
        path = f"{folder}/{entry.name}"
        if entry.name.startswith("."):
            continue
        if entry.is_symlink():
            yield _refuse(path, "is a symbolic link", "commit the file itself")
        elif entry.is_dir(follow_symlinks=False):
            if entry.name != RAW:
                yield from _walk(root, path)
        elif entry.name.endswith(SUFFIXES):
            if stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode):
                yield path
            else:
                yield _refuse(path, "is not a regular file", "remove it")


def _refuse(path: str, message: str, help_text: str) -> Finding:
    return Finding("UPH110", Place(path), f"{path} {message}", help_text)
