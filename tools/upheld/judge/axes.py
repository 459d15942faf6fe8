"""The envelope of a claim: its deployment's axes under those that it states itself."""

from __future__ import annotations

from typing import Any

from upheld.judge.context import Context
from upheld.judge.figures import plain
from upheld.judge.judgement import Holder
from upheld.measured.envelope import Difference, compare, contradictions
from upheld.records.claim import Claim, Within
from upheld.records.deployment import Deployment
from upheld.records.envelope import AXES
from upheld.records.model import Model
from upheld.records.policy import Policy


def deployment_of(within: Within, holder: Holder, context: Context) -> Deployment | None:
    """The deployment that a claim is about: named, or the record that holds the claim."""
    if within.deployment is None:
        return holder if isinstance(holder, Deployment) else None
    found = context.corpus.get(within.deployment)
    return found if isinstance(found, Deployment) else None


def policy_of(within: Within, holder: Holder, context: Context) -> Policy | None:
    """The policy that a claim is about: named, or the record that holds the claim."""
    if within.policy is None:
        return holder if isinstance(holder, Policy) else None
    found = context.corpus.get(within.policy)
    return found if isinstance(found, Policy) else None


def missing(within: Within, kind: str, found_none: str) -> str:
    """Why a claim has no deployment or policy: it names none, or one that is no valid record."""
    named = getattr(within, kind)
    return found_none if named is None else f"The {kind} {named} is no valid record."


def deployment_axes(deployment: Deployment, context: Context) -> dict[str, Any]:
    """The axes that a deployment fixes, with the revision that its model record pins."""
    model = context.corpus.get(deployment.model)
    return {
        "model": str(deployment.model),
        "model_revision": model.revision if isinstance(model, Model) else None,
        "engine": deployment.engine,
        "engine_version": deployment.engine_version,
        "weight_dtype": deployment.weight_dtype,
        "kv_cache_dtype": deployment.kv_cache_dtype,
        "device": str(deployment.device),
        "device_count": deployment.device_count,
        "tensor_parallel": deployment.tensor_parallel,
        "max_model_len": deployment.max_model_len.base,
        "prefix_caching": deployment.prefix_caching,
        "speculative_decoding": deployment.speculative_decoding,
    }


def differing(within: Within, deployment: Deployment, context: Context) -> str | None:
    """Where the axes that a claim states itself are not those of the deployment, in words."""
    fixed = deployment_axes(deployment, context)
    return _elsewhere(compare(within.stated(), fixed, context.names.normal), deployment)


def contradicting(within: Within, holder: Holder, context: Context) -> str | None:
    """Where a claim states an axis otherwise than its deployment does, in words.

    An axis that the deployment does not have, such as a load, is the claim's own to state.
    """
    deployment = deployment_of(within, holder, context)
    if deployment is None:
        return None
    fixed = deployment_axes(deployment, context)
    return _elsewhere(contradictions(fixed, within.stated(), context.names.normal), deployment)


def before_another(within: Within, holder: Holder, policy: Policy) -> str | None:
    """Where a claim is about another deployment than the one that its policy stands before."""
    about: str | None = within.deployment
    if about is None and isinstance(holder, Deployment):
        about = holder.id
    if about is None or about == policy.deployment:
        return None
    return f"It is about {about}, but {policy.id} stands before {policy.deployment}."


def _elsewhere(differences: list[Difference], deployment: Deployment) -> str | None:
    if not differences:
        return None
    axes = "; ".join(
        f"the {AXES[each.axis].title} is {plain(each.claimed)} in the claim and "
        f"{'not an axis of' if each.found is None else f'{plain(each.found)} in'} {deployment.id}"
        for each in differences
    )
    return f"The claim holds elsewhere: {axes}."


def claim_axes(claim: Claim, holder: Holder, context: Context) -> dict[str, Any]:
    """Every axis that evidence for the claim must cover."""
    return axes_within(claim.within, holder, context)


def axes_within(within: Within, holder: Holder, context: Context) -> dict[str, Any]:
    """Every axis that is stated of where something holds.

    Where a claim and its deployment state the same version, the one that names more parts holds.
    """
    stated = within.stated()
    deployment = deployment_of(within, holder, context)
    fixed = deployment_axes(deployment, context) if deployment else {}
    wider = compare(fixed, stated, context.names.normal)
    return {**stated, **{each.axis: each.claimed for each in wider}}
