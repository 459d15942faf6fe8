"""Caches that are allotted for whole sequences, with no blocks to hand out."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from upheld.arithmetic.engines.plan import CachePlan

MOST_TOKENS = 2**27


@dataclass(frozen=True)
class WholeSequences(CachePlan):
    """Room for `max_num_seqs` sequences of one length, all of it taken at once.

    `block_size` is what the length is padded to; the blocks that fit are those of that many
    sequences, each as long as the memory allows.
    """

    max_num_seqs: int

    def needed(self, sequences: int, tokens: int) -> int:
        """Bytes of that many sequences of `tokens`."""
        return sum(need.bytes for need in self.needs(sequences, tokens))

    def blocks_for(self, tokens: int) -> int:
        """The length, padded."""
        return -(-tokens // self.block_size)

    def blocks(self, available: int) -> int:
        """Of all sequences together."""

        def too_many(blocks: int) -> bool:
            return self.needed(self.max_num_seqs, blocks * self.block_size) > available

        most = MOST_TOKENS // self.block_size
        return self.max_num_seqs * bisect_left(range(1, most + 1), True, key=too_many)

    def sequences(self, available: int, tokens: int) -> int:
        """Each takes as much as the first."""
        return max(0, available // self.needed(1, tokens))
