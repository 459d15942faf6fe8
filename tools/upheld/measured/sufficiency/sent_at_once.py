"""UPH511: most requests sent in one instant, so that latencies are of the queue they made."""

from __future__ import annotations

from collections.abc import Iterator

from upheld.measured.reading import Row
from upheld.measured.sufficiency.shortcoming import Shortcoming


def check(row: Row) -> Iterator[Shortcoming]:
    """Fires where the client had no rate, and no limit of requests at once or a hardly used one.

    A limit is hardly used where fewer than twice as many requests were sent: half of them or more
    began at once. That only warns, since the limit is in the envelope. Silent where either is not
    stated, where none or one was answered, and where fewer were sent than the limit, which
    load_not_reached says.
    """
    if "request_rate" not in row.unlimited or row.requests is None or not row.requests.completed:
        return
    sent = row.requests.attempted or row.requests.completed
    if sent == 1:
        return
    limit = row.envelope.get("concurrency")
    if "concurrency" in row.unlimited:
        message = (
            f"all {sent:,} requests were sent at once, with no limit: "
            "the latencies are of a queue of that length"
        )
    elif isinstance(limit, int) and limit > 1 and limit <= sent < 2 * limit:
        message = (
            f"{limit:,} of {sent:,} requests were sent at once when the run began: "
            "the latencies are mostly of that moment"
        )
    else:
        return
    yield Shortcoming(
        "UPH511",
        message,
        "set a rate, or a limit of requests at once and many times as many requests",
        concerns=("latency.",),
        only_warns="concurrency" not in row.unlimited,
    )
