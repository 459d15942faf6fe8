"""The verdicts that a claim can get, and which of them block an accepted decision by default."""

from __future__ import annotations

from typing import Literal, get_args

Verdict = Literal[
    "upheld",
    "contradicted",
    "unsupported",
    "insufficient",
    "out-of-envelope",
    "wrong-basis",
    "stale",
    "assumed",
    "untested",
]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

BLOCKING: frozenset[Verdict] = frozenset(
    {"contradicted", "unsupported", "insufficient", "out-of-envelope", "wrong-basis"}
)
