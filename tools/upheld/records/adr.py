"""An architecture decision record."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from upheld.records.claim import Claim
from upheld.records.types import (
    AdrId,
    AdrRef,
    AssumptionRef,
    Count,
    Date,
    Depth,
    Id,
    Line,
    Part,
    Record,
    Ref,
    SourceRef,
    Text,
)

Status = Literal["proposed", "accepted", "rejected", "deprecated", "superseded"]
FailureKind = Literal["queue", "prefill", "decode", "memory", "unknown-outcome", "other"]


class Option(Part):
    """An alternative, with how deep a reader should go into it."""

    id: Id
    title: Line
    depth: Depth
    summary: Text | None = None
    good: list[Line] = []
    bad: list[Line] = []


class Decision(Part):
    """The option that was taken, and why."""

    option: Id
    because: Text


class Consequences(Part):
    """What follows from the decision."""

    good: list[Line] = []
    bad: list[Line] = []


class Boundary(Part):
    """A line of responsibility: what stands behind it and what may cross it."""

    id: Id
    title: Line
    owns: Line
    crossed_by: Line


class Signal(Part):
    """How one kind of failure is told apart from the others."""

    id: Id
    failure: FailureKind
    title: Line
    seen_as: list[Line] = Field(min_length=1)
    told_apart_by: Line
    respond: Line


class Card(Part):
    """A recall card: a question that is answered from memory in the stated time."""

    id: Id
    ask: Line
    answer: Text
    seconds: Count


class Gate(Part):
    """An exit gate for a learner. It stays unassessed until a named person assesses it."""

    id: Id
    title: Line
    depth: Depth
    task: Text
    passes_when: Line
    state: Literal["unassessed", "passed", "not-passed"] = "unassessed"
    assessed_by: Line | None = None
    assessed_on: Date | None = None

    @model_validator(mode="after")
    def _assessed_by_someone(self) -> Gate:
        assessed = self.state != "unassessed"
        if {self.assessed_by is not None, self.assessed_on is not None} != {assessed}:
            raise ValueError(
                "assessed_by and assessed_on go with a state that was assessed, and only with it"
            )
        return self


class Review(Part):
    """When the cards are gone over again, counted in days from the first reading."""

    after_days: Count
    does: Line


class StoppingPoint(Part):
    """What has not been done, and what would reopen the decision."""

    says: Text
    not_performed: list[Line] = Field(min_length=1)
    reopened_by: list[Line] = Field(min_length=1)


class Adr(Record):
    """A decision with its options, claims, boundaries, failure signals and learning material.

    `supersedes` is written; that another decision supersedes this one is worked out.
    """

    kind: Literal["adr"]
    id: AdrId
    status: Status
    date: Date
    deciders: list[Line] = []
    context: Text
    options: list[Option] = Field(min_length=1)
    decision: Decision
    consequences: Consequences = Consequences()
    claims: list[Claim] = []
    supersedes: list[AdrRef] = []
    related: list[Ref] = []
    boundaries: list[Boundary] = []
    signals: list[Signal] = []
    cards: list[Card] = []
    gates: list[Gate] = []
    reviews: list[Review] = []
    sources: list[SourceRef] = []
    assumes: list[AssumptionRef] = []
    stopping_point: StoppingPoint | None = None

    @model_validator(mode="after")
    def _decides_for_an_option(self) -> Adr:
        known = [option.id for option in self.options]
        if self.decision.option not in known:
            raise ValueError(
                f"decision.option {self.decision.option!r} is none of the options: "
                f"{', '.join(known)}"
            )
        return self
