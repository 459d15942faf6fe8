"""UPH521: a device that ran below its clocks because it was hot, or was braked from outside."""

from __future__ import annotations

from collections.abc import Iterator

from upheld.measured.reading import Row
from upheld.measured.sufficiency.shortcoming import Shortcoming

_SLOWED = ("slowdown", "thermal", "brake")
_CONCERNS = ("latency.", "throughput.", "time", "bandwidth.")


def check(row: Row) -> Iterator[Shortcoming]:
    """Fires where a log of devices says that clocks were slowed down, and why.

    A power cap alone is silent: it is how the device was set up, and holds clocks down in any
    busy run. Silent where the log does not give reasons.
    """
    reasons = row.stated.get("clocks_held_back_by", "").split(", ")
    slowed = [each for each in reasons if any(word in each.casefold() for word in _SLOWED)]
    if slowed:
        device = f" of {row.case}" if row.case else ""
        yield Shortcoming(
            "UPH521",
            f"the clocks{device} were slowed down: {', '.join(slowed)}",
            "cool the device, or find what brakes it, and measure again",
            concerns=_CONCERNS,
        )
