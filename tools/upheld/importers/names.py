"""What a model is called, from what its file calls it: an id and a title.

No alias is made of it: a fine-tuned model's file often still names the model that it came from, and
an alias would let one model's runs speak for the other.
"""

from __future__ import annotations

import re
import unicodedata

from upheld.records.types import ID_PATTERN, check_id

_LONGEST_ID = 64


def id_from(name: str) -> str | None:
    """A well-formed id from the last part of a name or path, or None where nothing is left."""
    plain = unicodedata.normalize("NFKD", _last_part(name)).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z0-9._]+", plain.casefold())
    id_ = "-".join(words).lstrip("._-")[:_LONGEST_ID].rstrip("._-")
    try:
        return check_id(id_)
    except ValueError:
        return None


def title_from(name: str) -> str | None:
    """The last part of a name or path as it stands, if an id can be made of it and it is plain."""
    part = _last_part(name)
    return part if id_from(name) is not None and re.fullmatch(ID_PATTERN, part) else None


def _last_part(name: str) -> str:
    return re.split(r"[/\\]", name.strip().rstrip("/\\"))[-1]
