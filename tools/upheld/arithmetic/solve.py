"""What else would fit: the longest context, and the least share of the device's memory."""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from math import ceil

from upheld.arithmetic.ledger import Ledger

# Longer than any context limit in use; a cache that is bounded by windows alone reaches it.
LONGEST = 2**27
SHARE_DIGITS = 4


def longest_context(ledger: Ledger) -> int:
    """Tokens of the longest sequence of which `max_num_seqs` fit at once; 0 where none do.

    LONGEST stands for any length: all layers are bounded by a window or a state.
    """

    def missing_at(tokens: int) -> bool:
        return any(
            each.plan.sequences(each.available_kv, tokens) < each.max_num_seqs
            for each in ledger.each_stage
        )

    return bisect_left(range(1, LONGEST + 1), True, key=missing_at)


def least_share(ledger: Ledger) -> Fraction | None:
    """The least share of memory that the engine is given, to four decimals, at which all fits.

    None: not even with all of the device's memory.
    """
    shares = [
        ledger.engine.budget.least_share(
            each.device_memory,
            each.weights.bytes,
            each.kv_cache.bytes,
            0 if each.runtime is None else each.runtime.bytes,
        )
        for each in ledger.each_stage
    ]
    found = [share for share in shares if share is not None]
    if len(found) < len(shares):
        return None
    scale = 10**SHARE_DIGITS
    share = Fraction(ceil(max(found) * scale), scale)
    return share if share <= 1 else None
