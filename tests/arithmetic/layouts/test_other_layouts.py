"""Layouts other than full attention, against figures that engines printed."""

from __future__ import annotations

from fractions import Fraction

import pytest

from upheld.arithmetic.dtypes import cache_dtype
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.layouts.chunked import ChunkedAttention
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention
from upheld.arithmetic.layouts.state import GatedDeltaNet, Mamba1, Mamba2, ShortConvolution

BF16 = cache_dtype("bf16")
TWO, FOUR = Fraction(2), Fraction(4)


def test_a_latent_row_is_shared_by_keys_and_values_and_held_whole_by_every_rank() -> None:
    kimi_k2 = LatentAttention(61, 512, 64)
    assert kimi_k2.layers * kimi_k2.token_bytes(BF16) == 70_272
    assert kimi_k2.token_bytes(BF16, 8) == kimi_k2.token_bytes(BF16, 1)


def test_a_latent_expands_to_full_keys_and_values() -> None:
    expanded = LatentAttention(27, 512, 64, heads=16, qk_nope=128, v_head=128).expanded()
    assert (expanded.kv_heads, expanded.k_dim, expanded.v_dim) == (16, 192, 128)


def test_a_window_bounds_what_is_held_and_a_short_sequence_does_too() -> None:
    layers = SlidingAttention(25, 8, 256, 256, 1024)
    assert layers.tokens_held(100_000, 2048) == 1023 + 2048
    assert layers.tokens_held(500, 2048) == 500
    assert layers.token_bytes(BF16) == 8192


def test_a_chunk_bounds_what_is_held() -> None:
    assert ChunkedAttention(36, 8, 128, 128, 8192).tokens_held(100_000, 2048) == 8192 + 2048


def test_states_do_not_grow_with_the_sequence() -> None:
    qwen = GatedDeltaNet(48, 4, v_heads=48, k_heads=16, k_dim=128, v_dim=128)
    assert qwen.channels() == 2 * 16 * 128 + 48 * 128
    assert qwen.state_elements() * 4 * 48 == 144 * 2**20  # S of llama.cpp: 144.00 MiB
    assert qwen.conv_elements() * 4 * 48 == 5.625 * 2**20  # R: 5.62 MiB
    granite = Mamba2(36, 4, heads=48, head_dim=64, state=128, n_groups=1)
    assert granite.sequence_bytes(TWO, TWO) == 806_400
    assert Mamba1(1, 4, d_inner=8192, state=16).state_elements() == 131_072
    assert ShortConvolution(10, 3, width=2048).sequence_bytes(TWO, FOUR) == 8192


def test_each_drafted_token_needs_a_column_more() -> None:
    layers = ShortConvolution(1, 3, width=10)
    assert layers.conv_elements(draft_tokens=2) - layers.conv_elements() == 20


def test_ranks_share_a_state_and_groups_are_extended_to_one_a_rank() -> None:
    layers = Mamba2(1, 4, heads=64, head_dim=64, state=128, n_groups=2)
    assert layers.state_elements(4) * 4 == layers.state_elements()
    assert layers.channels(8) == 8 * 64 + 2 * 128
    with pytest.raises(ShapeError, match="3 devices can't share 64 heads evenly"):
        layers.channels(3)
