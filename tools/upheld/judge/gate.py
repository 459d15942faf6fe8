"""The gate: which verdicts block which claims, and the finding for each claim that needs one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from upheld.corpus.config import Config
from upheld.judge.judgement import Holder, Judgement, Outcome
from upheld.records.adr import Adr
from upheld.records.claim import Claim
from upheld.records.finding import Finding
from upheld.records.verdicts import Verdict

_RULES: dict[Verdict, tuple[str, str]] = {
    "contradicted": ("UPH601", "correct the claim, or what it is computed or measured from"),
    "unsupported": (
        "UPH602",
        "add the evidence that the basis needs, or say basis: untested with the reason",
    ),
    "insufficient": (
        "UPH603",
        "measure more or better, state what is missing in the run record, or say basis: untested",
    ),
    "out-of-envelope": (
        "UPH604",
        "measure where the claim holds, or narrow the claim to where it was measured",
    ),
    "wrong-basis": ("UPH605", "choose a basis that can carry the metric"),
    "stale": ("UPH606", "measure again, or allow an older run with max_age"),
}


def blocks(config: Config, holder: Holder, verdict: Verdict) -> bool:
    """Whether a verdict stops a change. What was rejected or is superseded stops nothing."""
    match _standing(holder):
        case "accepted":
            return verdict in config.accepted
        case "proposed":
            return verdict in config.proposed
        case _:
            return False


def findings(judgement: Judgement, as_of: date) -> Iterator[Finding]:
    """What is to be said of a judged claim, if anything."""
    if _standing(judgement.holder) == "past":
        return
    outcome, claim = judgement.outcome, judgement.claim
    if outcome.verdict in _RULES:
        rule, help_text = _RULES[outcome.verdict]
        if outcome.verdict == "out-of-envelope" and claim.basis != "measured":
            help_text = "claim what the deployment states, or name a deployment that states this"
        yield Finding(
            rule,
            judgement.place,
            f"{judgement.id} is {outcome.verdict}: {outcome.because}",
            help_text,
            "error" if judgement.blocks else "warning",
            judgement.id,
        )
    elif judgement.blocks:
        # A team may have the open verdicts block as well.
        yield Finding(
            "UPH602",
            judgement.place,
            f"{judgement.id} is {outcome.verdict}, which is configured to block",
            "add evidence, or let the verdict pass in the configuration",
            "error",
            judgement.id,
        )
    yield from _remarks(judgement, claim, outcome, as_of)


def _remarks(
    judgement: Judgement, claim: Claim, outcome: Outcome, as_of: date
) -> Iterator[Finding]:
    if outcome.promotable:
        yield Finding(
            "UPH608",
            judgement.place,
            f"{judgement.id} is untested, but {outcome.promotable} covers it",
            f"write basis: measured and evidence: [{{run: {outcome.promotable}}}]",
            "warning",
            judgement.id,
        )
    if claim.review is not None and claim.review < as_of:
        yield Finding(
            "UPH607",
            judgement.place,
            f"{judgement.id} was to be reviewed by {claim.review}",
            "look at it again, and write the next review date",
            "warning",
            judgement.id,
        )


def _standing(holder: Holder) -> str:
    if not isinstance(holder, Adr):
        return "accepted"
    return holder.status if holder.status in ("accepted", "proposed") else "past"
