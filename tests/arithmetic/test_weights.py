from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arithmetic_examples import (
    LLAMA_8B,
    LLAMA_70B,
    QWEN2_7B,
    QWEN2_SMALL,
    QWEN3_8B,
    QWEN3_14B,
    Deployment,
    Model,
)
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.weights import count_parameters, weights

GIB = 2**30
# The rotary cos/sin table, which the engine holds beside the parameters and weights() does not
# count: positions × head_dim × 2 B, once on each rank.
ROTARY_131072 = 131072 * 128 * 2
ROTARY_40960 = 40960 * 128 * 2


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        (LLAMA_8B, 8_030_261_248),
        (QWEN2_7B, 7_615_616_512),
        (QWEN2_SMALL, 494_032_768),
        (QWEN3_8B, 8_190_735_360),
        (QWEN3_14B, 14_768_307_200),
    ],
)
def test_parameters_are_those_that_the_publisher_states(model: Model, parameters: int) -> None:
    assert count_parameters(model) == parameters


def test_a_stated_count_that_differs_is_refused_with_both_numbers() -> None:
    with pytest.raises(ShapeError, match=r"8,000,000,000 are stated.* has 8,030,261,248"):
        weights(Deployment(), replace(LLAMA_8B, parameters=8_000_000_000), 1)
    assert weights(Deployment(), replace(LLAMA_8B, parameters=8_030_261_248), 1)


def test_llama_8b_is_its_parameters_at_two_bytes() -> None:
    found = weights(Deployment(), LLAMA_8B, 1)
    assert found.bytes == 8_030_261_248 * 2
    assert f"{found.bytes / GIB:.4f}" == "14.9575"


# What vLLM printed at start-up as the memory that loading the model took, in GiB.
@pytest.mark.parametrize(
    ("model", "choices", "ranks", "rotary", "printed"),
    [
        (LLAMA_8B, {}, 1, ROTARY_131072, "14.9888"),
        (LLAMA_8B, {}, 2, ROTARY_131072, "7.51"),
        (LLAMA_8B, {}, 4, ROTARY_131072, "3.77"),
        (LLAMA_8B, {"weight_dtype": "fp32"}, 1, 2 * ROTARY_131072, "29.98"),
        (LLAMA_8B, {"weight_dtype": "fp8"}, 1, ROTARY_131072, "8.49"),
        (LLAMA_8B, {"weight_dtype": "int8"}, 1, ROTARY_131072, "8.49"),
        (LLAMA_70B, {"weight_dtype": "fp8"}, 2, ROTARY_131072, "33.88"),
        (LLAMA_70B, {"weight_dtype": "fp8"}, 4, ROTARY_131072, "16.96"),
        (QWEN3_8B, {}, 1, ROTARY_40960, "15.27"),
        (QWEN3_14B, {}, 1, ROTARY_40960, "27.52"),
    ],
)
def test_with_the_rotary_table_the_printed_figure_follows_to_the_digit(
    model: Model, choices: dict[str, Any], ranks: int, rotary: int, printed: str
) -> None:
    found = weights(replace(Deployment(), **choices), model, ranks).bytes + rotary
    places = -int(Decimal(printed).as_tuple().exponent)
    assert f"{found / GIB:.{places}f}" == printed


