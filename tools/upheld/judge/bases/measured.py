"""Claims that a run carries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from upheld.judge.axes import claim_axes, contradicting
from upheld.judge.context import Context
from upheld.judge.evidence import EvidenceRow, RunEvidence
from upheld.judge.figures import beside, plain
from upheld.judge.judgement import Holder, Outcome, Piece, Value
from upheld.measured.envelope import Difference, compare
from upheld.measured.reading import Figure
from upheld.measured.sufficiency import shortcomings, statistic_absent
from upheld.records.claim import Claim
from upheld.records.envelope import AXES
from upheld.records.expectation import Expectation
from upheld.records.metrics import resolve
from upheld.records.units import find_unit, format_number

Standing = Literal["counts", "insufficient", "out-of-envelope"]

# What a claim must say of where it holds before any run can be held against it.
_OF_SERVING = ("model", "engine", "device")
_OF_A_PROGRAM = ("benchmark", "processor")
_MOST_TOLD = 3
_LOAD = ("concurrency", "request_rate")

# Metrics of which a benchmark of a served model gives the figures.
_SERVING = (
    "latency.", "throughput.", "requests.", "tokens.", "speculation.", "concurrency.", "duration",
)  # fmt: skip

# Metrics that depend on the served model and not on its load.
_OF_MEMORY = ("memory.", "capacity.")

_NOT_COMPLETED = {"failed": "it failed", "interrupted": "it was interrupted"}


@dataclass(frozen=True, slots=True)
class _Weighed:
    """A row held against a claim: whether it counts, its figure, and why it does not count.

    `failing`: it is from where the claim holds, and requests failed there.
    """

    evidence: RunEvidence
    row: EvidenceRow
    figure: Figure
    standing: Standing
    reasons: tuple[str, ...] = ()
    failing: bool = False

    @property
    def base(self) -> Fraction:
        return self.figure.value * find_unit(self.figure.unit).factor

    def may_meet(self, expect: Expectation) -> bool:
        """Whether a value that is printed as this figure meets the expectation."""
        slack = self.figure.rounding * find_unit(self.figure.unit).factor
        least, most = self.base - slack, self.base + slack
        if expect.operator == "=":
            return least <= expect.quantity.base <= most
        return expect.met_by(least) or expect.met_by(most)

    @property
    def why(self) -> str:
        return "; ".join(self.reasons)

    def piece(self, says: str) -> Piece:
        return Piece(self.evidence.run.id, self.row.row.case, self.standing == "counts", says)


def judge(claim: Claim, holder: Holder, context: Context) -> Outcome:
    """Hold every row of every named run against the claim that no run contradicts."""
    elsewhere = contradicting(claim.within, holder, context)
    if elsewhere:
        return Outcome("out-of-envelope", elsewhere)
    axes = claim_axes(claim, holder, context)
    open_question = _incomplete(claim, axes)
    if open_question:
        return Outcome("insufficient", open_question)
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
        value=min(values, key=lambda value: _margin(claim, value.base), default=None),
        pieces=tuple(piece for outcome in outcomes for piece in outcome.pieces),
    )


def contradicted(claim: Claim, holder: Holder, context: Context) -> Outcome | None:
    """What a sound run says against the claim, whatever its basis; None where none does."""
    if "measured" not in resolve(claim.metric)[0].bases:
        return None
    if contradicting(claim.within, holder, context):
        return None
    axes = claim_axes(claim, holder, context)
    return None if _incomplete(claim, axes) else _contradicting(claim, axes, context)


def covering_run(claim: Claim, holder: Holder, context: Context) -> str | None:
    """A sound run that would carry the claim if its basis were measured, to point it out."""
    axes = claim_axes(claim, holder, context)
    if "measured" not in resolve(claim.metric)[0].bases or _incomplete(claim, axes):
        return None
    if contradicting(claim.within, holder, context):
        return None
    runs = (evidence.run.id for evidence in context.measuring(claim.metric))
    return next((id_ for id_ in runs if _carries(claim, id_, axes, context)), None)


def _carries(claim: Claim, run_id: str, axes: Mapping[str, Any], context: Context) -> bool:
    return _named(claim, run_id, axes, context).verdict == "upheld"


def _incomplete(claim: Claim, axes: Mapping[str, Any]) -> str | None:
    metric, statistic = resolve(claim.metric)
    if claim.versus is not None:
        return "It compares two measurements, and comparing two runs can't be judged yet."
    if metric.distribution and statistic is None:
        return (
            f"{claim.metric} has many values in one run, and the claim does not say which "
            f"statistic it means, such as {claim.metric}.p99."
        )
    serving = metric.name.startswith(_SERVING)
    needed: tuple[str, ...] = ()
    if serving or metric.name.startswith(_OF_MEMORY):
        needed = _OF_SERVING
    elif metric.name == "time":
        needed = _OF_A_PROGRAM
    missing = [AXES[axis].title for axis in needed if axis not in axes]
    if serving and not any(axis in axes for axis in _LOAD):
        missing.append("concurrency or request rate")
    return f"It does not say at which {', '.join(missing)} it holds." if missing else None


def _contradicting(claim: Claim, axes: Mapping[str, Any], context: Context) -> Outcome | None:
    if claim.expect is None:
        return None
    for evidence in context.measuring(claim.metric):
        for weighed in _weigh(claim, evidence, axes, context):
            if weighed.standing == "counts" and not weighed.may_meet(claim.expect):
                says = _says(weighed.figure, claim)
                return Outcome(
                    "contradicted",
                    f"{evidence.run.id} measured {says}; claimed: {claim.expect}.",
                    rests_on=frozenset({evidence.run.id}),
                    value=_value(weighed, claim),
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
    failing = [each for each in weighed if each.failing]
    if failing:
        # The rows that went well don't stand for those that did not.
        return _not_counting(run_id, failing, rests_on)
    counting.sort(key=lambda each: _margin(claim, each.base))
    if claim.expect is not None and claim.expect.operator != "=":
        for each in counting:
            if not claim.expect.met_by(each.base):
                return Outcome(
                    "insufficient",
                    f"{run_id} prints {_says(each.figure, claim)}, rounded, which leaves open "
                    f"whether it is {claim.expect}.",
                    rests_on,
                    _value(each, claim),
                )
    pieces = tuple(each.piece(_says(each.figure, claim)) for each in counting)
    shown = [piece.says for piece in pieces[:_MOST_TOLD]]
    if len(pieces) > _MOST_TOLD:
        shown.append(f"{len(pieces) - _MOST_TOLD:,} more")
    says = " and ".join(shown)
    expected = f"; claimed: {claim.expect}" if claim.expect else ""
    value = _value(counting[0], claim)
    age = (context.as_of - evidence.measured).days
    limit = claim.max_age
    if limit is not None and age > limit.base / 86400:
        return Outcome(
            "stale",
            f"{run_id} is {age:,} days old, of {evidence.measured}; the claim allows {limit}. "
            f"It measured {says}{expected}.",
            rests_on,
            value,
            pieces,
        )
    return Outcome("upheld", f"{run_id} measured {says}{expected}.", rests_on, value, pieces)


def _margin(claim: Claim, base: Fraction) -> Fraction:
    """How far a figure is from the limit: of several that meet it, the nearest one is shown."""
    return abs(base - claim.expect.quantity.base) if claim.expect else Fraction(0)


def _not_counting(run_id: str, weighed: list[_Weighed], rests_on: frozenset[str]) -> Outcome:
    # The row that comes nearest explains best: unsound or unstated before elsewhere.
    nearest = min(weighed, key=lambda each: (each.standing == "out-of-envelope", len(each.reasons)))
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
                yield _weighed(evidence, row, figure, axes, differences)


def _weighed(
    evidence: RunEvidence,
    row: EvidenceRow,
    figure: Figure,
    axes: Mapping[str, Any],
    differences: list[Difference],
) -> _Weighed:
    elsewhere = tuple(
        f"the {AXES[each.axis].title} is {plain(each.found)}, not {plain(each.claimed)}"
        for each in differences
        if each.found is not None
    )
    unstated = [AXES[each.axis].title for each in differences if each.found is None]
    short = shortcomings(replace(row.row, envelope=row.envelope), figure.name)
    reasons = (
        *elsewhere,
        *(each.message for each in short),
        *_load_left_open(row, axes),
        *([f"nobody stated the {', '.join(unstated)} of what was measured"] if unstated else ()),
    )
    standing: Standing = "insufficient" if reasons else "counts"
    if elsewhere:
        standing = "out-of-envelope"
    failing = not differences and any(each.rule == "UPH505" for each in short)
    return _Weighed(evidence, row, figure, standing, reasons, failing)


def _load_left_open(row: EvidenceRow, axes: Mapping[str, Any]) -> Iterator[str]:
    """A limit of requests at once says little where a rate holds them back, and the reverse."""
    if any(axis in axes for axis in _LOAD):
        for axis in _LOAD:
            if axis in row.envelope and axis not in axes:
                yield (
                    f"it was measured at a limit of {plain(row.envelope[axis])} "
                    f"on the {AXES[axis].title} too, which the claim leaves open"
                )


def _says(figure: Figure, claim: Claim) -> str:
    return f"{_shown(figure, claim)} ({figure.origin})"


def _shown(figure: Figure, claim: Claim) -> str:
    if claim.expect is None:
        return f"{format_number(figure.value)} {figure.unit}"
    limit = claim.expect.quantity
    value = figure.value * find_unit(figure.unit).factor / limit.unit.factor
    return f"{beside(value, limit.value)} {limit.unit.symbol}"


def _value(weighed: _Weighed, claim: Claim) -> Value:
    says = _shown(weighed.figure, claim)
    how = "recomputed from the file's records"
    if weighed.figure.origin == "reported":
        how = "as the file reports it"
    return Value("measured", weighed.base, says, how)
