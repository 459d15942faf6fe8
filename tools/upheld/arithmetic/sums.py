"""The sum behind each metric, in words and numbers, and the facts that it rests upon."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from upheld.arithmetic.ledger import Ledger
from upheld.arithmetic.terms import Term
from upheld.records.units import format_bytes

_LABELS = {"kv_cache": "KV cache"}


@dataclass(frozen=True, slots=True)
class Sum:
    """How a figure was worked out, and the origins of the facts that went into it."""

    formula: str
    given: tuple[str, ...]


def sum_of(metric: str, ledger: Ledger) -> Sum:
    """The sum behind `metric`, one of those in ledger.METRICS.

    Raises:
        KeyError: no formula gives that metric.
    """
    formula, terms = _SUMS[metric](ledger)
    return Sum(formula, tuple(sorted({origin for term in terms for origin in term.given})))


def _plus(terms: tuple[Term, ...]) -> str:
    return " + ".join(
        f"{_LABELS.get(term.name, term.name)} {format_bytes(term.bytes)}" for term in terms
    )


def _parts(term: Term) -> str:
    return _plus(term.parts) or term.formula


def _capacity(ledger: Ledger, formula: str) -> tuple[str, tuple[Term, ...]]:
    others = tuple(term for term in ledger.terms if term is not ledger.kv_cache)
    left = f"budget {format_bytes(ledger.budget.bytes)} − ({_plus(others)})"
    text = f"⌊({left}) ÷ {format_bytes(ledger.block_bytes)} a block⌋ = {ledger.blocks:,} blocks"
    return f"{text}; {formula}", (*ledger.terms, ledger.budget)


def _tokens(ledger: Ledger) -> str:
    if ledger.pool.tokens_from_concurrency:
        return (
            f"÷ {ledger.blocks_of_a_sequence:,} blocks a sequence × {ledger.max_model_len:,} "
            f"tokens a sequence = {ledger.tokens:,} tokens, as this version derives them"
        )
    groups = len(ledger.pool.groups)
    shared = f"÷ {groups} groups of layers, " if groups > 1 else ""
    return f"{shared}× {ledger.block_size} tokens a block = {ledger.tokens:,} tokens"


_SUMS: dict[str, Callable[[Ledger], tuple[str, tuple[Term, ...]]]] = {
    "memory.weights": lambda found: (_parts(found.weights), (found.weights,)),
    "memory.kv_cache": lambda found: (_parts(found.kv_cache), (found.kv_cache,)),
    "memory.kv_cache_per_token": lambda found: (found.kv_token_formula, (found.kv_cache,)),
    "memory.device_total": lambda found: (_plus(found.terms), found.terms),
    "capacity.tokens": lambda found: _capacity(found, _tokens(found)),
    "capacity.sequences": lambda found: _capacity(
        found, f"÷ {found.blocks_of_a_sequence:,} blocks a sequence, rounded down"
    ),
    "capacity.devices": lambda found: (
        f"the smallest power of two that divides the heads at which {_plus(found.terms)} "
        f"fits {format_bytes(found.budget.bytes)}",
        (*found.terms, found.budget),
    ),
}
