from __future__ import annotations

from dataclasses import replace

import pytest

from arithmetic_examples import Deployment, Model
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.weights import count_parameters, weights

HYBRID = Model(
    num_hidden_layers=48,
    num_attention_heads=16,
    num_key_value_heads=2,
    head_dim=256,
    hidden_size=2048,
    intermediate_size=5120,
    vocab_size=151936,
    max_position_embeddings=262144,
    partial_rotary_factor="0.25",
    qk_norm=True,
    attention_gate=True,
    full_attention_interval=4,
    linear_num_value_heads=32,
    linear_num_key_heads=16,
    linear_key_head_dim=128,
    linear_value_head_dim=128,
    linear_conv_kernel_dim=4,
    num_experts=512,
    moe_intermediate_size=512,
    shared_expert_intermediate_size=512,
    shared_expert_gate=True,
)


def sizes(model: Model, ranks: int = 1, dtype: str = "bf16") -> dict[str, int]:
    found = weights(replace(Deployment(), weight_dtype=dtype), model, ranks)
    return {term.name: term.bytes for _, term in found.walk()}


def test_three_layers_in_four_are_gated_delta_nets() -> None:
    found = sizes(HYBRID)
    assert found["linear.in_proj_qkvz"] == 36 * (2 * 2048 + 2 * 4096) * 2048 * 2
    assert found["linear.in_proj_ba"] == 36 * 64 * 2048 * 2
    assert found["linear.conv1d"] == 36 * (2 * 2048 + 4096) * 4 * 2
    assert found["linear.A_log"] == 36 * 32 * 4
    # Queries and their gate, keys and values.
    assert found["qkv_proj"] == 12 * (2 * 16 + 2 * 2) * 256 * 2048 * 2
    assert found["experts.w13"] == 48 * 512 * 1024 * 2048 * 2


def test_the_parameters_are_those_of_an_80b_model() -> None:
    assert round(count_parameters(HYBRID) / 10**9, 1) == 79.7


def test_heads_are_split_and_the_convolution_is_not_quantised() -> None:
    one, two = sizes(HYBRID), sizes(HYBRID, 2)
    assert 2 * two["linear.in_proj_qkvz"] == one["linear.in_proj_qkvz"]
    assert 2 * two["linear.out_proj"] == one["linear.out_proj"]
    assert sizes(HYBRID, dtype="fp8")["linear.conv1d"] == one["linear.conv1d"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"linear_num_value_heads": 0}, "linear_num_value_heads"),
        ({"full_attention_interval": -1}, "full_attention_interval"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers"),
    ],
)
def test_a_hybrid_that_does_not_work_is_refused_by_its_field(
    change: dict[str, int], field: str
) -> None:
    with pytest.raises(ShapeError) as raised:
        sizes(replace(HYBRID, **change))
    assert raised.value.field == field
