"""Claims that compare two measurements: runs that are alike but for what is compared.

A side is every row that holds where the claim says, of the runs that it names and of any other run
in the corpus: a repeat that nobody named counts as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from upheld.judge.axes import axes_within, contradicting
from upheld.judge.context import Context
from upheld.judge.figures import beside, plain
from upheld.judge.judgement import Holder, Outcome, Piece, Value
from upheld.judge.weighing import Weighed, not_counting, open_question, weigh
from upheld.measured.ratio import Ratio, ratio_of
from upheld.records.claim import Claim
from upheld.records.envelope import AXES
from upheld.records.units import count, format_number
from upheld.records.verdicts import Verdict

# Of two single runs, what may be their spread and no difference.
SPREAD = Fraction(10, 100)
# How far lengths may differ that are known as means alone.
ALIKE = Fraction(5, 100)


def judge(claim: Claim, holder: Holder, context: Context) -> Outcome:
    """Hold the ratio of both sides against the expectation."""
    assert claim.versus is not None
    assert claim.expect is not None
    sides = []
    for within in (claim.within, claim.versus):
        elsewhere = contradicting(within, holder, context)
        if elsewhere:
            return Outcome("out-of-envelope", elsewhere)
        axes = axes_within(within, holder, context)
        left_open = open_question(claim, axes)
        if left_open:
            return Outcome("insufficient", left_open)
        sides.append(axes)
    factor = {axis for axis in AXES if _differs(axis, sides[0], sides[1], context)}
    if not factor:
        return Outcome("insufficient", "It compares two things that it does not tell apart.")
    half = next((each for each in factor if any(each not in axes for axes in sides)), None)
    if half is not None:
        return Outcome(
            "insufficient", f"It states the {AXES[half].title} of one side and not of the other."
        )
    if not claim.evidence:
        return Outcome("unsupported", "No run is named as evidence, so nothing was measured.")
    one, other = (_side(claim, axes, context) for axes in sides)
    for side in (one, other):
        if isinstance(side, Outcome):
            return side
    assert isinstance(one, list)
    assert isinstance(other, list)
    unlike = _unlike(one, other, factor, context)
    rests_on = frozenset(each.evidence.run.id for each in (*one, *other))
    pieces = tuple(each.piece(_figure(each)) for each in (*one, *other))
    if unlike is not None:
        verdict, because = unlike
        return Outcome(verdict, because, rests_on, None, pieces)
    return _held(claim, one, other, rests_on, pieces)


def _differs(axis: str, one: Mapping[str, Any], other: Mapping[str, Any], context: Context) -> bool:
    if axis not in one and axis not in other:
        return False
    names = context.names.normal
    if AXES[axis].comparison == "name" and axis in one and axis in other:
        return names(axis, str(one[axis])) != names(axis, str(other[axis]))
    return one.get(axis) != other.get(axis)


def _side(claim: Claim, axes: Mapping[str, Any], context: Context) -> list[Weighed] | Outcome:
    """The rows of one side that count; or why none of a named run does."""
    counting = [
        weighed
        for evidence in context.measuring(claim.metric)
        for weighed in weigh(claim, evidence, axes, context)
        if weighed.standing == "counts"
    ]
    named = {str(each.run) for each in claim.evidence}
    if any(each.evidence.run.id in named for each in counting):
        return counting
    nearest = [
        weighed
        for id_ in sorted(named)
        if (evidence := context.runs.get(id_)) is not None and evidence.sound
        for weighed in weigh(claim, evidence, axes, context)
    ]
    where = ", ".join(f"{AXES[axis].title} {plain(axes[axis])}" for axis in AXES if axis in axes)
    if not nearest:
        says = f"No run that it names has {claim.metric} at {where}."
        return Outcome("unsupported", says, frozenset(named))
    return not_counting(nearest[0].evidence.run.id, nearest, frozenset(named))


def _unlike(
    one: list[Weighed], other: list[Weighed], factor: set[str], context: Context
) -> tuple[Verdict, str] | None:
    """What differs beside the factor, or what nobody knows of a row; the first is the measure."""
    first = one[0]
    for each in (*one[1:], *other):
        differing, unknown = [], []
        for axis in AXES:
            if axis in factor:
                continue
            mine, its = _known(first, axis), _known(each, axis)
            if (mine is None) != (its is None):
                unknown.append(AXES[axis].title)
            elif mine is not None and its is not None and not _alike(axis, mine, its, context):
                differing.append(f"the {AXES[axis].title} is {mine.shown} and {its.shown}")
        runs = f"{first.evidence.run.id} and {each.evidence.run.id}"
        if differing:
            return (
                "out-of-envelope",
                f"{runs} differ beside what is compared: {'; '.join(differing)}.",
            )
        if unknown:
            return (
                "insufficient",
                f"{runs}: the {', '.join(unknown)} is stated of one and not of the other.",
            )
    return None


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of a row on an axis: one value, or the mean alone of those that there are."""

    value: Any
    is_mean: bool = False

    @property
    def shown(self) -> str:
        return f"{plain(self.value)}{' on average' if self.is_mean else ''}"


