"""Settings that the runs of the engine do not show, and those that it refuses."""

from __future__ import annotations

import pytest

from upheld.arithmetic.dtypes import cache_dtype
from upheld.arithmetic.engines.llama_cpp_caches import Context, TokenCache, caches
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention
from upheld.arithmetic.layouts.state import Mamba2

FULL = FullAttention(layers=32, kv_heads=8, k_dim=128, v_dim=128)
Q8 = cache_dtype("q8_0")


def test_llama_8b_at_8192_takes_a_gibibyte() -> None:
    found = caches([FULL], Context(n_ctx=8192))
    assert found.bytes == 2**30
    assert found.full is not None
    assert (found.full.cells, found.full.streams) == (8192, 1)
    assert found.full.k_bytes == found.full.v_bytes
    assert (found.sliding, found.state) == (None, None)


def test_the_share_of_each_sequence_is_padded() -> None:
    context = Context(n_ctx=1000, n_seq=5)
    assert (context.cells, context.streams, context.tokens) == (256, 5, 1280)
    unified = Context(n_ctx=1000, n_seq=5, unified=True)
    assert (unified.cells, unified.streams, unified.tokens) == (1024, 1, 1024)


def test_without_flash_attention_values_take_the_widest_of_all_layers() -> None:
    narrow = SlidingAttention(layers=3, kv_heads=2, k_dim=128, v_dim=128, window=512)
    with_it = caches([FULL, narrow], Context(n_ctx=4096))
    without = caches([FULL, narrow], Context(n_ctx=4096, flash_attention=False))
    assert with_it.sliding is not None
    assert without.sliding is not None
    assert without.sliding.k_bytes == with_it.sliding.k_bytes
    assert without.sliding.v_bytes == 4 * with_it.sliding.v_bytes
    assert without.full == with_it.full


def test_snapshots_of_a_state_multiply_it() -> None:
    layers = [Mamba2(layers=4, conv_kernel=4, heads=8, head_dim=64, state=128, n_groups=1)]
    one, three = (caches(layers, Context(n_ctx=256, snapshots=each)).bytes for each in (0, 2))
    assert three == 3 * one
    assert caches(layers, Context(n_ctx=256)).full is None


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"n_ctx": 0}, "n_ctx"),
        ({"n_ctx": 1, "n_seq": 0}, "n_seq"),
        ({"n_ctx": 1, "n_seq": 257}, "n_seq"),
        ({"n_ctx": 1, "n_batch": 0}, "n_batch"),
        ({"n_ctx": 1, "n_ubatch": -1}, "n_ubatch"),
        ({"n_ctx": 1, "snapshots": -1}, "snapshots"),
        ({"n_ctx": 1, "v_type": Q8, "flash_attention": False}, "v_type"),
    ],
)
def test_settings_that_do_not_work_are_named(settings: dict[str, int], field: str) -> None:
    with pytest.raises(ShapeError) as error:
        Context(**settings)  # type: ignore[arg-type]
    assert error.value.field == field


def test_a_head_that_no_block_divides_is_refused_with_flash_attention() -> None:
    odd = FullAttention(layers=2, kv_heads=2, k_dim=80, v_dim=96)
    with pytest.raises(ShapeError, match=r"k_type: q8_0 .* a head has 80"):
        caches([odd], Context(n_ctx=256, k_type=Q8))
    # Two heads of 80 are a row of 160, which five blocks fill.
    assert caches([odd], Context(n_ctx=256, k_type=Q8, flash_attention=False)).bytes
    alone = FullAttention(layers=2, kv_heads=1, k_dim=80, v_dim=96)
    with pytest.raises(ShapeError, match=r"k_type: q8_0 .* a row has 80"):
        caches([alone], Context(n_ctx=256, k_type=Q8, flash_attention=False))


def test_a_latent_has_one_dtype_and_no_values() -> None:
    latent = [LatentAttention(layers=27, latent=512, rope=64)]
    found = caches(latent, Context(n_ctx=4096, k_type=Q8, v_type=Q8))
    assert found.full is not None
    assert found.full.v_bytes == 0
    with pytest.raises(ShapeError, match="v_type"):
        caches(latent, Context(n_ctx=4096, k_type=Q8))


def test_an_indexer_has_a_key_a_token_in_the_layers_that_own_one() -> None:
    layers = (LatentAttention(2, 512, 64, 128), LatentAttention(6, 512, 64))
    found = caches(layers, Context(n_ctx=4096))
    assert found.full is not None
    assert found.full.k_bytes == 4096 * 8 * 576 * 2
    assert found.indexer == TokenCache(2, 4096, 1, 4096 * 2 * 128 * 2, 0)
    assert found.bytes == 4096 * (8 * 576 + 2 * 128) * 2
    assert caches(layers[1:], Context(n_ctx=4096)).indexer is None


def test_two_windows_are_refused() -> None:
    two = [SlidingAttention(1, 1, 64, 64, window) for window in (512, 1024)]
    with pytest.raises(ShapeError, match="one window for all layers"):
        caches(two, Context(n_ctx=4096))