def test_int4_has_half_a_byte_and_a_scale_for_each_group_in_linear_layers_only() -> None:
    int4 = replace(Deployment(), weight_dtype="int4", weight_group_size=128)
    sizes = {term.name: term for _, term in weights(int4, LLAMA_8B, 1).walk()}
    assert sizes["o_proj"].bytes == 32 * (4096 * 4096 // 2 + 4096 * 32 * 2)
    assert "no zero points" in sizes["o_proj"].formula
    assert sizes["lm_head"].bytes == 128256 * 4096 * 2
    assert sizes["norm"].bytes == 4096 * 2


@pytest.mark.parametrize(
    ("choices", "problem"),
    [
        ({"weight_group_size": None}, "need the size of their groups"),
        ({"weight_group_size": 12}, "not a multiple of 8"),
        ({"weight_group_size": 4096}, r"inputs of down_proj .* do not divide into groups of 4096"),
    ],
)
def test_groups_that_do_not_work_are_refused(choices: dict[str, Any], problem: str) -> None:
    with pytest.raises(ShapeError, match=f"weight_group_size: .*{problem}"):
        weights(replace(Deployment(), weight_dtype="int4", **choices), LLAMA_8B, 1)


@pytest.mark.parametrize(
    ("change", "ranks", "field"),
    [
        ({"num_key_value_heads": 6}, 1, "num_key_value_heads"),
        ({"num_key_value_heads": 0}, 1, "num_key_value_heads"),
        ({"hidden_size": 0}, 1, "hidden_size"),
        ({"weights_unknown": "of another kind"}, 1, "weights"),
    ],
)
def test_a_shape_that_does_not_work_names_its_field(
    change: dict[str, Any], ranks: int, field: str
) -> None:
    with pytest.raises(ShapeError) as raised:
        weights(Deployment(), replace(LLAMA_8B, **change), ranks)
    assert raised.value.field == field
    assert str(raised.value).startswith(f"{field}: ")


def test_the_vocabulary_is_padded_in_memory_and_not_in_the_count() -> None:
    odd = replace(LLAMA_8B, vocab_size=128_257)
    assert count_parameters(odd) - count_parameters(LLAMA_8B) == 2 * 4096
    embedding = next(t for _, t in weights(Deployment(), odd, 2).walk() if t.name == "embed_tokens")
    assert embedding.bytes == 128_320 // 2 * 4096 * 2
    assert "128,257 rows padded to a multiple of 64" in embedding.formula


def test_a_tied_head_takes_no_memory_of_its_own() -> None:
    names = {term.name for _, term in weights(Deployment(), QWEN2_SMALL, 1).walk()}
    assert "lm_head" not in names
    assert {"embed_tokens", "qkv_proj.bias"} <= names


@given(
    st.sampled_from(
        ["num_hidden_layers", "head_dim", "hidden_size", "intermediate_size", "vocab_size"]
    ),
    st.integers(1, 64),
)
def test_weights_grow_with_each_size(field: str, by: int) -> None:
    larger = replace(LLAMA_8B, **{field: getattr(LLAMA_8B, field) + 64 * by})
    assert weights(Deployment(), larger, 1).bytes > weights(Deployment(), LLAMA_8B, 1).bytes


@given(
    st.sampled_from([LLAMA_8B, LLAMA_70B, QWEN3_8B, QWEN3_14B]),
    st.sampled_from([1, 2, 4, 8]),
    st.sampled_from(["fp32", "bf16", "fp16"]),
)
def test_ranks_hold_the_whole_between_them_plus_a_copy_of_the_norms(
    model: Model, ranks: int, dtype: str
) -> None:
    choices = replace(Deployment(), weight_dtype=dtype)
    whole, part = weights(choices, model, 1), weights(choices, model, ranks)
    norms = sum(term.bytes for _, term in whole.walk() if "norm" in term.name)
    assert ranks * part.bytes == whole.bytes + (ranks - 1) * norms


def test_weight_dtype_and_kv_cache_dtype_are_separate() -> None:
    plain = weights(Deployment(), LLAMA_8B, 1)
    assert weights(replace(Deployment(), kv_cache_dtype="fp8"), LLAMA_8B, 1).bytes == plain.bytes


@pytest.mark.parametrize(
    ("change", "ranks", "field"),
    [
        ({"num_attention_heads": 36, "num_key_value_heads": 4}, 8, "num_attention_heads"),
        ({"intermediate_size": 14338}, 4, "intermediate_size"),
        ({"vocab_size": 64, "num_attention_heads": 128}, 128, "vocab_size"),
    ],
)
def test_a_degree_that_does_not_divide_the_shape_is_what_to_change(
    change: dict[str, Any], ranks: int, field: str
) -> None:
    with pytest.raises(ShapeError, match=field) as raised:
        weights(Deployment(), replace(LLAMA_8B, **change), ranks)
    assert raised.value.field == "tensor_parallel"
