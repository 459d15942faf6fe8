from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arithmetic_examples import (
    DEEPSEEK_LITE,
    GEMMA_2_27B,
    GEMMA_7B,
    GLM_4_9B,
    GRANITE_8B,
    LLAMA_8B,
    LLAMA_70B,
    MIXTRAL,
    PHI_2,
    PHI_4,
    PHI_4_MINI,
    QWEN2_1B,
    QWEN2_7B,
    QWEN2_14B,
    QWEN2_72B,
    QWEN2_SMALL,
    QWEN3_8B,
    QWEN3_14B,
    QWEN3_30B,
    QWEN_MOE,
    Deployment,
    Model,
)
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.terms import Term
from upheld.arithmetic.weights import count_parameters, weights

GIB = 2**30
YARN = {"rope_type": "yarn", "factor": 4, "original_max_position_embeddings": 32768}


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        (LLAMA_8B, 8_030_261_248),
        (QWEN2_7B, 7_615_616_512),
        (QWEN2_SMALL, 494_032_768),
        (QWEN3_8B, 8_190_735_360),
        (QWEN3_14B, 14_768_307_200),
        (QWEN2_1B, 1_543_714_304),
        (QWEN2_14B, 14_770_033_664),
        (QWEN2_72B, 72_706_203_648),
        (PHI_2, 2_779_683_840),
        (PHI_4, 14_659_507_200),
        (GRANITE_8B, 8_170_848_256),
        (GEMMA_7B, 8_537_680_896),
        (GEMMA_2_27B, 27_227_128_320),
        (QWEN3_30B, 30_532_122_624),
        (MIXTRAL, 46_702_792_704),
        (DEEPSEEK_LITE, 15_706_484_224),
    ],
)
def test_parameters_are_those_that_the_publisher_states(model: Model, parameters: int) -> None:
    assert count_parameters(model) == parameters


def test_a_stated_count_that_differs_is_refused_with_both_numbers() -> None:
    with pytest.raises(ShapeError, match=r"8,000,000,000 are stated.* has 8,030,261,248"):
        weights(Deployment(), replace(LLAMA_8B, parameters=8_000_000_000), 1)
    assert weights(Deployment(), replace(LLAMA_8B, parameters=8_030_261_248), 1)


def sizes(model: Model, ranks: int = 1, **choices: Any) -> dict[str, Term]:
    found = weights(replace(Deployment(), **choices), model, ranks)
    return {term.name: term for _, term in found.walk()}


def tensors_alone(model: Model, ranks: int = 1, **choices: Any) -> int:
    found = sizes(model, ranks, **choices)
    beside = ("rotary table", "attention scales", "allocator rounding")
    return found["weights"].bytes - sum(found[name].bytes for name in beside)


def test_llama_8b_is_its_parameters_at_two_bytes_and_three_terms_beside_them() -> None:
    found = sizes(LLAMA_8B)
    assert tensors_alone(LLAMA_8B) == 8_030_261_248 * 2
    assert found["rotary table"].bytes == 131072 * 128 * 2
    assert found["attention scales"].bytes == 32 * 4 * 4
    # 324 tensors: all are whole in 2 MiB or small, and the scales take 512 B each.
    assert found["allocator rounding"].bytes == 32 * 4 * (512 - 4)


