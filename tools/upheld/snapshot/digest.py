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


def sha256_of(text: str) -> str:
    """Digest of a record's text as it stands in its file."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
