"""Text of others, kept short where a message quotes it."""

from __future__ import annotations


def shorten(text: str, limit: int = 60) -> str:
    """`text`, cut to `limit` characters with an ellipsis in place of the rest."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
