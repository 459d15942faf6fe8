"""Which files of a corpus are records."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from upheld.records.finding import Finding, Place

# Folders of this name hold the raw files of benchmark tools, which are never records.
RAW = "raw"
SUFFIXES = (".yaml", ".yml")
MAX_DEPTH = 32


def has_folder(root: Path, folders: tuple[str, ...]) -> bool:
    """Whether any of the folders is there to look into."""
    return any(_mode(root / folder) is not None for folder in folders)


def discover(root: Path, folders: tuple[str, ...]) -> Iterator[str | Finding]:
    """Paths of record files under `root`, in order; a finding for each that is not a plain file."""
    for folder in folders:
        parts = PurePosixPath(folder).parts
        holders = ["/".join(parts[: depth + 1]) for depth in range(len(parts))]
        link = next((each for each in holders if _is_link(_mode(root / each))), None)
        mode = _mode(root / folder)
        if link is not None:
            yield _refuse(link, "is a symbolic link", "commit the folder itself")
        elif mode is not None and stat.S_ISDIR(mode):
            yield from _walk(root, folder)
        elif mode is not None:
            yield _refuse(folder, "is not a folder", "records are files in a folder of that name")


def _walk(root: Path, top: str) -> Iterator[str | Finding]:
    # Not recursive, so that folders within folders can't exhaust the stack.
    pending = [top]
    while pending:
        path = pending.pop()
        try:
            mode = (root / path).lstat().st_mode
            names = [each.name for each in (root / path).iterdir()] if stat.S_ISDIR(mode) else []
        except OSError as error:
            yield _refuse(path, f"can't be looked at: {error.strerror}", "check its permissions")
            continue
        if _is_link(mode):
            yield _refuse(path, "is a symbolic link", "commit the file itself")
        elif stat.S_ISDIR(mode) and path.count("/") > MAX_DEPTH:
            yield _refuse(path, f"is more than {MAX_DEPTH} folders deep", "move it further up")
        elif stat.S_ISDIR(mode):
            # The last is taken first.
            names.sort(reverse=True)
            pending.extend(f"{path}/{name}" for name in names if not _is_passed_over(name))
        elif path.endswith(SUFFIXES):
            plain = stat.S_ISREG(mode)
            yield path if plain else _refuse(path, "is not a regular file", "remove it")


def _is_passed_over(name: str) -> bool:
    return name.startswith(".") or name == RAW


def _mode(file: Path) -> int | None:
    try:
        return file.lstat().st_mode
    except OSError:
        return None


def _is_link(mode: int | None) -> bool:
    return mode is not None and stat.S_ISLNK(mode)


def _refuse(path: str, message: str, help_text: str) -> Finding:
    return Finding("UPH110", Place(path), f"{path} {message}", help_text)
