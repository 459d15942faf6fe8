"""The sum behind each metric, in words and numbers, and the facts that it rests upon."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from upheld.arithmetic.ledger import OF_A_DEVICE, Ledger
from upheld.arithmetic.terms import Term
from upheld.records.units import count, format_bytes

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
    of_device = OF_A_DEVICE.get(metric)
    shown = max(ledger.each_stage, key=of_device) if of_device else ledger
    formula, terms = _SUMS[metric](shown)
    if ledger.stages and metric != "capacity.devices":
        stage = next(at for at, each in enumerate(ledger.stages, 1) if each.terms == shown.terms)
        formula = f"stage {stage} of {len(ledger.stages)}: {formula}"
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
    words = ledger.plan.tokens_words(ledger.blocks, ledger.max_model_len)
    if ledger.parallelism.data == 1:
        return f"{words} = {ledger.tokens:,} tokens"
    groups = count(ledger.parallelism.data, "data-parallel group")
    return f"{words} = {ledger.tokens:,} tokens; × {groups} = {ledger.replica_tokens:,} tokens"


def _sequences(ledger: Ledger) -> str:
    words = f"÷ {ledger.blocks_of_a_sequence:,} blocks a sequence, rounded down"
    if ledger.parallelism.data == 1:
        return words
    return f"{words}, × {count(ledger.parallelism.data, 'data-parallel group')}"


_SUMS: dict[str, Callable[[Ledger], tuple[str, tuple[Term, ...]]]] = {
    "memory.weights": lambda found: (_parts(found.weights), (found.weights,)),
    "memory.kv_cache": lambda found: (_parts(found.kv_cache), (found.kv_cache,)),
    "memory.kv_cache_per_token": lambda found: (found.kv_token_formula, (found.kv_cache,)),
    "memory.device_total": lambda found: (_plus(found.terms), found.terms),
    "capacity.tokens": lambda found: _capacity(found, _tokens(found)),
    "capacity.sequences": lambda found: _capacity(found, _sequences(found)),
    "capacity.devices": lambda found: (
        f"the smallest power of two that divides the heads at which {_plus(found.terms)} "
        f"fits {format_bytes(found.budget.bytes)}",
        (*found.terms, found.budget),
    ),
}
