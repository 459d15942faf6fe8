"""Claims that a run carries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from upheld.judge.axes import claim_axes, contradicting
from upheld.judge.bases import comparison
from upheld.judge.context import Context
from upheld.judge.judgement import Holder, Outcome
from upheld.judge.weighing import (
    margin,
    not_counting,
    open_question,
    says,
    value_of,
    weigh,
)
from upheld.measured.sufficiency import statistic_absent
from upheld.records.claim import Claim
from upheld.records.metrics import resolve

_MOST_TOLD = 3
_NOT_COMPLETED = {"failed": "it failed", "interrupted": "it was interrupted"}


def judge(claim: Claim, holder: Holder, context: Context) -> Outcome:
    """Hold every row of every named run against the claim that no run contradicts."""
    if claim.versus is not None:
        return comparison.judge(claim, holder, context)
    elsewhere = contradicting(claim.within, holder, context)
    if elsewhere:
        return Outcome("out-of-envelope", elsewhere)
    axes = claim_axes(claim, holder, context)
    left_open = open_question(claim, axes)
    if left_open:
        return Outcome("insufficient", left_open)
    if not claim.evidence:
        return Outcome("unsupported", "No run is named as evidence, so nothing was measured.")
    outcomes = [_named(claim, str(each.run), axes, context) for each in claim.evidence]
    # Every run that is named must carry the claim; the worst of them speaks.
    order = ("unsupported", "out-of-envelope", "insufficient", "stale", "upheld")
    worst = min((outcome.verdict for outcome in outcomes), key=order.index)
    speaking = [outcome for outcome in outcomes if outcome.verdict == worst]
    values = [outcome.value for outcome in speaking if outcome.value is not None]
    return Outcome(
        worst,
        " ".join(dict.fromkeys(outcome.because for outcome in speaking)),
        rests_on=frozenset().union(*(outcome.rests_on for outcome in outcomes)),
        value=min(values, key=lambda value: margin(claim, value.base), default=None),
        pieces=tuple(piece for outcome in outcomes for piece in outcome.pieces),
    )


def contradicted(claim: Claim, holder: Holder, context: Context) -> Outcome | None:
    """What a sound run says against the claim, whatever its basis; None where none does."""
    if "measured" not in resolve(claim.metric)[0].bases or claim.versus is not None:
        return None
    if contradicting(claim.within, holder, context):
        return None
    axes = claim_axes(claim, holder, context)
    return None if open_question(claim, axes) else _contradicting(claim, axes, context)


def covering_run(claim: Claim, holder: Holder, context: Context) -> str | None:
    """A sound run that would carry the claim if its basis were measured, to point it out."""
    axes = claim_axes(claim, holder, context)
    if "measured" not in resolve(claim.metric)[0].bases or claim.versus is not None:
        return None
    if open_question(claim, axes):
        return None
    if contradicting(claim.within, holder, context):
        return None
    runs = (evidence.run.id for evidence in context.measuring(claim.metric))
    return next((id_ for id_ in runs if _carries(claim, id_, axes, context)), None)


def _carries(claim: Claim, run_id: str, axes: Mapping[str, Any], context: Context) -> bool:
    return _named(claim, run_id, axes, context).verdict == "upheld"


def _contradicting(claim: Claim, axes: Mapping[str, Any], context: Context) -> Outcome | None:
    if claim.expect is None:
        return None
    for evidence in context.measuring(claim.metric):
        for weighed in weigh(claim, evidence, axes, context):
            if weighed.standing == "counts" and not weighed.may_meet(claim.expect):
                said = says(weighed.figure, claim)
                return Outcome(
                    "contradicted",
                    f"{evidence.run.id} measured {said}; claimed: {claim.expect}.",
                    rests_on=frozenset({evidence.run.id}),
                    value=value_of(weighed, claim),
                    pieces=(weighed.piece(said),),
                )
    return None


def _named(claim: Claim, run_id: str, axes: Mapping[str, Any], context: Context) -> Outcome:
    evidence = context.runs.get(run_id)
    if evidence is None:
        return Outcome("unsupported", f"The run {run_id} is no valid record.")
    rests_on = frozenset({run_id})
    run = evidence.run
    if not evidence.sound:
        reason = next(
            (finding.message for finding in evidence.findings if finding.severity == "error"),
            _NOT_COMPLETED.get(run.outcome, "it is not sound"),
        )
        return Outcome("unsupported", f"{run_id} can't be used: {reason}.", rests_on)
    if run.date > context.as_of:
        return Outcome(
            "insufficient", f"{run_id} is dated {run.date}, after {context.as_of}.", rests_on
        )
    weighed = list(weigh(claim, evidence, axes, context))
    if not weighed:
        absent = (statistic_absent(row.row, claim.metric) for row in evidence.rows)
        reason = next((each.message for each in absent if each), "its files have no row")
        return Outcome("unsupported", f"{run_id}: {reason}.", rests_on)
    counting = [each for each in weighed if each.standing == "counts"]
    if not counting:
        return not_counting(run_id, weighed, rests_on)
    failing = [each for each in weighed if each.failing]
    if failing:
        # The rows that went well don't stand for those that did not.
        return not_counting(run_id, failing, rests_on)
    counting.sort(key=lambda each: margin(claim, each.base))
    if claim.expect is not None and claim.expect.operator not in ("=", "~"):
        for each in counting:
            if not claim.expect.met_by(each.base):
                return Outcome(
                    "insufficient",
                    f"{run_id} prints {says(each.figure, claim)}, rounded, which leaves open "
                    f"whether it is {claim.expect}.",
                    rests_on,
                    value_of(each, claim),
                )
    pieces = tuple(each.piece(says(each.figure, claim)) for each in counting)
    shown = [piece.says for piece in pieces[:_MOST_TOLD]]
    if len(pieces) > _MOST_TOLD:
        shown.append(f"{len(pieces) - _MOST_TOLD:,} more")
    told = " and ".join(shown)
    expected = f"; claimed: {claim.expect}" if claim.expect else ""
    value = value_of(counting[0], claim)
    age = (context.as_of - evidence.measured).days
    limit = claim.max_age
    if limit is not None and age > limit.base / 86400:
        return Outcome(
            "stale",
            f"{run_id} is {age:,} days old, of {evidence.measured}; the claim allows {limit}. "
            f"It measured {told}{expected}.",
            rests_on,
            value,
            pieces,
        )
    return Outcome("upheld", f"{run_id} measured {told}{expected}.", rests_on, value, pieces)