# What vLLM printed at start-up as the memory that loading the model took, in GiB.
PRINTED: list[tuple[str, Model, int, dict[str, Any]]] = [
    ("14.9888", LLAMA_8B, 1, {}),
    ("7.51", LLAMA_8B, 2, {}),
    ("3.77", LLAMA_8B, 4, {}),
    ("29.98", LLAMA_8B, 1, {"weight_dtype": "fp32"}),
    ("8.49", LLAMA_8B, 1, {"weight_dtype": "fp8_tensor"}),
    ("8.49", LLAMA_8B, 1, {"weight_dtype": "int8"}),
    ("5.38", LLAMA_8B, 1, {"weight_dtype": "int4_gptq", "weight_group_size": 128}),
    ("33.88", LLAMA_70B, 2, {"weight_dtype": "fp8"}),
    ("16.96", LLAMA_70B, 4, {"weight_dtype": "fp8"}),
    ("67.7229", LLAMA_70B, 1, {"weight_dtype": "int8"}),
    ("14.25", QWEN2_7B, 1, {}),
    ("7.12", QWEN2_7B, 2, {}),
    ("3.55", QWEN2_7B, 4, {}),
    ("8.14", QWEN2_7B, 1, {"weight_dtype": "fp8"}),
    ("0.93", QWEN2_SMALL, 1, {}),
    ("2.8875", QWEN2_1B, 1, {}),
    ("9.38", QWEN2_14B, 1, {"weight_dtype": "int4_awq", "weight_group_size": 128}),
    ("13.9476", replace(QWEN2_14B, max_position_embeddings=131072), 2, {}),
    ("67.80", QWEN2_72B, 2, {}),
    ("67.82", replace(QWEN2_72B, max_position_embeddings=131072), 2, {}),
    ("34.01", replace(QWEN2_72B, max_position_embeddings=131072), 4, {}),
    ("15.27", QWEN3_8B, 1, {}),
    ("27.52", QWEN3_14B, 1, {}),
    ("5.19", PHI_2, 1, {}),
    ("27.39", PHI_4, 1, {}),
    ("7.1694", PHI_4_MINI, 1, {}),
    ("15.25", GRANITE_8B, 1, {}),
    ("15.91", GEMMA_7B, 1, {}),
    ("50.72", GEMMA_2_27B, 1, {}),
    ("17.56", GLM_4_9B, 1, {}),
    ("56.88", QWEN3_30B, 1, {}),
    ("14.25", QWEN3_30B, 4, {}),
    ("14.27", replace(QWEN3_30B, rope_scaling=YARN), 4, {}),
    ("43.51", MIXTRAL, 2, {}),
    ("26.67", QWEN_MOE, 1, {}),
    ("29.43", DEEPSEEK_LITE, 1, {}),
]


@pytest.mark.parametrize(("printed", "model", "ranks", "choices"), PRINTED)
def test_the_printed_figure_follows_to_the_digit(
    printed: str, model: Model, ranks: int, choices: dict[str, Any]
) -> None:
    found = weights(replace(Deployment(), **choices), model, ranks).bytes
    places = -int(Decimal(printed).as_tuple().exponent)
    assert f"{found / GIB:.{places}f}" == printed


@pytest.mark.parametrize(("stages", "printed"), [(2, "7.51 7.51"), (4, "4.26 3.28 3.28 4.26")])
def test_each_pipeline_stage_follows_to_the_digit(stages: int, printed: str) -> None:
    found = [
        weights(Deployment(), LLAMA_8B, 1, pipeline_parallel=stages, stage=stage).bytes
        for stage in range(stages)
    ]
    assert " ".join(f"{each / GIB:.2f}" for each in found) == printed


def test_stages_hold_the_model_between_them_and_a_rotary_table_each() -> None:
    stages = [
        {
            term.name: term.bytes
            for _, term in weights(
                Deployment(), DEEPSEEK_LITE, 1, pipeline_parallel=3, stage=stage
            ).walk()
        }
        for stage in range(3)
    ]
    whole = sizes(DEEPSEEK_LITE)
    for name in ("embed_tokens", "lm_head", "gate_up_proj", "experts.w13", "kv_b_proj"):
        assert sum(stage.get(name, 0) for stage in stages) == whole[name].bytes
    assert ["embed_tokens" in stage for stage in stages] == [True, False, False]
    assert ["lm_head" in stage for stage in stages] == [False, False, True]
    assert all(stage["rotary table"] == whole["rotary table"].bytes for stage in stages)


def test_the_last_stage_of_a_tied_model_holds_the_embedding_too() -> None:
    last = weights(Deployment(), QWEN2_SMALL, 1, pipeline_parallel=2, stage=1)
    assert "embed_tokens" in {term.name for _, term in last.walk()}


