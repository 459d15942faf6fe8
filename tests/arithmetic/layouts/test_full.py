from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.layouts.full import FullAttention

_SMALL = st.integers(1, 256)


def test_known_figures() -> None:
    bf16 = Fraction(2)
    assert FullAttention(32, 8, 128).bytes_per_token(bf16) == 131_072  # Llama-3.1-8B
    assert FullAttention(28, 4, 128).bytes_per_token(bf16) == 57_344  # Qwen2.5-7B
    assert FullAttention(36, 8, 128).bytes_per_token(Fraction(1)) == 73_728  # Qwen3-8B, fp8
    assert FullAttention(32, 1, 128).bytes_per_token(bf16) == 16_384  # one KV head


def test_heads_are_copied_below_the_degree_so_more_devices_save_nothing() -> None:
    at_four = FullAttention(94, 4, 128, tensor_parallel=4)
    at_eight = FullAttention(94, 4, 128, tensor_parallel=8)
    assert at_four.kv_heads_on_rank == at_eight.kv_heads_on_rank == 1
    assert at_eight.bytes_per_token(Fraction(2)) == 48_128


@pytest.mark.parametrize(("heads", "ranks"), [(8, 3), (3, 8), (4, 6), (0, 1)])
def test_heads_that_do_not_share_out_evenly_are_refused(heads: int, ranks: int) -> None:
    with pytest.raises(ShapeError, match="num_key_value_heads"):
        FullAttention(32, heads, 128, ranks)


@given(_SMALL, _SMALL, _SMALL)
def test_the_cache_grows_with_each_factor(layers: int, heads: int, width: int) -> None:
    def size(layers: int, heads: int, width: int, element: int = 1) -> int:
        return FullAttention(layers, heads, width).bytes_per_token(Fraction(element))

    plain = size(layers, heads, width)
    assert plain == 2 * layers * heads * width
    assert plain < size(layers + 1, heads, width)
    assert plain < size(layers, heads + 1, width)
    assert plain < size(layers, heads, width + 1)
    assert plain < size(layers, heads, width, element=2)


@given(_SMALL, st.sampled_from([1, 2, 4, 8, 16]))
def test_ranks_hold_the_whole_cache_between_them_plus_copies(heads: int, ranks: int) -> None:
    assume(max(heads, ranks) % min(heads, ranks) == 0)
    whole = FullAttention(32, heads, 128).bytes_per_token(Fraction(2))
    part = FullAttention(32, heads, 128, ranks).bytes_per_token(Fraction(2))
    copies = max(1, ranks // heads)
    assert ranks * part == copies * whole


@given(st.integers(1, 10**6), st.integers(1, 512))
def test_blocks_hold_the_sequence_and_waste_less_than_one(tokens: int, size: int) -> None:
    blocks = FullAttention(1, 1, 1).blocks(tokens, size)
    assert tokens <= blocks * size < tokens + size
