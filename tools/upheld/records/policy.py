"""A serving policy: what a gateway promises. What is absent is not guaranteed."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from upheld.records.claim import Claim
from upheld.records.types import (
    AssumptionRef,
    Count,
    DeploymentRef,
    Duration,
    Flag,
    Id,
    Line,
    Part,
    Record,
    Text,
    Tokens,
    Whole,
)

ReadinessFact = Literal[
    "model_loaded", "model_digest", "engine_version", "envelope_covers_request", "warmed_up"
]


class Admission(Part):
    """Which requests are let in, and what is refused before any engine sees it."""

    route_approved: Flag
    access_current: Flag
    max_prompt_tokens: Tokens
    max_output_tokens: Tokens


class Readiness(Part):
    """What must be true of a replica before it receives a request; a running container is not."""

    requires: list[ReadinessFact] = Field(min_length=1)


class Drain(Part):
    """How a replica is replaced. The grace period includes the pre-stop wait (Kubernetes)."""

    stop_new_work: Flag
    on_deadline: Literal["unknown", "failed"]
    termination_grace_period: Duration
    pre_stop: Duration
    shutdown_timeout: Duration


class Reconcile(Part):
    """How an unknown outcome becomes known."""

    by: Literal["idempotency_key", "request_id", "usage_record"]
    window: Duration


class Outcome(Part):
    """What a time-out or a lost reply means."""

    on_timeout: Literal["unknown", "failed"]
    retain_unknown: Flag
    reconcile: Reconcile | None = None


class Provider(Part):
    """Another provider, with the data and behaviour that it is approved for."""

    id: Id
    data: list[Line] = Field(min_length=1)
    regions: list[Line] = Field(min_length=1)
    behaviour: list[Line] = Field(min_length=1)


class Fallback(Part):
    """When another provider may be asked."""

    when: list[Literal["failed_known", "reconciled_not_executed"]] = Field(min_length=1)
    after_output: Literal["never", "allowed"]
    max_hops: Whole
    providers: list[Provider] = []


class Attempts(Part):
    """How often one request is tried, and for how long."""

    max_per_provider: Count
    deadline: Duration
    retry_layer: Line


class Queue(Part):
    """The bound of the queue, and what happens at it."""

    max_requests: Count
    max_prompt_tokens: Tokens
    overflow: Literal["reject_429", "reject_503"]


class Budget(Part):
    """Slots and tokens of one replica, reserved at admission and held while unknown."""

    slots: Count
    context: Tokens
    tokens_per_minute: Tokens | None = None
    reserve_at: Literal["admission", "completion"]
    hold_while_unknown: Flag


class Policy(Record):
    """The declared rules of one gateway before one deployment."""

    kind: Literal["policy"]
    deployment: DeploymentRef
    admission: Admission | None = None
    readiness: Readiness | None = None
    drain: Drain | None = None
    outcome: Outcome | None = None
    fallback: Fallback | None = None
    attempts: Attempts | None = None
    queue: Queue | None = None
    budget: Budget | None = None
    guard_down: Literal["fail_closed", "fail_open"] | None = None
    assumes: list[AssumptionRef] = []
    claims: list[Claim] = []
    notes: Text | None = None