@pytest.mark.parametrize(
    ("stages", "stage", "field"), [(33, 0, "pipeline_parallel"), (2, 2, "stage"), (2, -1, "stage")]
)
def test_stages_that_do_not_work_are_refused(stages: int, stage: int, field: str) -> None:
    with pytest.raises(ShapeError) as raised:
        weights(Deployment(), LLAMA_8B, 1, pipeline_parallel=stages, stage=stage)
    assert raised.value.field == field


@pytest.mark.parametrize(
    ("dtype", "linear"),
    [
        ("fp8", 28672 * 4096 + 28672 * 4),
        ("fp8_tensor", 28672 * 4096 + 4),
        ("fp8_block", 28672 * 4096 + 224 * 32 * 4),
        ("int8", 28672 * 4096 + 28672 * 4),
        ("int4", 28672 * 4096 // 2 + 28672 * 32 * 2),
        ("int4_awq", 28672 * 4096 // 2 + 28672 * 32 * 2 + 28672 * 32 // 2),
        ("int4_gptq", 28672 * 4096 // 2 + 28672 * 32 * 2 + 28672 * 32 // 2 + 4096 * 4),
        ("mxfp4", 28672 * 4096 * 2),
        ("nvfp4", 28672 * 4096 // 2 + 28672 * 256 + 8),
        ("nf4", 28672 * 4096 // 2 + 28672 * 64 * 4 + 16 * 4),
    ],
)
def test_a_linear_layer_in_each_format(dtype: str, linear: int) -> None:
    found = sizes(LLAMA_8B, weight_dtype=dtype, weight_group_size=128)
    assert found["gate_up_proj"].bytes == 32 * linear
    assert found["lm_head"].bytes == 128256 * 4096 * 2


@pytest.mark.parametrize(
    ("dtype", "experts"),
    [
        ("bf16", 8 * 28672 * 4096 * 2),
        ("fp8", 8 * (28672 * 4096 + 28672 * 4)),
        ("fp8_tensor", 8 * (28672 * 4096 + 4)),
        ("fp8_block", 8 * (28672 * 4096 + 224 * 32 * 4)),
        ("mxfp4", 8 * 28672 * (4096 // 2 + 4096 // 32)),
        ("nvfp4", 8 * (28672 * (4096 // 2 + 4096 // 16) + 8)),
        ("int4_gptq", 8 * (28672 * (2048 + 32 * 2 + 16) + 4096 * 4)),
    ],
)
def test_experts_in_each_format_while_the_router_stays_at_16_bits(dtype: str, experts: int) -> None:
    found = sizes(MIXTRAL, weight_dtype=dtype, weight_group_size=128)
    assert found["experts.w13"].bytes == 32 * experts
    assert found["router"].bytes == 32 * 8 * 4096 * 2


def test_quantised_latent_attention_keeps_a_16_bit_copy_for_the_absorbed_product() -> None:
    plain, small = sizes(DEEPSEEK_LITE), sizes(DEEPSEEK_LITE, weight_dtype="fp8")
    assert plain["absorbed kv_b_proj"].bytes == 0
    assert small["absorbed kv_b_proj"].bytes == 27 * 4096 * 512 * 2
    assert small["kv_b_proj"].bytes < plain["kv_b_proj"].bytes


def test_a_low_rank_query_is_two_projections_of_which_the_first_is_on_every_rank() -> None:
    low = replace(DEEPSEEK_LITE, q_lora_rank=1536, parameters=None)
    one, two = sizes(low), sizes(low, 2)
    assert one["fused_qkv_a_proj"].bytes == 27 * (1536 + 512 + 64) * 2048 * 2
    assert two["fused_qkv_a_proj"].bytes == one["fused_qkv_a_proj"].bytes
    assert 2 * two["q_b_proj"].bytes == one["q_b_proj"].bytes


def test_the_router_bias_is_fp32() -> None:
    found = sizes(replace(DEEPSEEK_LITE, router_bias=True, parameters=None))
    assert found["router.bias"].bytes == 26 * 64 * 4


@pytest.mark.parametrize(
    ("scaling", "positions"),
    [
        (None, 40960),
        ({"rope_type": "llama3", "factor": 8}, 40960),
        ({"rope_type": "linear", "factor": 2}, 81920),
        ({"rope_type": "default", "mrope_section": [24, 20, 20]}, 163840),
        ({"type": "dynamic", "factor": Decimal("1.5")}, 61440),
        (YARN, 131072),
        (YARN | {"mrope_section": [24, 20, 20]}, 524288),
        ({"rope_type": "longrope", "original_max_position_embeddings": 4096}, 45056),
    ],
)
def test_the_scaling_of_positions_changes_the_table(
    scaling: dict[str, Any] | None, positions: int
) -> None:
    found = sizes(replace(QWEN3_8B, rope_scaling=scaling))
    assert found["rotary table"].bytes == positions * 128 * 2


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"max_position_embeddings": None}, "max_position_embeddings"),
        ({"max_position_embeddings": 10**12}, "max_position_embeddings"),
        ({"rope_scaling": {"rope_type": "new"}}, "rope_scaling"),
        ({"rope_scaling": {"rope_type": "yarn", "factor": 4}}, "rope_scaling"),
        ({"rope_scaling": {"rope_type": "linear", "factor": "1e9"}}, "rope_scaling"),
        ({"rope_scaling": {"rope_type": "linear", "factor": 0}}, "rope_scaling"),
        ({"rope_scaling": {"rope_type": "linear"}}, "rope_scaling"),
        ({"rope_scaling": ["yarn"]}, "rope_scaling"),
        ({"partial_rotary_factor": 0}, "partial_rotary_factor"),
        ({"partial_rotary_factor": "half"}, "partial_rotary_factor"),
        ({"partial_rotary_factor": Decimal("0.01")}, "partial_rotary_factor"),
        ({"norms_per_layer": 3}, "norms_per_layer"),
        ({"num_experts": 8}, "moe_intermediate_size"),
        ({"moe_intermediate_size": 8}, "num_experts"),
        ({"attention": "latent"}, "kv_lora_rank"),
        ({"kv_lora_rank": 512}, "attention"),
        ({"has_vision_config": True}, "has_vision_config"),
        ({"num_hidden_layers": 10_001}, "num_hidden_layers"),
    ],
)
def test_what_is_not_known_is_refused_by_its_field(change: dict[str, Any], field: str) -> None:
    with pytest.raises(ShapeError) as raised:
        weights(Deployment(), replace(LLAMA_8B, **change), 1)
    assert raised.value.field == field


def test_every_term_names_the_facts_that_it_rests_on() -> None:
    table = sizes(replace(QWEN3_8B, rope_scaling=YARN))["rotary table"]
    inputs = {item.name: item.value for item in table.inputs}
    assert inputs["max_position_embeddings"] == 40960
    assert str(inputs["rope_scaling"]).startswith("factor 4, original_max_position_embeddings")
    assert table.given == ("shape-source",)


def test_int4_has_half_a_byte_and_a_scale_for_each_group_in_linear_layers_only() -> None:
    found = sizes(LLAMA_8B, weight_dtype="int4", weight_group_size=128)
    assert found["o_proj"].bytes == 32 * (4096 * 4096 // 2 + 4096 * 32 * 2)
    assert "no zero points" in found["o_proj"].formula
    assert found["lm_head"].bytes == 128256 * 4096 * 2
    assert found["norm"].bytes == 4096 * 2


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
    whole, part = (
        tensors_alone(model, 1, weight_dtype=dtype),
        tensors_alone(model, ranks, weight_dtype=dtype),
    )
    found = sizes(model, weight_dtype=dtype)
    norms = sum(term.bytes for name, term in found.items() if "norm" in name)
    assert ranks * part == whole + (ranks - 1) * norms


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
