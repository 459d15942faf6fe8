"""What a row in the making needs of the file around it: where each value stands."""

from __future__ import annotations

from typing import Protocol

from upheld.corpus.strict_json import Keys
from upheld.records.finding import Place


class Places(Protocol):
    """A file's content, whatever its syntax."""

    def place(self, document: int = 0, keys: Keys = ()) -> Place:
        """Where the value at `keys` of a document stands, or the nearest thing around it."""
