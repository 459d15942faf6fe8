"""What each safety claim needs a policy to declare. What a policy leaves out is not guaranteed.

This reads declarations only. Whether the declared rules keep a promise in every order of events
needs the states explored, so nothing here can uphold a claim: it can only find it impossible.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from upheld.records.policy import Policy


@dataclass(frozen=True, slots=True)
class Requirement:
    """One rule of a policy: `field` as written, whether a value keeps the promise, in words."""

    field: str
    keeps: Callable[[Any], bool]
    wanted: str


def _is(value: object) -> Callable[[Any], bool]:
    return lambda found: bool(found == value)


def _includes(*facts: str) -> Callable[[Any], bool]:
    return lambda found: set(facts) <= set(found)


def _any(_: Any) -> bool:
    return True


_KNOWN = Requirement("outcome.on_timeout", _is("unknown"), "unknown")
_NO_REPLAY = Requirement("fallback.after_output", _is("never"), "never")
_WHEN = Requirement("fallback.when", _any, "a list of known outcomes")

REQUIREMENTS: dict[str, tuple[Requirement, ...]] = {
    "safety.ready_before_routing": (
        Requirement("admission.route_approved", _is(True), "true"),
        Requirement(
            "readiness.requires",
            _includes("model_loaded", "model_digest", "engine_version", "envelope_covers_request"),
            "model_loaded, model_digest, engine_version and envelope_covers_request",
        ),
    ),
    "safety.no_work_while_draining": (Requirement("drain.stop_new_work", _is(True), "true"),),
    "safety.no_duplicate_effect": (_KNOWN, _WHEN, _NO_REPLAY),
    "safety.approved_fallback": (
        _WHEN,
        Requirement("fallback.providers", bool, "each provider with its data and behaviour"),
    ),
    "safety.no_erased_outcome": (
        _KNOWN,
        Requirement("outcome.retain_unknown", _is(True), "true"),
        Requirement("outcome.reconcile", _any, "how an outcome is reconciled"),
        Requirement("drain.on_deadline", _is("unknown"), "unknown"),
    ),
    "safety.no_replay_after_output": (_NO_REPLAY,),
    "safety.bounded_queue": (
        Requirement("queue.max_requests", _any, "a bound"),
        Requirement("queue.max_prompt_tokens", _any, "a bound"),
    ),
    "safety.bounded_request": (
        Requirement("admission.max_prompt_tokens", _any, "a bound"),
        Requirement("admission.max_output_tokens", _any, "a bound"),
    ),
    "safety.bounded_attempts": (
        Requirement("attempts.max_per_provider", _any, "a bound"),
        Requirement("attempts.deadline", _any, "a deadline"),
        Requirement("fallback.max_hops", _any, "a bound"),
    ),
    "safety.budget_reserved": (
        Requirement("budget.reserve_at", _is("admission"), "admission"),
        Requirement("budget.hold_while_unknown", _is(True), "true"),
    ),
}


@dataclass(frozen=True, slots=True)
class Declared:
    """What a policy declares towards one safety claim: rules kept, broken and absent, in words."""

    kept: tuple[str, ...]
    broken: tuple[str, ...]
    absent: tuple[str, ...]


def declared(policy: Policy, metric: str) -> Declared:
    """Hold the policy's rules against what `metric` needs.

    Raises:
        KeyError: no requirement is known for the metric.
    """
    kept, broken, absent = [], [], []
    for requirement in REQUIREMENTS[metric]:
        value: Any = policy
        for part in requirement.field.split("."):
            value = getattr(value, part) if value is not None else None
        if value is None:
            absent.append(requirement.field)
        elif requirement.keeps(value):
            kept.append(requirement.field)
        else:
            broken.append(f"{requirement.field} is {_words(value)}, not {requirement.wanted}")
    return Declared(tuple(kept), tuple(broken), tuple(absent))


def _words(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(str(item) for item in value) or "empty"
    return str(value).lower() if isinstance(value, bool) else str(value)
