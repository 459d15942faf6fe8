"""Derived figures: a formula over claims and assumed values, no stronger than the weakest one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from upheld.judge.context import Context
from upheld.judge.figures import beside
from upheld.judge.judgement import Outcome, Value
from upheld.records.assumption import Assumption
from upheld.records.claim import Claim
from upheld.records.derived import Input
from upheld.records.formulas import FORMULAS
from upheld.records.units import format_number
from upheld.records.verdicts import Verdict

# Verdicts of which a figure may be taken for granted, where there is one.
_KNOWN: tuple[Verdict, ...] = ("upheld", "assumed")

OutcomeOf = Callable[[str], Outcome | None]
"""The outcome of the claim of that id in the same record; None where there is none, or a circle."""

# From the weakest on. What is none of these, such as contradicted, carries nothing.
_CARRIES: tuple[Verdict, ...] = (
    "unsupported", "out-of-envelope", "insufficient", "stale", "untested", "assumed", "upheld",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Given:
    """One input: its value in base units, in words, and how strongly it is known."""

    name: str
    value: Fraction
    words: str
    verdict: Verdict
    rests_on: frozenset[str]


class _Missing(Exception):
    """An input that has no value; the outcome says which."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.because)
        self.outcome = outcome


def judge(claim: Claim, context: Context, outcome_of: OutcomeOf) -> Outcome:
    """Work the formula out and hold its figure against the expectation."""
    assert claim.derived is not None
    assert claim.expect is not None
    formula = FORMULAS[claim.derived.formula]
    try:
        given = [
            _given(name, each, formula.inputs[name], context, outcome_of)
            for name, each in claim.derived.inputs.items()
        ]
    except _Missing as error:
        return error.outcome
    rests_on = frozenset().union(*(each.rests_on for each in given))
    try:
        value = formula.work_out({each.name: each.value for each in given})
    except ZeroDivisionError:
        return Outcome("unsupported", f"{formula.words} divides by nought.", rests_on)
    limit = claim.expect.quantity
    shown = f"{beside(value / limit.unit.factor, limit.value)} {limit.unit.symbol}"
    sum_ = f"{formula.words}, with {'; '.join(each.words for each in given)}"
    because = f"Derived: {shown} = {sum_}; claimed: {claim.expect}."
    weakest = min(given, key=lambda each: _CARRIES.index(each.verdict))
    met = claim.expect.met_by(value)
    verdict: Verdict = weakest.verdict if met else "contradicted"
    if weakest.verdict not in _KNOWN:
        verdict = weakest.verdict
        because = f"It is derived from what is {verdict}: {weakest.words}. {because}"
    return Outcome(verdict, because, rests_on, Value("computed", value, shown, sum_))


def _given(
    name: str, origin: Input, dimension: str, context: Context, outcome_of: OutcomeOf
) -> _Given:
    if origin.assumption is not None:
        return _assumed(name, str(origin.assumption), dimension, context)
    assert origin.claim is not None
    outcome = outcome_of(origin.claim)
    if outcome is None:
        raise _Missing(
            Outcome(
                "unsupported",
                f"Its {name} is to come from the claim {origin.claim}, which this record does not "
                "have, or which is derived from this one.",
            )
        )
    if outcome.verdict not in _CARRIES or outcome.value is None:
        # Without a figure, what is open or elsewhere stays so; anything else carries nothing.
        open_or_elsewhere = outcome.verdict in _CARRIES and outcome.verdict not in _KNOWN
        raise _Missing(
            Outcome(
                outcome.verdict if open_or_elsewhere else "unsupported",
                f"Its {name} is to come from the claim {origin.claim}, which is {outcome.verdict}"
                f"{'' if outcome.value else ' and has no figure'}.",
                outcome.rests_on,
            )
        )
    words = f"{name} {outcome.value.shown} ({origin.claim}, {outcome.verdict})"
    return _Given(name, outcome.value.base, words, outcome.verdict, outcome.rests_on)


def _assumed(name: str, id_: str, dimension: str, context: Context) -> _Given:
    found = context.corpus.get(id_)
    value = found.value if isinstance(found, Assumption) else None
    if value is None or value.unit.dimension != dimension:
        wrong = "has no value" if value is None else f"has a value of {value.unit.dimension}"
        raise _Missing(
            Outcome(
                "unsupported",
                f"Its {name} is to come from {id_}, which {wrong}; wanted: {dimension}.",
                frozenset({id_}),
            )
        )
    words = f"{name} {format_number(value.value)} {value.unit.symbol} ({id_}, taken as given)"
    return _Given(name, value.base, words, "upheld", frozenset({id_}))
