"""The files that a command wrote, found by patterns and copied byte for byte."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from shutil import copyfileobj

from upheld.corpus.files import MAX_RAW_BYTES, FileError, check_relative

MAX_FILES = 1000

_Stamp = tuple[int, int, int]


class PatternError(Exception):
    """A pattern that could lead out of the working folder; the message says so."""


@dataclass(frozen=True, slots=True)
class NotKept:
    """A file that matched and was not copied, and why."""

    path: str
    reason: str


class WrittenFiles:
    """The files below `folder` that match `patterns` and are new or changed since this was made.

    `beside` is the folder that copies go to: what lies in it is not looked at.

    Raises:
        PatternError: a pattern that is absolute, empty or holds `..`.
    """

    def __init__(self, folder: Path, patterns: Sequence[str], beside: Path) -> None:
        for pattern in patterns:
            check_pattern(pattern)
        self._folder = folder
        self._patterns = patterns
        self._beside = beside.resolve()
        self._before = {
            path: _stamp(path) for pattern in patterns for path in self._matching(pattern)
        }

    def copy_to(self, target: Path) -> list[NotKept]:
        """Copy each such file below `target`, under its own path; what is missing there, and why.

        A pattern that no written file matches is missing as well.
        """
        missing: list[NotKept] = []
        written: set[Path] = set()
        for pattern in self._patterns:
            found = {
                path for path in self._matching(pattern) if self._before.get(path) != _stamp(path)
            }
            if not found:
                missing.append(NotKept(pattern, "the command wrote no file that matches"))
            written |= found
        for path in sorted(written)[:MAX_FILES]:
            relative = path.relative_to(self._folder).as_posix()
            try:
                _copy(self._folder, relative, target)
            except FileError as error:
                missing.append(NotKept(relative, str(error)))
        if len(written) > MAX_FILES:
            missing.append(NotKept(f"{len(written) - MAX_FILES:,} more", "too many files match"))
        return missing

    def _matching(self, pattern: str) -> list[Path]:
        return [path for path in self._folder.glob(pattern) if not self._passed_over(path)]

    def _passed_over(self, path: Path) -> bool:
        if path.is_dir() and not path.is_symlink():
            return True
        return path.absolute().is_relative_to(self._beside)


def check_pattern(pattern: str) -> None:
    """Refuse a pattern that is empty, absolute or holds `..`.

    Raises:
        PatternError: it is one of those.
    """
    if not pattern or pattern.startswith(("/", "~")) or ".." in PurePosixPath(pattern).parts:
        raise PatternError(f"{pattern!r} does not stay in the working folder")


def _stamp(path: Path) -> _Stamp | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _copy(folder: Path, relative: str, target: Path) -> None:
    for at in _steps(folder, check_relative(relative)):
        if at.is_symlink():
            raise FileError("it is, or lies behind, a symbolic link", "keep the file itself")
    try:
        handle = os.open(folder / relative, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        with os.fdopen(handle, "rb") as source:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise FileError("it is not a regular file", "keep plain files")
            if status.st_size > MAX_RAW_BYTES:
                raise FileError(
                    f"it has {status.st_size:,} bytes; at most {MAX_RAW_BYTES:,} are kept",
                    "split it, or keep the large part elsewhere",
                )
            copy = target / relative
            copy.parent.mkdir(parents=True, exist_ok=True)
            with copy.open("xb") as kept:
                copyfileobj(source, kept)
    except OSError as error:
        raise FileError(f"it can't be copied: {error.strerror}", "check its permissions") from None


def _steps(folder: Path, relative: PurePosixPath) -> Iterator[Path]:
    at = folder
    for part in relative.parts:
        at = at / part
        yield at
