"""A record as it was read."""

from __future__ import annotations

from dataclasses import dataclass

from upheld.corpus.yaml_reader import Document
from upheld.records.types import Record


@dataclass(frozen=True, slots=True)
class Entry:
    """A record with the document that it was read from and the digest of its bytes."""

    record: Record
    document: Document
    sha256: str

    @property
    def kind(self) -> str:
        """The record's kind, such as `adr`."""
        kind: str = getattr(self.record, "kind")  # noqa: B009  # every subclass names it
        return kind
