from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upheld.arithmetic.weights.allocator import MIB, CachingAllocator


@pytest.mark.parametrize(
    ("size", "counted"),
    [
        (1, 512),
        (513, 1024),
        (MIB, MIB),
        # From a segment of 20 MiB, of which the rest is split off.
        (MIB + 512, MIB + 512),
        (9 * MIB, 9 * MIB),
        # From 10 MiB on the segment is the request, rounded up to 2 MiB.
        (10 * MIB, 10 * MIB),
        (35 * MIB, 36 * MIB),
        (35 * MIB + 512, 36 * MIB),
        # A rest of over 1 MiB is split off.
        (35 * MIB - 512, 35 * MIB - 512),
    ],
)
def test_one_tensor(size: int, counted: int) -> None:
    allocator = CachingAllocator()
    allocator.allocate(size)
    assert allocator.allocated == counted


def test_a_rest_of_up_to_1_mib_is_kept_with_the_block() -> None:
    allocator = CachingAllocator()
    for size in (9, 6, 4):
        allocator.allocate(size * MIB)
    assert allocator.allocated == 20 * MIB


def test_a_freed_block_is_filled_first_and_what_fits_best() -> None:
    allocator = CachingAllocator()
    large, small = allocator.allocate(64 * MIB), allocator.allocate(32 * MIB)
    allocator.release(large)
    allocator.release(small)
    # 35 would take 36 from the device; out of 64 it is 35, and 25 more fit into its rest.
    allocator.allocate(35 * MIB)
    assert allocator.allocated == 35 * MIB
    allocator.allocate(25 * MIB)
    assert allocator.allocated == 60 * MIB


def test_freed_neighbours_become_one_block() -> None:
    allocator = CachingAllocator()
    blocks = [allocator.allocate(6 * MIB) for _ in range(3)]
    for index in (0, 2, 1):
        allocator.release(blocks[index])
    assert allocator.allocated == 0
    assert allocator.allocate(9 * MIB).after is not None
    assert allocator.allocated == 9 * MIB


@given(
    st.lists(st.tuples(st.integers(1, 40 * MIB), st.booleans()), max_size=40),
)
def test_a_block_is_never_less_than_its_tensor_and_all_come_back(
    requests: list[tuple[int, bool]],
) -> None:
    allocator = CachingAllocator()
    held = []
    for size, freed in requests:
        block = allocator.allocate(size)
        assert size <= block.size <= size + 2 * MIB
        if freed:
            allocator.release(block)
        else:
            held.append(block)
    assert allocator.allocated == sum(block.size for block in held)
    for block in held:
        allocator.release(block)
    assert allocator.allocated == 0
