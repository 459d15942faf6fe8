"""What the files of Locust share.

Milliseconds. What Locust counts as a request is an event of any kind: a script may report the time
to first token, the headers and the end of one request as three. Failed ones are inside counts and
times. Percentiles come from buckets: whole milliseconds below 100, tens below 1,000, then two
digits (Locust, commit 407343d0 of August 2026,
`locust/stats.py`, `bucket_response_time`).
"""

from __future__ import annotations

from fractions import Fraction

from upheld.measured.printed import shown

EVENTS = "an event of any kind that the script reports; failed ones are inside"
ALL_KINDS = "events of several kinds together: one request may be in it more than once"
BUCKETS = "from buckets of two digits"


def case_of(kind: str, name: str) -> str:
    """`POST /v1/chat/completions`, or `Aggregated`, which has no kind."""
    return shown(f"{kind} {name}".strip())


def rounding_of(milliseconds: Fraction) -> Fraction:
    """Half of the bucket that a response time was rounded to."""
    if milliseconds < 100:
        return Fraction(1, 2)
    digits = len(str(int(milliseconds)))
    return Fraction(10 ** (digits - 2), 2)
