"""Claims that a formula over shapes carries."""

from __future__ import annotations

from fractions import Fraction

from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.ledger import METRICS
from upheld.arithmetic.sums import sum_of
from upheld.judge.axes import deployment_of, differing, missing
from upheld.judge.context import Context
from upheld.judge.figures import beside
from upheld.judge.judgement import Holder, Outcome, Value
from upheld.records.claim import Claim, Within
from upheld.records.metrics import resolve
from upheld.records.units import format_bytes, of_unit


class _NotComputable(Exception):
    """No figure can be worked out; the outcome says why."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.because)
        self.outcome = outcome


def judge(claim: Claim, holder: Holder, context: Context) -> Outcome:
    """Work the metric out from the deployment's ledger and hold it against the expectation."""
    try:
        value, shown, formula, given = _figure(claim, claim.within, holder, context)
        if claim.versus is not None:
            _refuse_itself(claim, holder, context)
            other, other_shown, other_formula, more = _figure(claim, claim.versus, holder, context)
            if other == 0:
                return Outcome("unsupported", "The figure that it is compared with is zero.")
            value, given = value / other, given | more
            shown = f"{_ratio(claim, value)} ({shown} ÷ {other_shown})"
            if formula != other_formula:
                formula = f"({formula}) ÷ ({other_formula})"
    except _NotComputable as error:
        return error.outcome
    assert claim.expect is not None
    met = claim.expect.met_by(value)
    because = f"Computed: {shown}; claimed: {claim.expect}."
    if not met and claim.versus is not None and value == 1:
        because += _why_weights_change_nothing(claim, holder, context)
    return Outcome(
        "upheld" if met else "contradicted",
        because,
        rests_on=frozenset(given),
        value=Value("computed", value, shown, formula),
    )


def _refuse_itself(claim: Claim, holder: Holder, context: Context) -> None:
    assert claim.versus is not None
    one = deployment_of(claim.within, holder, context)
    other = deployment_of(claim.versus, holder, context)
    if one is not None and one is other:
        because = f"It compares {one.id} with itself, which is 1 whatever it holds."
        raise _NotComputable(Outcome("unsupported", because))


def _why_weights_change_nothing(claim: Claim, holder: Holder, context: Context) -> str:
    """What explains two equal caches of deployments that differ in the dtype of their weights."""
    assert claim.versus is not None
    one = deployment_of(claim.within, holder, context)
    other = deployment_of(claim.versus, holder, context)
    if one is None or other is None or not claim.metric.startswith("memory.kv_cache"):
        return ""
    if one.weight_dtype == other.weight_dtype or one.kv_cache_dtype != other.kv_cache_dtype:
        return ""
    return (
        f" Quantising the weights leaves the KV cache as it is: both keep it in "
        f"{one.kv_cache_dtype}."
    )


def _ratio(claim: Claim, value: Fraction) -> str:
    assert claim.expect is not None
    return beside(value, claim.expect.quantity.base)


def _figure(
    claim: Claim, within: Within, holder: Holder, context: Context
) -> tuple[Fraction, str, str, frozenset[str]]:
    deployment = deployment_of(within, holder, context)
    if deployment is None:
        none = "It names no deployment, so there is no shape to compute from."
        raise _NotComputable(Outcome("unsupported", missing(within, "deployment", none)))
    elsewhere = differing(within, deployment, context)
    if elsewhere:
        raise _NotComputable(Outcome("out-of-envelope", elsewhere))
    if claim.metric not in METRICS:
        raise _NotComputable(Outcome("unsupported", f"No formula gives {claim.metric}."))
    try:
        ledger = context.ledger(deployment)
        value = METRICS[claim.metric](ledger) if ledger else None
    except ShapeError as error:
        raise _NotComputable(
            Outcome("unsupported", f"{deployment.id} can't be computed: {error}")
        ) from None
    if ledger is None or value is None:
        raise _NotComputable(
            Outcome("unsupported", f"The model or device of {deployment.id} is no valid record.")
        )
    worked = sum_of(claim.metric, ledger)
    given = frozenset(str(id_) for id_ in (*worked.given, *deployment.assumes))
    return value, _show(claim.metric, value), worked.formula, given


def _show(metric_name: str, value: Fraction) -> str:
    metric, _ = resolve(metric_name)
    if metric.dimension == "memory":
        exact = int(value)
        human = format_bytes(exact)
        return human if human.endswith(" B") else f"{human} ({exact:,} B)"
    return of_unit(value, metric.unit)
