"""Towers against what vLLM printed for the whole models, and against published parameter counts."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from arithmetic_examples import DEEPSEEK_LITE, Deployment, Model
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.weights import count_parameters, weights

GIB = 2**30
SO400M = {"hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27,
          "num_attention_heads": 16, "patch_size": 14}  # fmt: skip
GEMMA_3 = Model(
    tie_word_embeddings=True,
    vocab_size=262208,
    qk_norm=True,
    norms_per_layer=4,
    rope_scaling={"rope_type": "linear", "factor": 8},
    global_rotary_every=6,
    vision={"model_type": "gemma3", "image_size": 896, **SO400M},
)
GEMMA_3_4B = replace(
    GEMMA_3,
    num_hidden_layers=34,
    num_attention_heads=8,
    num_key_value_heads=4,
    head_dim=256,
    hidden_size=2560,
    intermediate_size=10240,
)
GEMMA_3_12B = replace(
    GEMMA_3,
    num_hidden_layers=48,
    num_attention_heads=16,
    head_dim=256,
    hidden_size=3840,
    intermediate_size=15360,
)
MISTRAL_SMALL = Model(
    num_hidden_layers=40,
    hidden_size=5120,
    intermediate_size=32768,
    vocab_size=131072,
    vision={"model_type": "mistral3", "hidden_size": 1024, "intermediate_size": 4096,
            "num_hidden_layers": 24, "num_attention_heads": 16, "patch_size": 14,
            "image_size": 1540, "spatial_merge_size": 2},
)  # fmt: skip
KIMI_VL = replace(
    DEEPSEEK_LITE,
    vocab_size=163840,
    intermediate_size=11264,
    max_position_embeddings=131072,
    rope_scaling=None,
    router_bias=True,
    vision={"model_type": "kimi_vl", "merge_kernel_size": [2, 2], **SO400M},
)


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        (GEMMA_3_4B, 4_300_079_472),
        (GEMMA_3_12B, 12_187_325_040),
        (MISTRAL_SMALL, 24_011_361_280),
    ],
)
def test_parameters_are_those_that_the_publisher_states(model: Model, parameters: int) -> None:
    assert count_parameters(model) == parameters


@pytest.mark.parametrize(
    ("printed", "model", "ranks", "dtype"),
    [
        ("8.58", GEMMA_3_4B, 1, "bf16"),
        ("23.31", GEMMA_3_12B, 1, "bf16"),
        ("44.76", MISTRAL_SMALL, 1, "bf16"),
        ("12.11", MISTRAL_SMALL, 2, "int8"),
        ("30.74", KIMI_VL, 1, "bf16"),
        ("15.53", KIMI_VL, 2, "bf16"),
    ],
)
def test_the_printed_figure_follows_to_the_digit(
    printed: str, model: Model, ranks: int, dtype: str
) -> None:
    found = weights(replace(Deployment(), weight_dtype=dtype), model, ranks).bytes
    assert f"{found / GIB:.{-int(Decimal(printed).as_tuple().exponent)}f}" == printed


def test_the_tower_is_on_every_stage_of_a_pipeline() -> None:
    stages = [
        {term.name: term.bytes for _, term in found.walk()}
        for found in (
            weights(Deployment(), MISTRAL_SMALL, 1, pipeline_parallel=2, stage=stage)
            for stage in (0, 1)
        )
    ]
    assert stages[0]["vision tower"] == stages[1]["vision tower"] > 0


def test_layers_that_slide_have_a_table_of_their_own_which_is_not_scaled() -> None:
    found = {term.name: term.bytes for _, term in weights(Deployment(), GEMMA_3_4B, 1).walk()}
    assert found["rotary table"] == 8 * 131072 * 256 * 2
    assert found["rotary table of layers that slide"] == 131072 * 256 * 2


@pytest.mark.parametrize(
    ("vision", "field"),
    [
        ({"model_type": "new"}, "vision_config"),
        ({"model_type": ["gemma3"]}, "vision_config"),
        ({"model_type": "gemma3", "hidden_size": "wide"}, "vision_config.hidden_size"),
        ({"model_type": "gemma3", "num_hidden_layers": 10**6}, "vision_config.num_hidden_layers"),
        ({"model_type": "kimi_vl", "merge_kernel_size": 2}, "vision_config.merge_kernel_size"),
        (
            {"model_type": "mistral3", "multimodal_projector_bias": 1},
            "vision_config.multimodal_projector_bias",
        ),
    ],
)
def test_a_tower_that_does_not_work_is_refused_by_its_field(
    vision: dict[str, Any], field: str
) -> None:
    with pytest.raises(ShapeError) as raised:
        weights(Deployment(), replace(GEMMA_3_4B, vision=vision), 1)
    assert raised.value.field == field
