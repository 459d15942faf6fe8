"""Claims that a policy's rules carry."""

from __future__ import annotations

from collections.abc import Callable

from upheld.arithmetic.errors import ShapeError
from upheld.control.budgets import Budgeted, NotDeclared, drain_window, kv_token_share, slots
from upheld.control.guarantees import REQUIREMENTS, declared
from upheld.judge.axes import before_another, differing, missing, policy_of
from upheld.judge.context import Context
from upheld.judge.figures import beside
from upheld.judge.judgement import Holder, Outcome, Value
from upheld.records.claim import Claim
from upheld.records.deployment import Deployment
from upheld.records.metrics import resolve
from upheld.records.policy import Policy


def judge(claim: Claim, holder: Holder, context: Context) -> Outcome:
    """Budgets are worked out; orders of events are open until their states can be explored."""
    policy = policy_of(claim.within, holder, context)
    if policy is None:
        none = "It names no policy, so nothing follows from one."
        return Outcome("unsupported", missing(claim.within, "policy", none))
    if claim.versus is not None:
        return Outcome("unsupported", "Two policies can't be compared.")
    another = before_another(claim.within, holder, policy)
    if another:
        return Outcome("out-of-envelope", another)
    deployment = context.corpus.get(policy.deployment)
    if isinstance(deployment, Deployment):
        elsewhere = differing(claim.within, deployment, context)
        if elsewhere:
            return Outcome("out-of-envelope", elsewhere)
    if claim.metric in REQUIREMENTS:
        return _declared(claim, policy)
    if claim.metric in _BUDGETS:
        return _budget(claim, policy, context)
    return Outcome("unsupported", f"No rule of a policy gives {claim.metric}.")


def _declared(claim: Claim, policy: Policy) -> Outcome:
    found = declared(policy, claim.metric)
    if found.broken:
        return Outcome("contradicted", f"In {policy.id}, {'; '.join(found.broken)}.")
    if found.absent:
        return Outcome(
            "unsupported",
            f"{policy.id} does not declare {', '.join(found.absent)}; "
            "what is absent is not guaranteed.",
        )
    return Outcome(
        "untested",
        f"{policy.id} declares {', '.join(found.kept)}; "
        "whether that holds in every order of events has not been explored.",
        rests_on=_assumed(policy),
    )


def _budget(claim: Claim, policy: Policy, context: Context) -> Outcome:
    try:
        budgeted, given = _BUDGETS[claim.metric](policy, context)
    except (NotDeclared, ShapeError) as error:
        return Outcome("unsupported", f"{policy.id}: {error}.")
    metric, _ = resolve(claim.metric)
    assert claim.expect is not None
    shown = beside(budgeted.value, claim.expect.quantity.base, digits=4)
    if metric.dimension != "ratio":
        shown = f"{shown} {metric.unit}"
    return Outcome(
        "upheld" if claim.expect.met_by(budgeted.value) else "contradicted",
        f"Computed from the policy: {shown} = {budgeted.formula}; claimed: {claim.expect}.",
        rests_on=_assumed(policy) | given,
        value=Value("computed", budgeted.value, shown, budgeted.formula),
    )


def _assumed(policy: Policy) -> frozenset[str]:
    return frozenset(str(id_) for id_ in policy.assumes)


def _kv_tokens(policy: Policy, context: Context) -> tuple[Budgeted, frozenset[str]]:
    deployment = context.corpus.get(policy.deployment)
    ledger = context.ledger(deployment) if isinstance(deployment, Deployment) else None
    if ledger is None:
        raise NotDeclared(f"there is no ledger of {policy.deployment}")
    return kv_token_share(policy, ledger), frozenset(str(id_) for id_ in ledger.given)


_NOTHING: frozenset[str] = frozenset()

# Each gives the budget and what it rests upon beside the policy's own assumptions.
_BUDGETS: dict[str, Callable[[Policy, Context], tuple[Budgeted, frozenset[str]]]] = {
    "budget.kv_tokens": _kv_tokens,
    "budget.slots": lambda policy, _: (slots(policy), _NOTHING),
    "budget.drain_window": lambda policy, _: (drain_window(policy), _NOTHING),
}
