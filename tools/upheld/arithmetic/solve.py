"""What else would fit: the longest context, and the least share of the device's memory."""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction

from upheld.arithmetic.ledger import Ledger

# Longer than any context limit in use; a cache that is bounded by windows alone reaches it.
LONGEST = 2**27
SHARE_DIGITS = 4


def longest_context(ledger: Ledger) -> int:
    """Tokens of the longest sequence of which `max_num_seqs` fit at once; 0 where none do.

    LONGEST stands for any length: all layers are bounded by a window or a state.
    """

    def blocks_at(tokens: int) -> int:
        return ledger.max_num_seqs * ledger.pool.blocks_for(tokens)

    return bisect_right(range(1, LONGEST + 1), ledger.blocks, key=blocks_at)


def least_share(ledger: Ledger) -> Fraction | None:
    """The least `gpu_memory_utilization`, to four decimals, at which everything fits.

    None: not even with all of the device's memory.
    """
    scale = 10**SHARE_DIGITS
    exact = ledger.device_total * scale / ledger.device_memory
    share = Fraction(-(-exact.numerator // exact.denominator), scale)
    return share if share <= 1 else None
