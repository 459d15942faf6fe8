"""Claims that a run carries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from upheld.judge.axes import claim_axes, plain
from upheld.judge.context import Context
from upheld.judge.evidence import EvidenceRow, RunEvidence
from upheld.judge.judgement import Holder, Outcome, Piece, Value
from upheld.measured.envelope import Difference, compare
from upheld.measured.reading import Figure
from upheld.measured.sufficiency import shortcomings, statistic_absent
from upheld.records.claim import Claim
from upheld.records.envelope import AXES
from upheld.records.metrics import resolve
from upheld.records.units import find_unit, format_number

Standing = Literal["counts", "insufficient", "out-of-envelope"]

# What a claim must say of where it holds before any run can be held against it.
_OF_SERVING = ("model", "engine", "device")
_OF_A_PROGRAM = ("benchmark", "processor")

_NOT_COMPLETED = {"failed": "it failed", "interrupted": "it was interrupted"}


@dataclass(frozen=True, slots=True)
class _Weighed:
    """A row held against a claim: whether it counts, its figure, and why it does not count."""

    evidence: RunEvidence
    row: EvidenceRow
    figure: Figure
    standing: Standing
    why: str

    @property
    def base(self) -> Fraction:
        return self.figure.value * find_unit(self.figure.unit).factor

    def piece(self, says: str) -> Piece:
        return Piece(self.evidence.run.id, self.row.row.case, self.standing == "counts", says)


def judge(claim: Claim, holder: Holder, context: Context) -> Outcome:
    """Hold every row of every named run against the claim; any run may contradict it."""
    axes = claim_axes(claim, holder, context)
    open_question = _incomplete(claim, axes)
    if open_question:
        return Outcome("insufficient", open_question)
    against = _contradicting(claim, axes, context)
    if against is not None:
        return against
    if not claim.evidence:
        return Outcome("unsupported", "No run is named as evidence, so nothing was measured.")
    outcomes = [_named(claim, str(each.run), axes, context) for each in claim.evidence]
    # Every run that is named must carry the claim; the worst of them speaks.
    order = ("unsupported", "out-of-envelope", "insufficient", "stale", "upheld")
    outcomes.sort(key=lambda outcome: order.index(outcome.verdict))
    worst = outcomes[0]
    return Outcome(
        worst.verdict,
        worst.because,
        rests_on=frozenset().union(*(outcome.rests_on for outcome in outcomes)),
        value=worst.value,
        pieces=tuple(piece for outcome in outcomes for piece in outcome.pieces),
    )


def covering_run(claim: Claim, holder: Holder, context: Context) -> str | None:
    """A sound run that would carry the claim if its basis were measured, to point it out."""
    axes = claim_axes(claim, holder, context)
    if "measured" not in resolve(claim.metric)[0].bases or _incomplete(claim, axes):
        return None
    for evidence in context.runs.values():
        if evidence.sound and any(
            weighed.standing == "counts" for weighed in _weigh(claim, evidence, axes, context)
        ):
            return evidence.run.id
    return None


def _incomplete(claim: Claim, axes: Mapping[str, Any]) -> str | None:
    metric, statistic = resolve(claim.metric)
    if claim.versus is not None:
        return "It compares two measurements, and comparing two runs can't be judged yet."
    if metric.distribution and statistic is None:
        return (
            f"{claim.metric} has many values in one run, and the claim does not say which "
            f"statistic it means, such as {claim.metric}.p99."
        )
    serving = metric.name.startswith(("latency.", "throughput."))
    needed = _OF_SERVING if serving else _OF_A_PROGRAM if metric.name == "time" else ()
    missing = [AXES[axis].title for axis in needed if axis not in axes]
    if serving and "concurrency" not in axes and "request_rate" not in axes:
        missing.append("concurrency or request rate")
    return f"It does not say at which {', '.join(missing)} it holds." if missing else None


def _contradicting(claim: Claim, axes: Mapping[str, Any], context: Context) -> Outcome | None:
    if claim.expect is None:
        return None
    for evidence in context.runs.values():
        if not evidence.sound:
            continue
        for weighed in _weigh(claim, evidence, axes, context):
            if weighed.standing == "counts" and not claim.expect.met_by(weighed.base):
                says = _says(weighed.figure)
                return Outcome(
                    "contradicted",
                    f"{evidence.run.id} measured {says}; claimed: {claim.expect}.",
                    rests_on=frozenset({evidence.run.id}),
                    value=_value(weighed),
                    pieces=(weighed.piece(says),),
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
    weighed = list(_weigh(claim, evidence, axes, context))
    if not weighed:
        absent = (statistic_absent(row.row, claim.metric) for row in evidence.rows)
        reason = next((each.message for each in absent if each), "its files have no row")
        return Outcome("unsupported", f"{run_id}: {reason}.", rests_on)
    counting = [each for each in weighed if each.standing == "counts"]
    if not counting:
        return _not_counting(run_id, weighed, rests_on)
    pieces = tuple(each.piece(_says(each.figure)) for each in counting)
    says = " and ".join(_says(each.figure) for each in counting)
    expected = f"; claimed: {claim.expect}" if claim.expect else ""
    age = (context.as_of - run.date).days
    limit = claim.max_age
    if limit is not None and age > limit.base / 86400:
        return Outcome(
            "stale",
            f"{run_id} is {age} days old; the claim allows {limit}. It measured {says}{expected}.",
            rests_on,
            _value(counting[0]),
            pieces,
        )
    return Outcome(
        "upheld",
        f"{run_id} measured {says}{expected}.",
        rests_on,
        _value(counting[0]),
        pieces,
    )


def _not_counting(run_id: str, weighed: list[_Weighed], rests_on: frozenset[str]) -> Outcome:
    # The row that comes nearest explains best: unsound or unstated before elsewhere.
    nearest = min(weighed, key=lambda each: (each.standing == "out-of-envelope", len(each.why)))
    verdict: Literal["insufficient", "out-of-envelope"] = (
        "out-of-envelope" if nearest.standing == "out-of-envelope" else "insufficient"
    )
    pieces = tuple(each.piece(each.why) for each in weighed)
    return Outcome(verdict, f"{run_id}: {nearest.why}.", rests_on, None, pieces)


def _weigh(
    claim: Claim, evidence: RunEvidence, axes: Mapping[str, Any], context: Context
) -> Iterator[_Weighed]:
    for row in evidence.rows:
        for figure in row.row.figures:
            if figure.name == claim.metric:
                differences = compare(axes, row.envelope, context.names.normal)
                yield _Weighed(evidence, row, figure, *_standing(row, figure, differences))


def _standing(
    row: EvidenceRow, figure: Figure, differences: list[Difference]
) -> tuple[Standing, str]:
    elsewhere = [each for each in differences if each.found is not None]
    if elsewhere:
        return "out-of-envelope", "; ".join(
            f"the {AXES[each.axis].title} is {plain(each.found)}, not {plain(each.claimed)}"
            for each in elsewhere
        )
    short = shortcomings(row.row, figure.name)
    if short:
        return "insufficient", "; ".join(each.message for each in short)
    if differences:
        unstated = ", ".join(AXES[each.axis].title for each in differences)
        return "insufficient", f"nobody stated the {unstated} of what was measured"
    return "counts", ""


def _says(figure: Figure) -> str:
    return f"{format_number(figure.value)} {figure.unit} ({figure.origin})"


def _value(weighed: _Weighed) -> Value:
    says = f"{format_number(weighed.figure.value)} {weighed.figure.unit}"
    how = "recomputed from the file's records"
    if weighed.figure.origin == "reported":
        how = "as the file reports it"
    return Value("measured", weighed.base, says, how)
