"""Text that anybody may have written, made safe to print on a terminal."""

from __future__ import annotations


def printable(text: str) -> str:
    """`text` with each character that could move a cursor, end a line or hide written out."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii")
        for each in text
    )


def one_line(text: str) -> str:
    """`printable` text with each run of white space as one space."""
    return printable(" ".join(text.split()))
