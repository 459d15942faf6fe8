"""Text that anybody may have written, made safe to print on a terminal."""

from __future__ import annotations

import re

# GitHub obeys `::error …::` at the start of a line and `##[…]` anywhere in one; Azure Pipelines
# obeys `##vso[…]`.
_COMMAND = re.compile(r"^:(?=:)|#(?=#(?:\[|vso\[))")


def printable(text: str) -> str:
    """`text` with each character that could move a cursor, end a line or hide written out."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii")
        for each in text
    )


def one_line(text: str) -> str:
    """`printable` text with each run of white space as one space, and no command to a CI runner."""
    return _COMMAND.sub(_spelt_out, printable(" ".join(text.split())))


def _spelt_out(found: re.Match[str]) -> str:
    return f"\\x{ord(found.group()):02x}"
