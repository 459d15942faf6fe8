"""A policy: the rules that it declares, those that it leaves out, and what is claimed of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from upheld.judge.judgement import Judged
from upheld.records.policy import Policy
from upheld.records.types import Part
from upheld.site.links import Links
from upheld.site.pages.page import Page
from upheld.site.pages.record import Fact, record_page
from upheld.site.pages.view import plain

_NOT_RULES = frozenset({"kind", "id", "title", "deployment", "assumes", "claims", "notes"})


@dataclass(frozen=True, slots=True)
class PolicyPart:
    """One part of a policy with its rules; a part without rules is not declared."""

    name: str
    rules: tuple[Fact, ...]


def pages(judged: Judged, links: Links) -> Iterator[Page]:
    """One page for each policy."""
    for policy in judged.corpus.of(Policy):
        yield record_page(
            judged,
            links,
            policy,
            "policy.html",
            search_boost=1.5,
            parts=[_part(name, getattr(policy, name)) for name in _rule_fields()],
            providers=policy.fallback.providers if policy.fallback else [],
        )


def _rule_fields() -> list[str]:
    return [name for name in Policy.model_fields if name not in _NOT_RULES]


def _part(name: str, value: Any) -> PolicyPart:
    if value is None:
        return PolicyPart(name, ())
    if isinstance(value, Part):
        return PolicyPart(name, tuple(_rules(value, "")))
    return PolicyPart(name, (Fact(name, _words(value)),))


def _rules(part: Part, before: str) -> Iterator[Fact]:
    for name in type(part).model_fields:
        value = getattr(part, name)
        if isinstance(value, Part):
            yield from _rules(value, f"{name}.")
        elif name == "providers":
            yield Fact(name, ", ".join(each.id for each in value) or None)
        else:
            yield Fact(before + name, None if value is None else _words(value))


def _words(value: Any) -> str:
    return plain(value).replace("_", " ")
