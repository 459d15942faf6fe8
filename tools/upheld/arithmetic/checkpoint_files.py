"""Files of stored weights: opened within bounds, and what is wrong with one."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

MAX_HEADER = 64 * 1024 * 1024
MAX_TENSORS = 1_000_000
MAX_NAME = 65_535
MAX_DIMENSIONS = 8
MAX_SIZE = 2**60
COMPLETE = "use the file as it was published, complete"


class CheckpointError(ValueError):
    """The file does not say what the weights take; `help` says how to go on."""

    def __init__(self, message: str, help_text: str) -> None:
        super().__init__(message)
        self.help = help_text


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """One tensor as a header has it: `shape` in the order of the file's own format."""

    dtype: str
    shape: tuple[int, ...]
    bytes: int


@contextmanager
def opened(file: Path) -> Iterator[tuple[IO[bytes], int]]:
    """A regular file for reading, and its size.

    Raises:
        CheckpointError: it is none, or can't be read.
    """
    # Not to wait for a pipe: it is refused below.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(file, flags), "rb") as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise CheckpointError("it is no regular file", "give a file on disk")
            yield stream, status.st_size
    except (OSError, ValueError) as error:
        if isinstance(error, CheckpointError):
            raise
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "bad name"
        raise CheckpointError(f"it can't be read: {reason}", "check the path") from None


def exactly(stream: IO[bytes], length: int) -> bytes:
    """The next `length` bytes.

    Raises:
        CheckpointError: the file ends before.
    """
    data = stream.read(length)
    if len(data) != length:
        raise CheckpointError("it is cut short inside its header", COMPLETE)
    return data


def elements_of(name: str, shape: Sequence[int]) -> int:
    """The elements of a tensor.

    Raises:
        CheckpointError: more than any tensor has.
    """
    elements = 1
    for size in shape:
        elements *= size
        if elements > MAX_SIZE:
            raise CheckpointError(f"{name} has over {MAX_SIZE:,} elements", COMPLETE)
    return elements
