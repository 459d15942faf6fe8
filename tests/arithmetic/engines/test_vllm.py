"""How vLLM lays layers out, against lines that it printed in public reports."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import Any

import pytest

from upheld.arithmetic.dtypes import cache_dtype
from upheld.arithmetic.engines import vllm
from upheld.arithmetic.engines.vllm import Settings, pool
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention
from upheld.arithmetic.layouts.state import GatedDeltaNet, Mamba1, Mamba2, ShortConvolution

BF16 = Settings(cache_dtype("bf16"))


def test_layers_of_one_kind_are_one_group() -> None:
    found = pool([FullAttention(32, 8, 128, 128)], BF16)
    assert len(found.groups) == 1
    assert found.page_bytes * found.group_size == 16 * 131_072
    assert found.tokens(found.blocks(16 * 131_072 * 10 + 5)) == 160


def test_sliding_and_full_layers_share_pages_and_the_last_group_is_padded() -> None:
    gemma_3_27b = [FullAttention(10, 16, 128, 128), SlidingAttention(52, 16, 128, 128, 1024)]
    found = pool(gemma_3_27b, BF16)
    assert (found.group_size, len(found.groups), found.padding_layers) == (10, 7, 8)


def test_before_the_hybrid_manager_all_layers_were_full() -> None:
    layers = [FullAttention(10, 16, 128, 128), SlidingAttention(52, 16, 128, 128, 1024)]
    found = pool(layers, Settings(cache_dtype("bf16"), version=(0, 9)))
    assert [group.layers for group in found.groups] == [62]


def test_a_smaller_page_gets_a_larger_block() -> None:
    gemma_4_31b = [FullAttention(10, 4, 512, 512), SlidingAttention(50, 16, 256, 256, 1024)]
    found = pool(gemma_4_31b, BF16)
    assert sorted({group.block_size for group in found.groups}) == [16, 32]
    assert found.smallest_block == 16


def test_an_attention_block_is_as_large_as_a_state() -> None:
    granite = [FullAttention(4, 4, 128, 128), Mamba2(36, 4, 48, 64, 128, 1)]
    found = pool(granite, BF16)
    assert found.attention_block_size == 400
    assert found.state_padding is not None
    assert f"{float(found.state_padding):.2%}" == "1.59%"
    assert f"{float(found.concurrency(1339, 4096)):.2f}" == "66.95"
    assert found.tokens(1339) == 53_200


def test_an_eight_bit_cache_doubles_the_block_that_a_state_needs() -> None:
    qwen = [FullAttention(12, 2, 256, 256), GatedDeltaNet(36, 4, 64, 16, 128, 128)]
    state = Fraction(4)
    wide = pool(qwen, Settings(cache_dtype("bf16"), state_element=state))
    narrow = pool(qwen, Settings(cache_dtype("fp8"), state_element=state))
    assert (wide.attention_block_size, narrow.attention_block_size) == (2096, 4176)


def test_a_short_convolution_is_padded_to_a_whole_block() -> None:
    found = pool([FullAttention(6, 8, 64, 64), ShortConvolution(10, 3, 2048)], BF16)
    assert found.attention_block_size == 16
    assert found.state_padding == 3
    assert found.padding_layers == 2


def test_context_parallel_ranks_multiply_the_tokens_of_a_latent_cache() -> None:
    kimi = [LatentAttention(61, 512, 64)]
    one = Settings(cache_dtype("bf16"), block_size=64, tensor_parallel_size=8)
    eight = Settings(
        cache_dtype("bf16"),
        block_size=64,
        tensor_parallel_size=8,
        decode_context_parallel_size=8,
    )
    available = int(46.80 * 2**30)
    assert pool(kimi, one).tokens(pool(kimi, one).blocks(available)) == 715_072
    assert pool(kimi, eight).tokens(pool(kimi, eight).blocks(available)) == 8 * 715_072


def test_later_versions_derive_the_tokens_from_the_concurrency() -> None:
    layers = [FullAttention(10, 4, 512, 512), SlidingAttention(50, 16, 256, 256, 1024)]
    early = pool(layers, Settings(cache_dtype("bf16"), version=(0, 20, 0)))
    late = pool(layers, Settings(cache_dtype("bf16"), version=(0, 20, 1)))
    assert early.tokens(20_480) == 20_480 // 6 * 16 == 54_608
    assert late.tokens(20_480, 65_536) == int(late.concurrency(20_480, 65_536) * 65_536)


def test_tokens_are_rounded_as_floating_point_is() -> None:
    # 7676 blocks of 64 tokens at 400,000 printed 491,263; exact division says 491,264.
    found = pool([FullAttention(1, 1, 128, 128)], replace(BF16, block_size=64, version=(0, 30)))
    assert found.blocks_for(400_000) == 6250
    assert found.tokens(7676, 400_000) == 491_263


@pytest.mark.parametrize(
    ("version", "batches", "blocks"),
    [((0, 25), 2, 577), ((0, 26), 2, 1089), ((0, 26), 1, 577)],
)
def test_a_window_is_kept_beside_all_batches_in_flight(
    version: tuple[int, int], batches: int, blocks: int
) -> None:
    settings = replace(BF16, version=version, batches_in_flight=batches)
    found = pool([SlidingAttention(20, 8, 128, 128, 1024)], settings)
    assert found.blocks_for(131_072) == blocks == ceil((1023 + found_tokens(settings)) / 16) + 1


def found_tokens(settings: Settings) -> int:
    in_flight = settings.batches_in_flight if settings.version >= (0, 26) else 1
    return in_flight * settings.max_num_batched_tokens


def test_what_one_sequence_needs_and_the_longest_that_fits_agree() -> None:
    found = pool([FullAttention(48, 8, 128, 128)], BF16)
    assert found.needed(16_384) == 3 * 2**30
    assert found.longest(found.needed(5000), 16_384) == 5008
    assert found.longest(0, 16_384) == 0


def test_what_is_left_over_goes_to_the_middle_stages_from_the_back() -> None:
    assert vllm.stage_sizes(32, 4) == [8, 8, 8, 8]
    assert vllm.stage_sizes(30, 4) == [7, 8, 8, 7]


def test_pages_that_cannot_be_made_equal_are_refused() -> None:
    with pytest.raises(ShapeError, match="can't be made equal"):
        pool([FullAttention(4, 3, 128, 128), SlidingAttention(4, 4, 128, 128, 64)], BF16)


def test_a_model_without_a_cache_is_refused() -> None:
    with pytest.raises(ShapeError, match="no layer has a cache"):
        pool([], BF16)


def test_a_sparse_latent_keeps_the_key_of_its_indexer_too() -> None:
    # deepseek_v2.py: head_dim + head_dim // 128 * 4 bytes a layer, whatever the cache's dtype is.
    deepseek = [LatentAttention(61, 512, 64, index_dim=128)]
    wide = pool(deepseek, Settings(cache_dtype("bf16"), block_size=64))
    narrow = pool(deepseek, Settings(cache_dtype("fp8"), block_size=64))
    assert wide.page_bytes == 64 * (576 * 2 + 132)
    assert narrow.page_bytes == 64 * (656 + 132)
    plain = replace(narrow.settings, packs_sparse_latents=False)
    assert pool(deepseek, plain).page_bytes == 64 * (576 + 132)


def test_full_layers_that_differ_in_width_are_one_group() -> None:
    layers = [FullAttention(30, 8, 128, 128), FullAttention(2, 3, 128, 128)]
    found = pool(layers, BF16)
    assert found.page_bytes * found.group_size == 16 * (30 * 8 + 2 * 3) * 128 * 2 * 2
    assert [group.block_size for group in found.groups] == [16]
    assert (found.blocks_for(33), found.padding_layers) == (3, 0)
    assert len(pool(layers, Settings(cache_dtype("bf16"), version=(0, 11))).groups) == 1
    with pytest.raises(ShapeError, match="can't be made equal"):
        pool(layers, Settings(cache_dtype("bf16"), version=(0, 10)))


@pytest.mark.parametrize(
    ("text", "version"),
    [("0.11", (0, 11)), ("v0.22.1", (0, 22, 1)), ("0.19.2rc1", (0, 19, 2)), (None, (0, 19))],
)
def test_versions(text: str | None, version: tuple[int, ...]) -> None:
    assert vllm.version_of(text) == version


@pytest.mark.parametrize("text", ["main", "nightly-0.11", "", "9" * 5000])
def test_a_version_that_is_none_is_never_taken_for_the_default(text: str) -> None:
    with pytest.raises(ShapeError, match="engine_version"):
        vllm.version_of(text)


def test_a_small_device_takes_fewer_tokens_a_step() -> None:
    assert vllm.default_batched_tokens(Fraction(70 * 2**30)) == 8192
    assert vllm.default_batched_tokens(Fraction(70 * 2**30 - 1)) == 2048


def test_a_device_of_160_gib_takes_more_tokens_a_step_in_later_versions() -> None:
    largest = Fraction(160 * 2**30)
    assert vllm.default_batched_tokens(largest, (0, 27)) == 8192
    assert vllm.default_batched_tokens(largest, (0, 28)) == 16384
    assert vllm.default_batched_tokens(largest - 1, (0, 28)) == 8192


@pytest.mark.parametrize(
    ("version", "counts", "size"),
    [((0, 11), (10, 12), 10), ((0, 12), (10, 12), 12), ((0, 12), (10, 15), 10)],
)
def test_groups_are_as_large_as_the_version_makes_them(
    version: tuple[int, int], counts: tuple[int, int], size: int
) -> None:
    full, sliding = counts
    layers = [FullAttention(full, 8, 128, 128), SlidingAttention(sliding, 8, 128, 128, 1024)]
    found = pool(layers, Settings(cache_dtype("bf16"), version=version))
    assert found.group_size == size


def test_windows_count_from_the_first_version_with_the_hybrid_manager_on() -> None:
    layers = [FullAttention(10, 8, 128, 128), SlidingAttention(10, 8, 128, 128, 1024)]
    assert len(pool(layers, Settings(cache_dtype("bf16"), version=(0, 9))).groups) == 1
    assert len(pool(layers, Settings(cache_dtype("bf16"), version=(0, 10))).groups) == 2


def test_a_state_beside_a_latent_is_aligned_to_its_kernel() -> None:
    kimi_linear = [LatentAttention(7, 512, 64), GatedDeltaNet(20, 4, 32, 32, 128, 128)]
    found = pool(kimi_linear, Settings(cache_dtype("bf16"), state_element=Fraction(4)))
    assert found.attention_block_size == 1920
    assert found.attention_block_size % 64 == 0


@pytest.mark.parametrize(
    ("changed", "block"),
    [
        ({"version": (0, 27)}, 1920),
        ({"version": (0, 28)}, 1920),
        ({"version": (0, 28), "kernel_block": 256}, 2048),
        ({"version": (0, 19), "block_size": 256}, 1920),
        ({"version": (0, 20), "block_size": 256}, 2048),
    ],
)
def test_what_a_block_beside_a_state_is_a_multiple_of(changed: dict[str, Any], block: int) -> None:
    kimi_linear = [LatentAttention(7, 512, 64), GatedDeltaNet(20, 4, 32, 32, 128, 128)]
    settings = replace(Settings(cache_dtype("bf16"), state_element=Fraction(4)), **changed)
    assert pool(kimi_linear, settings).attention_block_size == block


def test_beside_a_latent_later_versions_align_to_128_tokens() -> None:
    layers = [LatentAttention(7, 512, 64), Mamba2(20, 4, 20, 64, 128, 1)]
    blocks = [
        pool(layers, replace(BF16, version=version)).attention_block_size
        for version in ((0, 27), (0, 28))
    ]
    assert blocks[0] % 128 == 64
    assert blocks[1] == blocks[0] + 64


def test_without_attention_a_block_is_what_one_sequence_keeps() -> None:
    # state-spaces/mamba-2.8b-hf: 64 layers of 5120 × (3 columns + 16 elements), in bf16.
    mamba = pool([Mamba1(64, 4, 5120, 16)], BF16)
    one = 64 * 5120 * (3 + 16) * 2
    assert (mamba.page_bytes * mamba.group_size, mamba.needed(8192)) == (one, one)
    assert mamba.blocks_for(1) == mamba.blocks_for(10**6) == 1
    blocks = mamba.blocks(2**30)
    assert blocks == 2**30 // one
    assert mamba.concurrency(blocks, 8192) == blocks
    assert mamba.tokens(blocks, 8192) == blocks * 8192
    assert mamba.padding_layers == mamba.state_padding == 0


def test_without_attention_a_block_has_no_size_without_a_length() -> None:
    with pytest.raises(ShapeError, match="max_model_len"):
        pool([Mamba1(64, 4, 5120, 16)], BF16).tokens(3)


def test_states_alone_are_laid_out_since_they_share_the_cache() -> None:
    with pytest.raises(ShapeError, match=r"before 0\.10"):
        pool([Mamba1(64, 4, 5120, 16)], replace(BF16, version=(0, 9)))
    with pytest.raises(ShapeError, match="several shapes"):
        pool([Mamba1(2, 4, 128, 16), Mamba1(2, 4, 128, 8)], BF16)


def test_with_cached_prefixes_a_block_without_attention_is_as_set() -> None:
    mamba = pool([Mamba1(64, 4, 5120, 16)], replace(BF16, state_mode="align"))
    assert (mamba.blocks_for(8192), mamba.block_tokens(8192)) == (2, 16)
