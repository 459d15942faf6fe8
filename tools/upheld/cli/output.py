"""Writing a result to a file: whole or not at all, and never where it could do harm."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from upheld.cli import CouldNotRun


def write_whole(path: Path, text: str) -> None:
    """Replace `path` with `text` in one step.

    Raises:
        CouldNotRun: a symbolic link, a directory, inside .git, or not writable.
    """
    refusal = None
    if path.is_symlink():
        refusal = "it is a symbolic link"
    elif path.is_dir():
        refusal = "it is a directory"
    elif ".git" in (part.casefold() for part in path.absolute().parts):
        refusal = "it is inside .git"
    if refusal:
        raise CouldNotRun(f"{path} is not written: {refusal}", "name a plain file")
    temporary: str | None = None
    try:
        handle, temporary = tempfile.mkstemp(dir=path.absolute().parent, prefix=".upheld-")
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise CouldNotRun(
            f"{path} can't be written: {error.strerror}", "check the folder and its permissions"
        ) from None
