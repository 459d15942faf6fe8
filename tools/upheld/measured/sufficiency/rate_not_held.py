"""UPH510: requests that were to come at a rate, and were answered at a far lower one."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from upheld.measured.reading import Row
from upheld.measured.recompute import square_root
from upheld.measured.sufficiency.shortcoming import Shortcoming
from upheld.records.units import format_number

_HELD = Fraction(9, 10)
_DEVIATIONS = 3


def check(row: Row) -> Iterator[Shortcoming]:
    """Fires below 90 % of the rate, where chance doesn't explain how long the run took.

    Sending N requests at a rate r takes N/r, with a deviation of √N/r where they come at random
    (Poisson): three deviations are left to chance. Silent where the rate, the duration or the
    number of requests is not known.
    """
    asked = row.envelope.get("request_rate")
    duration = row.value("duration", "s")
    sent = row.requests and (row.requests.attempted or row.requests.completed)
    if isinstance(asked, bool) or not isinstance(asked, int | Fraction) or asked <= 0:
        return
    if not duration or not sent:
        return
    achieved = Fraction(sent) / duration
    longest_by_chance = (sent + _DEVIATIONS * square_root(Fraction(sent))) / asked
    if achieved >= _HELD * asked or duration <= longest_by_chance:
        return
    limit = row.envelope.get("concurrency")
    cause = "so the latencies depend on how many were sent"
    if limit is not None:
        cause = (
            f"and the limit of {limit} at once held some back in the client, "
            "a wait that no latency has in it"
        )
    yield Shortcoming(
        "UPH510",
        f"a rate of {format_number(Fraction(asked))}/s was asked for and "
        f"{format_number(achieved, 3)}/s reached: {sent:,} requests took "
        f"{format_number(duration, 4)} s, {cause}",
        "measure at a rate that is held, with more requests, or claim the throughput alone",
        concerns=("latency.",),
    )
