"""PyTorch's caching allocator: how many bytes it counts as allocated for tensors of some sizes.

Source: PyTorch's c10/cuda/CUDACachingAllocator.cpp (round_size, get_allocation_size,
should_split, get_free_block, try_merge_blocks) with its default settings: kMinBlockSize 512 B,
kSmallSize 1 MiB, kSmallBuffer 2 MiB, kMinLargeAlloc 10 MiB, kLargeBuffer 20 MiB, kRoundLarge
2 MiB. A segment is never given back here: vLLM builds a model in one go.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass

MIB = 1024 * 1024
MIN_BLOCK = 512
SMALL = MIB
SMALL_SEGMENT = 2 * MIB
LARGE_SEGMENT = 20 * MIB
MIN_LARGE = 10 * MIB
ROUND_LARGE = 2 * MIB


@dataclass(slots=True, eq=False)
class Block:
    """A part of a segment; `before` and `after` are its neighbours in it."""

    size: int
    small: bool
    order: int
    before: Block | None = None
    after: Block | None = None
    free: bool = False


class CachingAllocator:
    """The blocks of one device; `allocated` is what PyTorch reports as allocated memory."""

    def __init__(self) -> None:
        self.allocated = 0
        self._blocks = 0
        # Free blocks by (size, order) of the pools for small and large requests.
        self._free: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
        self._by_order: dict[int, Block] = {}

    def allocate(self, size: int) -> Block:
        """The best-fitting free block, or a new segment; what is left over is split off.

        A remainder of a large block is kept with it unless it is over 1 MiB.
        """
        size = max(MIN_BLOCK, _up(size, MIN_BLOCK))
        small = size <= SMALL
        block = self._best_fit(size, small)
        if block is None:
            block = self._new_block(_segment(size), small)
        left = block.size - size
        if left >= MIN_BLOCK if small else left > SMALL:
            rest = self._new_block(left, small)
            rest.before, rest.after = block, block.after
            if block.after is not None:
                block.after.before = rest
            block.after = rest
            block.size = size
            self._put(rest)
        self.allocated += block.size
        return block

    def release(self, block: Block) -> None:
        """Make the block free, merged with free neighbours in its segment."""
        self.allocated -= block.size
        after = block.after
        if after is not None and after.free:
            self._take(after)
            _merge(block, after)
        before = block.before
        if before is not None and before.free:
            self._take(before)
            _merge(before, block)
            block = before
        self._put(block)

    def _best_fit(self, size: int, small: bool) -> Block | None:
        pool = self._free[small]
        index = bisect_left(pool, (size, -1))
        if index == len(pool):
            return None
        block = self._by_order[pool[index][1]]
        self._take(block)
        return block

    def _new_block(self, size: int, small: bool) -> Block:
        self._blocks += 1
        return Block(size, small, self._blocks)

    def _put(self, block: Block) -> None:
        block.free = True
        insort(self._free[block.small], (block.size, block.order))
        self._by_order[block.order] = block

    def _take(self, block: Block) -> None:
        block.free = False
        pool = self._free[block.small]
        del pool[bisect_left(pool, (block.size, block.order))]
        del self._by_order[block.order]


def _merge(first: Block, second: Block) -> None:
    first.size += second.size
    first.after = second.after
    if second.after is not None:
        second.after.before = first


def _segment(size: int) -> int:
    if size <= SMALL:
        return SMALL_SEGMENT
    return LARGE_SEGMENT if size < MIN_LARGE else _up(size, ROUND_LARGE)


def _up(size: int, unit: int) -> int:
    return -(-size // unit) * unit
