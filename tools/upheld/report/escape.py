"""Text that anybody may have written, made safe to print on a terminal."""

from __future__ import annotations

import re

# GitHub obeys `::error …::` where a line begins, after blanks, and `##[…]` anywhere in one; Azure
# Pipelines obeys `##vso[…]`.
_COMMAND = re.compile(r"(^ *):(?=:)|#(?=#(?:\[|vso\[))")


def printable(text: str) -> str:
    """`text` with each character that could move a cursor, end a line or hide written out.

    So is the first character of what a CI runner would take for a command.
    """
    if not text.isprintable():
        text = "".join(
            each if each.isprintable() else each.encode("unicode_escape").decode("ascii")
            for each in text
        )
    return _COMMAND.sub(lambda found: f"{found[1] or ''}\\x{ord(found[0][-1]):02x}", text)


def one_line(text: str) -> str:
    """`printable` text with each run of white space as one space."""
    return printable(" ".join(text.split()))
