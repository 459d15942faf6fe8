"""UPH506: a limit of requests at once that the run stayed below."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from upheld.measured.reading import Row
from upheld.measured.sufficiency.shortcoming import Shortcoming
from upheld.records.units import format_number

_CONCERNS = ("latency.", "throughput.")
_FAR_BELOW = Fraction(1, 3)


def check(row: Row) -> Iterator[Shortcoming]:
    """Fires where fewer requests were sent than the limit, or were open in the mean than a third.

    How many were open is rate × time in the system (Little's law), which counts only where the
    client has no rate: it then sends the next request when one is answered. Silent where the
    limit, the number sent, or the rate and the mean latency are not known, and about how many were
    open where most were sent at once, which sent_at_once says.
    """
    limit = row.envelope.get("concurrency")
    if row.requests is None or not isinstance(limit, int) or isinstance(limit, bool):
        return
    sent = row.requests.attempted
    if sent is not None and sent < limit:
        yield Shortcoming(
            "UPH506",
            f"{sent:,} requests were sent, so {limit:,} were never open at once",
            f"send at least {limit:,}, better many times that",
            concerns=_CONCERNS,
        )
        return
    rate = row.value("throughput.requests", "requests/s")
    whole = row.value("latency.e2e.mean", "s")
    if "request_rate" not in row.unlimited or rate is None or whole is None:
        return
    if sent is None or sent < 2 * limit:
        return
    if 0 < rate * whole < _FAR_BELOW * limit:
        yield Shortcoming(
            "UPH506",
            f"{format_number(rate * whole, 3)} requests were open at once in the mean, "
            f"under a limit of {limit:,}",
            "send many times as many requests as the limit, or look for what holds the client back",
            concerns=_CONCERNS,
        )
