"""A judgement: one claim, its verdict, why, and all that it rests on."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from typing import Literal

from upheld.arithmetic.ledger import Ledger
from upheld.corpus.load import Corpus
from upheld.judge.evidence import RunEvidence
from upheld.records.adr import Adr
from upheld.records.claim import Claim
from upheld.records.deployment import Deployment
from upheld.records.finding import Finding, Place
from upheld.records.policy import Policy
from upheld.records.verdicts import Verdict

Holder = Adr | Deployment | Policy
ValueKind = Literal["computed", "measured"]


@dataclass(frozen=True, slots=True)
class Value:
    """The figure that was held against the expectation, in base units, and how it came about."""

    kind: ValueKind
    base: Fraction
    shown: str
    formula: str


@dataclass(frozen=True, slots=True)
class Piece:
    """One row of a run as evidence: whether it counts, and if not why."""

    run: str
    case: str | None
    counts: bool
    says: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a basis has to say of a claim, before the gate looks at it.

    `rests_on` names what was used; judging follows it on to everything below.
    """

    verdict: Verdict
    because: str
    rests_on: frozenset[str] = frozenset()
    value: Value | None = None
    pieces: tuple[Piece, ...] = ()
    promotable: str | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """A claim as judged. `id` is `ADR-009#kv-fits`; `blocks` is the gate's word."""

    id: str
    claim: Claim
    holder: Holder
    place: Place
    outcome: Outcome
    blocks: bool

    @property
    def verdict(self) -> Verdict:
        """The claim's verdict."""
        return self.outcome.verdict

    @property
    def rests_on(self) -> list[str]:
        """Ids of every assumption, source and run that the verdict reaches, sorted."""
        return sorted(self.outcome.rests_on)


@dataclass(frozen=True, slots=True)
class Judged:
    """A corpus with every claim judged."""

    corpus: Corpus
    as_of: date
    judgements: list[Judgement]
    findings: list[Finding]
    ledgers: dict[str, Ledger] = field(default_factory=dict)
    runs: dict[str, RunEvidence] = field(default_factory=dict)

    @property
    def blocked(self) -> bool:
        """Whether anything is wrong enough to stop a change."""
        return any(finding.severity == "error" for finding in self.findings)

    def of(self, holder: str) -> list[Judgement]:
        """The judgements of one record's claims, as written."""
        return [judgement for judgement in self.judgements if judgement.holder.id == holder]

    def get(self, id_: str) -> Judgement | None:
        """The judgement of `ADR-009#kv-fits`."""
        return next((judgement for judgement in self.judgements if judgement.id == id_), None)
