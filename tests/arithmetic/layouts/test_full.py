from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from upheld.arithmetic.dtypes import cache_dtype
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.layouts.full import FullAttention, blocks_of

_SMALL = st.integers(1, 256)
BF16, FP8, FP32 = (cache_dtype(name) for name in ("bf16", "fp8", "fp32"))


def all_layers(layout: FullAttention, dtype_name: str = "bf16", ranks: int = 1) -> int:
    return int(layout.layers * layout.token_bytes(cache_dtype(dtype_name), ranks))


def test_known_figures() -> None:
    assert all_layers(FullAttention(32, 8, 128, 128)) == 131_072  # Llama-3.1-8B
    assert all_layers(FullAttention(28, 4, 128, 128)) == 57_344  # Qwen2.5-7B
    assert all_layers(FullAttention(36, 8, 128, 128), "fp8") == 73_728  # Qwen3-8B
    assert all_layers(FullAttention(32, 1, 128, 128)) == 16_384  # one KV head


def test_keys_and_values_may_differ_in_width() -> None:
    layout = FullAttention(1, 4, 192, 128)
    assert layout.key_bytes(BF16) == 4 * 192 * 2
    assert layout.value_bytes(BF16) == 4 * 128 * 2


def test_heads_are_copied_below_the_degree_so_more_devices_save_nothing() -> None:
    layout = FullAttention(94, 4, 128, 128)
    assert layout.kv_heads_on_rank(4) == layout.kv_heads_on_rank(8) == 1
    assert all_layers(layout, ranks=8) == 48_128


@pytest.mark.parametrize(("heads", "ranks"), [(8, 3), (3, 8), (4, 6), (0, 1)])
def test_heads_that_do_not_share_out_evenly_are_refused(heads: int, ranks: int) -> None:
    with pytest.raises(ShapeError, match="num_key_value_heads"):
        FullAttention(32, heads, 128, 128).kv_heads_on_rank(ranks)


@given(_SMALL, _SMALL, _SMALL)
def test_the_cache_grows_with_each_factor(layers: int, heads: int, width: int) -> None:
    plain = all_layers(FullAttention(layers, heads, width, width))
    assert plain == 4 * layers * heads * width
    assert plain < all_layers(FullAttention(layers + 1, heads, width, width))
    assert plain < all_layers(FullAttention(layers, heads + 1, width, width))
    assert plain < all_layers(FullAttention(layers, heads, width + 1, width))
    assert plain < all_layers(FullAttention(layers, heads, width, width + 1))
    assert plain < all_layers(FullAttention(layers, heads, width, width), "fp32")


@given(_SMALL, st.sampled_from([1, 2, 4, 8, 16]))
def test_ranks_hold_the_whole_cache_between_them_plus_copies(heads: int, ranks: int) -> None:
    assume(max(heads, ranks) % min(heads, ranks) == 0)
    layout = FullAttention(32, heads, 128, 128)
    copies = max(1, ranks // heads)
    assert ranks * all_layers(layout, ranks=ranks) == copies * all_layers(layout)


@given(st.integers(1, 10**6), st.integers(1, 512))
def test_blocks_hold_the_sequence_and_waste_less_than_one(tokens: int, size: int) -> None:
    assert 0 <= blocks_of(tokens, size) * size - tokens < size
