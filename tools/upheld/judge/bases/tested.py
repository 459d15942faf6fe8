"""Claims that a named test of an implementation carries."""

from __future__ import annotations

from upheld.judge.context import Context
from upheld.judge.judgement import Holder, Outcome
from upheld.records.claim import Claim


def judge(claim: Claim, holder: Holder, context: Context) -> Outcome:
    """No test report can be named as evidence yet, so nothing is upheld by one."""
    return Outcome(
        "unsupported",
        "No test report is read as evidence yet, so no named test can be shown to have passed.",
    )
