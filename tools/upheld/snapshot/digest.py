"""The digest of a snapshot: SHA-256 over canonical JSON of all that it holds."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def digest_of(snapshot: dict[str, Any]) -> str:
    """Digest of a snapshot's document, its own `digest` left out.

    All scalars in a record's document are text, so sorted keys and no white space give the
    canonical form of RFC 8785.
    """
    content = {key: value for key, value in snapshot.items() if key != "digest"}
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8")).hexdigest()


def text_in(data: bytes) -> str:
    """The text in a record's file, the same for each way to end a line and with or without a BOM.

    A checkout may change those, and the text of a snapshot can't hold them.
    """
    return data.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n")


def sha256_of(text: str) -> str:
    """Digest of a record's text."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