def _known(weighed: Weighed, axis: str) -> _Known | None:
    value = weighed.row.envelope.get(axis)
    if value is not None:
        return _Known(value)
    mean = weighed.row.row.means.get(axis)
    return None if mean is None else _Known(mean.value, is_mean=True)


def _alike(axis: str, mine: _Known, its: _Known, context: Context) -> bool:
    if mine.is_mean or its.is_mean:
        one, other = Fraction(mine.value), Fraction(its.value)
        return abs(one - other) <= ALIKE * max(one, other)
    return not _differs(axis, {axis: mine.value}, {axis: its.value}, context)


def _held(
    claim: Claim,
    one: list[Weighed],
    other: list[Weighed],
    rests_on: frozenset[str],
    pieces: tuple[Piece, ...],
) -> Outcome:
    assert claim.expect is not None
    if not sum(each.base for each in other):
        return Outcome("unsupported", "The figure that it is compared with is zero.", rests_on)
    ratio = ratio_of([each.base for each in one], [each.base for each in other])
    shown = beside(ratio.value, claim.expect.quantity.base)
    value = Value("measured", ratio.value, shown, f"{_mean(one)} ÷ {_mean(other)}")
    says = f"{_mean(one)} against {_mean(other)}: {shown}{_interval(ratio)}"
    claimed = f"claimed: {claim.expect}"
    met = claim.expect.met_by(ratio.value)
    if ratio.low is not None and ratio.high is not None:
        bounds = (ratio.low, ratio.high)
        if any(claim.expect.met_by(bound) != met for bound in bounds) and ratio.low != ratio.high:
            return Outcome(
                "insufficient",
                f"{says}; the spread between repeats leaves open whether it is {claim.expect}.",
                rests_on,
                value,
                pieces,
            )
    elif abs(ratio.value - 1) < SPREAD:
        return Outcome(
            "insufficient",
            f"{says}; a side was measured once, and a difference of less than "
            f"{format_number(SPREAD * 100)} % may be the spread between repeats.",
            rests_on,
            value,
            pieces,
        )
    return Outcome(
        "upheld" if met else "contradicted", f"{says}; {claimed}.", rests_on, value, pieces
    )  # fmt: skip


def _interval(ratio: Ratio) -> str:
    if ratio.low is None or ratio.high is None:
        return " (no interval: a side was measured once)"
    low, high = format_number(ratio.low, 4), format_number(ratio.high, 4)
    return f" (95 % between {low} and {high}, by bootstrap over the repeats)"


def _mean(side: list[Weighed]) -> str:
    first = side[0].figure
    if len(side) == 1:
        return _figure(side[0])
    mean = sum((each.figure.value for each in side), Fraction(0)) / len(side)
    return f"{format_number(mean, 5)} {first.unit} (mean of {count(len(side), 'run')})"


def _figure(weighed: Weighed) -> str:
    return f"{format_number(weighed.figure.value, 5)} {weighed.figure.unit}"
