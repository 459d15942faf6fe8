"""Claims that are declared open or taken as given."""

from __future__ import annotations

from upheld.judge.bases.measured import covering_run
from upheld.judge.context import Context
from upheld.judge.judgement import Holder, Outcome
from upheld.records.claim import Claim


def judge_assumed(claim: Claim, holder: Holder, context: Context) -> Outcome:
    """Taken as given: it says who did so, when and why."""
    return Outcome("assumed", f"Assumed by {claim.owner} on {claim.date}: {_sentence(claim.why)}")


def judge_untested(claim: Claim, holder: Holder, context: Context) -> Outcome:
    """Known to be open. A run that covers the claim is pointed out, never used on its own."""
    return Outcome(
        "untested",
        f"Not tested: {_sentence(claim.why)}",
        promotable=covering_run(claim, holder, context),
    )


def _sentence(why: str | None) -> str:
    return " ".join((why or "").split())
