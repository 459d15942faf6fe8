"""Text that anybody may have written, made safe to print on a terminal."""

from __future__ import annotations

import re

# Controls (C0 apart from newline, DEL, C1), bidirectional and invisible characters, surrogates.
_UNSAFE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def printable(text: str) -> str:
    """`text` with each character that could move a cursor or hide shown as `\\u202e`."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def one_line(text: str) -> str:
    """`printable` text on one line."""
    return printable(" ".join(text.split()))
