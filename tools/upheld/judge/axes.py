"""The envelope of a claim: its deployment's axes under those that it states itself."""

from __future__ import annotations

from typing import Any

from upheld.judge.context import Context
from upheld.judge.judgement import Holder
from upheld.records.claim import Claim, Within
from upheld.records.deployment import Deployment
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


def deployment_axes(deployment: Deployment) -> dict[str, Any]:
    """The axes that a deployment fixes."""
    return {
        "model": str(deployment.model),
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


def claim_axes(claim: Claim, holder: Holder, context: Context) -> dict[str, Any]:
    """Every axis that evidence for the claim must cover."""
    deployment = deployment_of(claim.within, holder, context)
    fixed = deployment_axes(deployment) if deployment else {}
    return {**fixed, **claim.within.stated()}
