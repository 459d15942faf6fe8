"""Reading files that anybody may have put there: inside the root, regular, bounded, read once."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from io import BufferedReader
from pathlib import Path, PurePosixPath

from upheld.records.shorten import shorten

# What is held in memory as a whole, and what is read in one pass.
MAX_RAW_BYTES = 256 * 1024 * 1024
MAX_STREAMED_BYTES = 1024 * 1024 * 1024


class FileError(Exception):
    """The file is not one that may be read; the message says why and `help` how to mend it."""

    def __init__(self, message: str, help_text: str) -> None:
        super().__init__(message)
        self.help = help_text


_WINDOWS = re.compile(r"(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$")


def check_relative(path: str) -> PurePosixPath:
    """A path in a record: relative, in plain POSIX form, and going nowhere but down.

    Raises:
        FileError: absolute, with `..`, `.`, a drive, a backslash, a pattern, a variable, a
            control character, or leading into `.git`. Nothing is opened to find out.
    """
    bad: str | None = None
    parts = path.split("/")
    if path.startswith(("/", "~")) or re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", path):
        bad = "is absolute or an address"
    elif not path.isprintable() or re.search(r"[\\*?\[\]$%|<>\":]", path):
        bad = "holds a character that a plain path does not have"
    elif any(part in ("", ".", "..") for part in parts):
        bad = "is not written in its shortest form, or leads outside"
    elif any(part.casefold() == ".git" for part in parts):
        bad = "leads into .git"
    elif any(_WINDOWS.match(part) or part.endswith((".", " ")) for part in parts):
        bad = "can't be a file name on every system"
    if bad is not None:
        raise FileError(
            f"the path {_show(path)} {bad}",
            "write a path relative to the corpus root, such as evidence/runs/raw/NAME/result.json",
        )
    return PurePosixPath(*parts)


def read_inside(root: Path, path: str, limit: int = MAX_RAW_BYTES) -> bytes:
    """The bytes of `path` under `root`, no component of which may be a symbolic link.

    Raises:
        FileError: see check_relative; or missing, unreadable, not a regular file, too large.
    """
    return read_regular(_inside(root, path), limit, path)


def open_inside(root: Path, path: str, limit: int = MAX_STREAMED_BYTES) -> BufferedReader:
    """`path` under `root`, open for reading: for a file that is not held in memory as a whole.

    Raises:
        FileError: as read_inside.
    """
    handle = _open(_inside(root, path), limit, _show(path))
    return os.fdopen(handle, "rb")


def digest_inside(root: Path, path: str) -> str:
    """The SHA-256 of `path` under `root`.

    Raises:
        FileError: as read_inside.
    """
    with open_inside(root, path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_regular(file: Path, limit: int = MAX_RAW_BYTES, shown: str | None = None) -> bytes:
    """The bytes of a regular file, in one read, of at most `limit` bytes.

    Raises:
        FileError: missing, unreadable, a directory, pipe or device, or too large.
    """
    name = _show(shown if shown is not None else str(file))
    handle = _open(file, limit, name)
    try:
        with os.fdopen(handle, "rb") as stream:
            data = stream.read(limit + 1)
    except OSError as error:
        raise _unreadable(name, error) from None
    if len(data) > limit:
        raise FileError(f"{name} grew beyond {limit:,} bytes while it was read", "read it again")
    return data


def _inside(root: Path, path: str) -> Path:
    """`path` under `root`, no component of which is a symbolic link."""
    relative = check_relative(path)
    at = root
    for part in relative.parts:
        at = at / part
        try:
            is_link = at.is_symlink()
        except OSError as error:
            raise _unreadable(_show(path), error) from None
        if is_link:
            raise FileError(
                f"{_show(path)} passes through a symbolic link",
                "commit the file itself instead of a link to it",
            )
    return at


def _open(file: Path, limit: int, name: str) -> int:
    """A handle of a regular file of at most `limit` bytes."""
    try:
        # Not blocking: a pipe that nobody writes to would otherwise hold the tool for ever.
        handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise _unreadable(name, error) from None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise FileError(f"{name} is not a regular file", "name a file")
        if status.st_size > limit:
            raise FileError(
                f"{name} has {status.st_size:,} bytes; at most {limit:,} are read",
                "split it, or keep the large part elsewhere",
            )
    except (OSError, FileError) as error:
        os.close(handle)
        raise _unreadable(name, error) if isinstance(error, OSError) else error from None
    return handle


def _unreadable(shown: str, error: OSError) -> FileError:
    reasons = {
        errno.ENOENT: "there is no such file",
        errno.EACCES: "it can't be read: permission denied",
        errno.EPERM: "it can't be read: permission denied",
        errno.ENXIO: "it is not a regular file",
        errno.ELOOP: "it is a loop of symbolic links",
        errno.ENAMETOOLONG: "its name is too long",
        errno.ENOTDIR: "a part of its path is not a directory",
    }
    reason = reasons.get(error.errno or 0, error.strerror or "it can't be read")
    return FileError(f"{shown}: {reason}", "check the path and its permissions")


def _show(path: str) -> str:
    return repr(shorten(path, 120))
