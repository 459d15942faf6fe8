"""Transformers' caches: worked examples, and what is refused in which words."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from upheld.arithmetic.engines.transformers import (
    CacheBytes,
    Quantisation,
    Run,
    cross_cache,
    dynamic_cache,
    fp8_cache,
    quantised_cache,
    static_cache,
)
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention
from upheld.arithmetic.layouts.state import Mamba1

FULL = FullAttention(32, 8, 128, 128)
SLIDING = SlidingAttention(1, 1, 1, 1, window=16)
RUN = Run(batch=1, prompt=8192, element=Fraction(2))


def test_a_token_of_llama_3_8b_takes_128_kib() -> None:
    expected = 8192 * 128 * 1024
    assert dynamic_cache([FULL], RUN) == CacheBytes(expected, expected)


@pytest.mark.parametrize(
    ("prompt", "decoded", "shown", "kept"),
    [(10, 0, 10, 10), (15, 0, 15, 15), (40, 0, 15, 40), (40, 1, 15, 16), (10, 5, 15, 15),
     (10, 6, 15, 16), (10, 90, 15, 16)],
)  # fmt: skip
def test_a_dynamic_window_shows_one_token_less_and_keeps_what_it_is_a_view_of(
    prompt: int, decoded: int, shown: int, kept: int
) -> None:
    run = Run(batch=1, prompt=prompt, decoded=decoded, element=Fraction(2))
    found = dynamic_cache([SLIDING], run)
    assert (found.tensors, found.storage, found.counters) == (4 * shown, 4 * kept, 8)


def test_a_static_window_is_no_longer_than_the_cache() -> None:
    run = Run(batch=1, prompt=4, element=Fraction(2))
    assert static_cache([SLIDING], run, 100) == CacheBytes(4 * 16, 4 * 16, 8)
    assert static_cache([SLIDING], run, 10) == CacheBytes(4 * 10, 4 * 10, 8)


@pytest.mark.parametrize(
    ("version", "of_a_window", "of_a_static_layer"),
    [((4, 57), 0, 0), ((5, 0), 8, 0), ((5, 3), 8, 0), ((5, 4), 8, 8), ((5, 24), 8, 8)],
)
def test_counters_came_with_versions(
    version: tuple[int, int], of_a_window: int, of_a_static_layer: int
) -> None:
    run = Run(batch=1, prompt=4, element=Fraction(2), version=version)
    assert dynamic_cache([SLIDING], run).counters == of_a_window
    assert static_cache([SLIDING], run, 10).counters == of_a_static_layer


def test_versions_that_were_not_read_are_not_known() -> None:
    with pytest.raises(ShapeError, match=r"caches before Transformers 4\.57 are not known"):
        dynamic_cache([FULL], replace(RUN, version=(4, 56)))


def test_a_static_cache_that_is_too_short_is_refused() -> None:
    with pytest.raises(ShapeError, match="max_cache_len: 100 is less than 8,192 tokens"):
        static_cache([FULL], RUN, 100)


def test_latent_attention_was_expanded_before_5_15() -> None:
    latent = LatentAttention(1, 512, 64, 0, heads=128, qk_nope=128, v_head=128)
    one = replace(RUN, prompt=1)
    assert dynamic_cache([latent], one).tensors == 576 * 2
    older = replace(one, version=(5, 14))
    assert dynamic_cache([latent], older).tensors == 128 * (192 + 128) * 2


@pytest.mark.parametrize(("version", "element"), [((5, 24), 4), ((5, 15), 4), ((5, 12), 2)])
def test_a_state_is_in_fp32_from_5_15_on(version: tuple[int, int], element: int) -> None:
    state = Mamba1(1, 4, 64, 16)
    found = dynamic_cache([state], replace(RUN, version=version))
    assert found.tensors == 64 * 4 * 2 + 64 * 16 * element


@pytest.mark.parametrize("version", [(4, 57), (5, 4), (5, 13), (5, 14)])
def test_a_state_of_other_versions_is_not_known(version: tuple[int, int]) -> None:
    with pytest.raises(ShapeError, match=r"states of Transformers \d\.\d+ are not known"):
        dynamic_cache([Mamba1(1, 4, 64, 16)], replace(RUN, version=version))


def test_a_quantised_cache_keeps_its_last_tokens_as_they_are() -> None:
    run = Run(batch=1, prompt=256, decoded=3, element=Fraction(2))
    layer = FullAttention(1, 1, 64, 64)
    packed = 256 * 128 // 2
    scales = 2 * (256 * 128 // 64) * 2
    found = quantised_cache([layer], run, Quantisation(backend="quanto"))
    assert found.tensors == packed + scales + 3 * 128 * 2


@pytest.mark.parametrize(
    ("quantisation", "words"),
    [
        (Quantisation(backend="quanto", nbits=3), "nbits: 3 is none of 2, 4"),
        (Quantisation(backend="hqq", nbits=5), "nbits: 5 is none of 1, 2, 3, 4, 8"),
        (Quantisation(backend="hqq", axis_key=-1), "axis: -1 is none of 0, 1"),
        (Quantisation(backend="hqq", residual_length=1), "residual_length: it is less than 2"),
        (Quantisation(backend="quanto", q_group_size=24), "q_group_size: 8,388,608"),
    ],
)
def test_what_cannot_be_quantised_is_refused(quantisation: Quantisation, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        quantised_cache([FULL], RUN, quantisation)


def test_a_shape_that_is_refused_on_the_way_is_refused_at_the_end() -> None:
    how = Quantisation(backend="hqq", nbits=2, q_group_size=32, residual_length=8, axis_key=1,
                       axis_value=1)  # fmt: skip
    layer = FullAttention(1, 2, 12, 12)
    for tokens in (32, 48):
        quantised_cache([layer], replace(RUN, prompt=tokens), how)
    with pytest.raises(ShapeError, match="nbits: 30 elements or rows don't divide by 4"):
        quantised_cache([layer], replace(RUN, prompt=32, decoded=16), how)


def test_only_full_attention_is_quantised() -> None:
    for cache in (
        lambda layers: quantised_cache(layers, RUN, Quantisation(backend="hqq")),
        lambda layers: fp8_cache(layers, RUN),
    ):
        with pytest.raises(ShapeError, match="full attention in every layer"):
            cache([FULL, SLIDING])


def test_fp8_came_with_5_21() -> None:
    assert fp8_cache([FULL], RUN).tensors == 8192 * 64 * 1024 + 32 * 2 * 4
    with pytest.raises(ShapeError, match=r"fp8 is known from Transformers 5\.21 on"):
        fp8_cache([FULL], replace(RUN, version=(5, 20)))


def test_cross_attention_holds_the_tokens_of_the_encoder() -> None:
    held = 1500 * 32 * 2 * 8 * 128 * 2
    assert cross_cache([FULL], RUN, encoder_tokens=1500) == CacheBytes(held, held)
