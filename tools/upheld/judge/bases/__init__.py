"""How a claim of each basis is judged: one file a basis, each with one function `judge`."""

from __future__ import annotations

from collections.abc import Callable

from upheld.judge.bases import arithmetic, cited, control, declared, measured, tested
from upheld.judge.context import Context
from upheld.judge.judgement import Holder, Outcome
from upheld.records.claim import Claim
from upheld.records.metrics import Basis

BASES: dict[Basis, Callable[[Claim, Holder, Context], Outcome]] = {
    "arithmetic": arithmetic.judge,
    "control": control.judge,
    "tested": tested.judge,
    "measured": measured.judge,
    "cited": cited.judge,
    "assumed": declared.judge_assumed,
    "untested": declared.judge_untested,
}
