"""A snapshot: a decision, all that it rests on and every verdict, frozen with digests."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from upheld.records.types import AdrRef, Basis, Date, Id, Line, Part, Record, Sha256, Text
from upheld.records.verdicts import Verdict


class FrozenRecord(Part):
    """A record as it stood: its path, its text and the digest of that text."""

    id: Id
    path: Line
    sha256: Sha256
    text: Annotated[str, StringConstraints(min_length=1, max_length=1024 * 1024)]


class FrozenFile(Part):
    """A raw file as it stood, by digest."""

    path: Line
    sha256: Sha256


class FrozenVerdict(Part):
    """A verdict as it was given."""

    claim: Line
    basis: Basis
    verdict: Verdict
    because: Text
    rests_on: list[Id] = []


class Snapshot(Record):
    """What was known when the decision stood. `digest` covers everything else in the record."""

    kind: Literal["snapshot"]
    adr: AdrRef
    frozen: Date
    upheld_version: Line
    records: list[FrozenRecord] = Field(min_length=1)
    files: list[FrozenFile] = []
    verdicts: list[FrozenVerdict] = []
    digest: Sha256
