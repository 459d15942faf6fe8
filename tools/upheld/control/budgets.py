"""Budgets that follow from a policy by arithmetic: slots, tokens and the drain window."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from upheld.arithmetic.ledger import Ledger
from upheld.records.deployment import Deployment
from upheld.records.policy import Budget, Policy
from upheld.records.units import count, format_number


@dataclass(frozen=True, slots=True)
class Budgeted:
    """A budget in base units, and the sum that gave it."""

    value: Fraction
    formula: str


class NotDeclared(ValueError):
    """The policy does not declare what the budget is worked out from."""


def kv_token_share(policy: Policy, ledger: Ledger) -> Budgeted:
    """Tokens that the policy admits at once, as a share of those that the KV cache holds.

    A sequence takes whole blocks, and may be as long as the admission lets it be.

    Raises:
        NotDeclared: no budget, one that bounds nothing, or a KV cache that holds nothing.
    """
    budget = _kept(policy)
    if ledger.tokens == 0:
        raise NotDeclared("the deployment leaves no memory for a KV cache")
    longest, what = budget.context.base, str(budget.context)
    admitted = _longest_admitted(policy)
    if admitted is not None and admitted > longest:
        longest, what = admitted, f"{format_number(admitted)} tokens that admission lets in"
    blocks = ceil(longest / ledger.block_size)
    if blocks * ledger.block_size != longest:
        what = f"{count(blocks, 'block')} of {ledger.block_size} tokens for {what}"
    return Budgeted(
        Fraction(budget.slots * blocks * ledger.block_size, ledger.tokens),
        f"{budget.slots} slots × {what} ÷ {ledger.tokens:,} KV tokens",
    )


def slots(policy: Policy) -> Budgeted:
    """Requests that the policy admits at once on one replica.

    Raises:
        NotDeclared: no budget in the policy, or one that bounds nothing.
    """
    return Budgeted(Fraction(_kept(policy).slots), f"the slots that {policy.id} declares")


def _kept(policy: Policy) -> Budget:
    """The budget, where what it admits stays within it."""
    budget = policy.budget
    if budget is None:
        raise NotDeclared("the policy declares no budget")
    if budget.reserve_at != "admission":
        raise NotDeclared(
            f"budget.reserve_at is {budget.reserve_at}, so nothing bounds what it admits at once"
        )
    if not budget.hold_while_unknown:
        raise NotDeclared(
            "budget.hold_while_unknown is false, so a request that may still run is not counted"
        )
    return budget


def _longest_admitted(policy: Policy) -> Fraction | None:
    admission = policy.admission
    if admission is None:
        return None
    return admission.max_prompt_tokens.base + admission.max_output_tokens.base


def drain_window(policy: Policy) -> Budgeted:
    """Seconds left to finish a request once a replica drains.

    The grace period starts before the pre-stop wait and includes it (Kubernetes, pod
    termination), and the engine is cut off at its own shutdown time-out.

    Raises:
        NotDeclared: no drain in the policy.
    """
    drain = policy.drain
    if drain is None:
        raise NotDeclared("the policy declares no drain")
    left = min(
        drain.termination_grace_period.base - drain.pre_stop.base, drain.shutdown_timeout.base
    )
    return Budgeted(
        max(left, Fraction(0)),
        f"min({drain.termination_grace_period} grace − {drain.pre_stop} pre-stop, "
        f"{drain.shutdown_timeout} shutdown)",
    )


@dataclass(frozen=True, slots=True)
class Conflict:
    """A rule of the policy that can't be kept: the rule's code, the field, and why."""

    rule: str
    field: tuple[str, ...]
    message: str
    help: str


def conflicts(policy: Policy, deployment: Deployment) -> Iterator[Conflict]:
    """Rules of the policy that its deployment, or the policy itself, can't keep."""
    budget, drain = policy.budget, policy.drain
    if budget and budget.slots > deployment.max_num_seqs:
        yield Conflict(
            "UPH401",
            ("budget", "slots"),
            f"{budget.slots} slots, but {deployment.id} runs at most "
            f"{deployment.max_num_seqs} sequences",
            f"lower slots to {deployment.max_num_seqs}",
        )
    limit = deployment.max_model_len
    if budget and budget.context.base > limit.base:
        yield Conflict(
            "UPH401",
            ("budget", "context"),
            f"a context of {budget.context}, but {deployment.id} takes at most {limit}",
            f"lower context to {limit}",
        )
    longest = _longest_admitted(policy)
    if longest is not None and longest > limit.base:
        yield Conflict(
            "UPH401",
            ("admission",),
            f"prompt and output may reach {format_number(longest)} tokens, but "
            f"{deployment.id} takes at most {limit}",
            "lower one of the two bounds",
        )
    if drain:
        needed = drain.pre_stop.base + drain.shutdown_timeout.base
        if drain.termination_grace_period.base <= needed:
            yield Conflict(
                "UPH402",
                ("drain", "termination_grace_period"),
                f"the grace period of {drain.termination_grace_period} ends no later than "
                f"pre-stop and shutdown, {format_number(needed)} s in all",
                f"make it longer than {format_number(needed)} s",
            )
