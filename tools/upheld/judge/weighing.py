"""Rows of runs held against a claim: whether each counts, its figure, and why it does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from upheld.judge.context import Context
from upheld.judge.evidence import EvidenceRow, RunEvidence
from upheld.judge.figures import beside, plain
from upheld.judge.judgement import Outcome, Piece, Value
from upheld.measured.envelope import Difference, compare
from upheld.measured.reading import Figure
from upheld.measured.sufficiency import Shortcoming, shortcomings, throttled
from upheld.records.claim import Claim
from upheld.records.envelope import AXES
from upheld.records.expectation import Expectation
from upheld.records.metrics import resolve
from upheld.records.units import find_unit, format_number

Standing = Literal["counts", "insufficient", "out-of-envelope"]

_OF_SERVING = ("model", "engine", "device")
_LOAD = ("concurrency", "request_rate")

# Metrics of which a benchmark of a served model gives the figures.
_SERVING = (
    "latency.", "throughput.", "requests.", "tokens.", "speculation.", "concurrency.", "duration",
)  # fmt: skip

# What a claim must say of where it holds before any run can be held against it, by the first part
# of its metric. Bare `latency` and `requests` are of whatever a load tool counts: it must be named.
_NEEDED: dict[str, tuple[str, ...]] = {
    "memory": _OF_SERVING,
    "capacity": _OF_SERVING,
    "time": ("benchmark", "processor"),
    "device": ("device",),
    "bandwidth": ("device", "benchmark"),
    "quality": ("model", "benchmark"),
    "tests": ("benchmark",),
}
_COUNTED_BY_A_LOAD_TOOL = ("latency", "requests")


@dataclass(frozen=True, slots=True)
class Weighed:
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
        """The figure in base units."""
        return self.figure.value * find_unit(self.figure.unit).factor

    def may_meet(self, expect: Expectation) -> bool:
        """Whether a value that is printed as this figure meets the expectation."""
        slack = self.figure.rounding * find_unit(self.figure.unit).factor
        return expect.may_be_met(self.base - slack, self.base + slack)

    @property
    def why(self) -> str:
        """All reasons, in one line."""
        return "; ".join(self.reasons)

    def piece(self, says: str) -> Piece:
        """The row as a piece of evidence that says so."""
        return Piece(self.evidence.run.id, self.row.row.case, self.standing == "counts", says)


def open_question(claim: Claim, axes: Mapping[str, Any]) -> str | None:
    """What the claim leaves open that has to be known before a run is held against it."""
    metric, statistic = resolve(claim.metric)
    if metric.distribution and statistic is None:
        return (
            f"{claim.metric} has many values in one run, and the claim does not say which "
            f"statistic it means, such as {claim.metric}.p99."
        )
    counted = metric.name in _COUNTED_BY_A_LOAD_TOOL
    serving = counted or metric.name.startswith(_SERVING)
    needed = _OF_SERVING if serving else _NEEDED.get(metric.name.partition(".")[0], ())
    if counted:
        needed = (*needed, "benchmark")
    missing = [AXES[axis].title for axis in needed if axis not in axes]
    if serving and not any(axis in axes for axis in _LOAD):
        missing.append("concurrency or request rate")
    return f"It does not say at which {', '.join(missing)} it holds." if missing else None


def margin(claim: Claim, base: Fraction) -> Fraction:
    """How far a figure is from the limit: of several that meet it, the nearest one is shown."""
    return abs(base - claim.expect.quantity.base) if claim.expect else Fraction(0)


def not_counting(run_id: str, weighed: list[Weighed], rests_on: frozenset[str]) -> Outcome:
    """The outcome where no row counts, or those do not that were measured where it holds."""
    # The row that comes nearest explains best: unsound or unstated before elsewhere.
    nearest = min(weighed, key=lambda each: (each.standing == "out-of-envelope", len(each.reasons)))
    verdict: Literal["insufficient", "out-of-envelope"] = (
        "out-of-envelope" if nearest.standing == "out-of-envelope" else "insufficient"
    )
    pieces = tuple(each.piece(each.why) for each in weighed)
    return Outcome(verdict, f"{run_id}: {nearest.why}.", rests_on, None, pieces)


def weigh(
    claim: Claim, evidence: RunEvidence, axes: Mapping[str, Any], context: Context
) -> Iterator[Weighed]:
    """Each row of the run that has the claimed figure."""
    # A log of devices among the run's files speaks about what the other files measured.
    slowed = [each for row in evidence.rows for each in throttled.check(row.row)]
    for row in evidence.rows:
        for figure in row.row.figures:
            if figure.name == claim.metric:
                differences = compare(axes, row.envelope, context.names.normal)
                yield _weighed(evidence, row, figure, axes, differences, slowed)


def _weighed(
    evidence: RunEvidence,
    row: EvidenceRow,
    figure: Figure,
    axes: Mapping[str, Any],
    differences: list[Difference],
    slowed: list[Shortcoming],
) -> Weighed:
    unlimited = row.row.unlimited
    elsewhere = tuple(
        f"the {AXES[each.axis].title} had no limit, not {plain(each.claimed)}"
        if each.found is None
        else f"the {AXES[each.axis].title} is {plain(each.found)}, not {plain(each.claimed)}"
        for each in differences
        if each.found is not None or each.axis in unlimited
    )
    unstated = [
        AXES[each.axis].title
        for each in differences
        if each.found is None and each.axis not in unlimited
    ]
    short = shortcomings(replace(row.row, envelope=row.envelope), figure.name)
    reasons = (
        *elsewhere,
        *dict.fromkeys(each.message for each in (*short, *slowed) if each.weakens(figure.name)),
        *_load_left_open(row, axes),
        *([f"nobody stated the {', '.join(unstated)} of what was measured"] if unstated else ()),
    )
    standing: Standing = "insufficient" if reasons else "counts"
    if elsewhere:
        standing = "out-of-envelope"
    failing = not differences and any(each.rule == "UPH505" for each in short)
    return Weighed(evidence, row, figure, standing, reasons, failing)


def _load_left_open(row: EvidenceRow, axes: Mapping[str, Any]) -> Iterator[str]:
    """A limit of requests at once says little where a rate holds them back, and the reverse."""
    if any(axis in axes for axis in _LOAD):
        for axis in _LOAD:
            if axis in row.envelope and axis not in axes:
                yield (
                    f"it was measured at a limit of {plain(row.envelope[axis])} "
                    f"on the {AXES[axis].title} too, which the claim leaves open"
                )


def says(figure: Figure, claim: Claim) -> str:
    """The figure in the claim's unit, and whether it was recomputed."""
    return f"{shown(figure, claim)} ({figure.origin})"


def shown(figure: Figure, claim: Claim) -> str:
    """The figure in the claim's unit, in as many digits as tell it from the limit."""
    if claim.expect is None:
        return f"{format_number(figure.value)} {figure.unit}"
    limit = claim.expect.quantity
    value = figure.value * find_unit(figure.unit).factor / limit.unit.factor
    return f"{beside(value, limit.value)} {limit.unit.symbol}"


def value_of(weighed: Weighed, claim: Claim) -> Value:
    """The value that a judgement shows."""
    figure = shown(weighed.figure, claim)
    how = "recomputed from the file's records"
    if weighed.figure.origin == "reported":
        how = "as the file reports it"
    return Value("measured", weighed.base, figure, how)
