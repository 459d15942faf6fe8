"""What each engine's ledger says, worked out by hand from a shape of 131,072 B a token."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from arithmetic_examples import (
    GRANITE_4_H_1B,
    LLAMA_8B,
    QWEN3_30B,
    Deployment,
    Device,
    Runtime,
)
from upheld.arithmetic.engines import ENGINES, engine_of
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.layouts.chunked import ChunkedAttention
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention
from upheld.arithmetic.ledger import Ledger, ledger
from upheld.arithmetic.solve import least_share, longest_context
from upheld.records.units import parse_quantity

GIB = 2**30
TOKEN = 131_072
STATED = {
    "weight_memory": Runtime(parse_quantity("16 GiB"), "log"),
    "runtime_memory": Runtime(parse_quantity("4 GiB"), "log"),
    "gpu_memory_utilization": Fraction(1, 2),
}


def of(engine: str, model: object = LLAMA_8B, **choices: object) -> Ledger:
    defaults = {
        "engine": engine,
        "engine_version": None,
        "block_size": None,
        "kv_cache_dtype": "fp16",
        **STATED,
    }
    return ledger(replace(Deployment(), **{**defaults, **choices}), model, Device())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("engine", "left", "block"),
    [
        # Half of 80 GiB, less weights and runtime.
        ("vllm", 20 * GIB, 16),
        # Runtime lies outside of the half.
        ("sglang", 24 * GIB, 1),
        # Half of what weights and runtime leave.
        ("tensorrt-llm", 30 * GIB, 32),
        ("lmdeploy", 30 * GIB, 64),
    ],
)
def test_each_engine_means_another_share(engine: str, left: int, block: int) -> None:
    found = of(engine)
    assert found.available_kv == left
    assert found.block_size == block
    assert found.tokens == left // TOKEN


@pytest.mark.parametrize("engine", ["vllm", "sglang", "tensorrt-llm", "lmdeploy"])
def test_the_least_share_is_just_enough(engine: str) -> None:
    share = least_share(of(engine))
    assert share is not None
    assert of(engine, gpu_memory_utilization=share).fits
    assert not of(engine, gpu_memory_utilization=share - Fraction(2, 10_000)).fits


@pytest.mark.parametrize("engine", ENGINES)
def test_the_longest_context_is_the_last_that_fits(engine: str) -> None:
    longest = longest_context(of(engine))

    def sequences(length: int) -> int:
        return of(engine, max_model_len=parse_quantity(f"{length} tokens")).sequences

    assert sequences(longest) >= 32 > sequences(longest + 64)


def test_tensorrt_llm_rounds_blocks_up() -> None:
    spare = Runtime(parse_quantity("4294967297 B"), "log")
    exact, less = of("tensorrt-llm"), of("tensorrt-llm", runtime_memory=spare)
    assert less.available_kv < exact.available_kv
    assert less.blocks == exact.blocks


def test_lmdeploy_keeps_a_scale_and_a_zero_point_beside_each_row() -> None:
    int8, int4 = of("lmdeploy", kv_cache_dtype="int8"), of("lmdeploy", kv_cache_dtype="int4")
    assert int8.kv_bytes_per_token == 32 * 8 * 2 * (128 + 4)
    assert int4.kv_bytes_per_token == 32 * 8 * 2 * (64 + 4)


def test_the_window_of_sglang_has_a_pool_of_eight_tenths() -> None:
    layers = (FullAttention(16, 8, 128, 128), SlidingAttention(16, 8, 128, 128, 1024))
    found = of("sglang", replace(GRANITE_4_H_1B, cached_layers=layers))
    cells = 24 * GIB // (32 * 4096)
    assert found.tokens == int(cells * 32 / (16 + Fraction(8, 10) * 16))


def test_states_of_sglang_are_slots_and_the_radix_cache_takes_three_a_request() -> None:
    plain = of("sglang", GRANITE_4_H_1B)
    cached = of("sglang", GRANITE_4_H_1B, prefix_caching=True)
    assert plain.sequences == 32 == plain.max_num_seqs
    slots = int(24 * GIB * Fraction(9, 19)) // cached.plan.slot_bytes
    assert cached.sequences == slots // 3
    states = [part for part in plain.kv_cache.parts if part.name == "mamba2"]
    assert len(states) == 1
    (more,) = (part for part in cached.kv_cache.parts if part.name == "mamba2")
    assert more.bytes == 3 * states[0].bytes


def test_before_v1_layers_in_a_window_were_sized_as_full_ones() -> None:
    layers = (FullAttention(16, 8, 128, 128), SlidingAttention(16, 8, 128, 128, 1024))
    model = replace(GRANITE_4_H_1B, cached_layers=layers)
    old = of("vllm", model, engine_version="0.6.3")
    assert old.tokens == 20 * GIB // (16 * TOKEN) * 16
    assert (
        of("vllm", model, engine_version="0.11.0", max_num_batched_tokens=2048).sequences
        > old.sequences
    )


@pytest.mark.parametrize("engine", ["tensorrt-llm", "lmdeploy"])
@pytest.mark.parametrize(
    "layout",
    [
        SlidingAttention(16, 8, 128, 128, 1024),
        ChunkedAttention(16, 8, 128, 128, 1024),
        LatentAttention(16, 512, 64),
    ],
)
def test_a_layout_that_is_not_known_of_an_engine_is_refused(engine: str, layout: object) -> None:
    model = replace(GRANITE_4_H_1B, cached_layers=(layout,))
    with pytest.raises(ShapeError, match="is not known"):
        of(engine, model)


def test_a_dtype_that_an_engine_does_not_have_is_refused() -> None:
    with pytest.raises(ShapeError, match="'q8_0' is none of vLLM's: fp32, bf16"):
        of("vllm", kv_cache_dtype="q8_0")
    with pytest.raises(ShapeError, match="'int8' is none of vLLM's"):
        of("vllm", kv_cache_dtype="int8")


def test_memory_that_is_stated_for_the_cache_is_what_the_cache_has() -> None:
    stated = Runtime(parse_quantity("46.80 GiB"), "log")
    for engine in ("vllm", "sglang", "tensorrt-llm", "lmdeploy"):
        found = of(engine, kv_cache_memory=stated)
        assert found.available_kv == -(-4680 * GIB // 100)
        assert "log" in found.given


def test_an_engine_is_found_in_any_spelling() -> None:
    assert engine_of("TensorRT_LLM", None).name == "tensorrt-llm"
    with pytest.raises(ShapeError, match="engine: 'tgi' is not known; known: vllm, sglang"):
        engine_of("tgi", None)


class TestContextParallel:
    FOUR_HEADS = replace(LLAMA_8B, num_key_value_heads=4)

    def test_copies_of_heads_hold_other_tokens_instead(self) -> None:
        stated = {"kv_cache_memory": Runtime(parse_quantity("20 GiB"), "log")}
        four = of("vllm", self.FOUR_HEADS, tensor_parallel=4, **stated)
        eight = of("vllm", self.FOUR_HEADS, tensor_parallel=8, **stated)
        shared = of("vllm", self.FOUR_HEADS, tensor_parallel=8, decode_context_parallel=2, **stated)
        assert eight.kv_bytes_per_token == four.kv_bytes_per_token
        assert eight.tokens == four.tokens
        assert shared.tokens == 2 * eight.tokens

    def test_there_are_no_more_ranks_than_copies(self) -> None:
        with pytest.raises(ShapeError, match="4 KV heads over 8 devices are held 2-fold"):
            of("vllm", self.FOUR_HEADS, tensor_parallel=8, decode_context_parallel=4)
        with pytest.raises(ShapeError, match="3 does not divide 8 tensor-parallel ranks"):
            of("vllm", self.FOUR_HEADS, tensor_parallel=8, decode_context_parallel=3)

    def test_an_engine_without_it_is_refused(self) -> None:
        with pytest.raises(ShapeError, match="none of SGLang is known"):
            of("sglang", tensor_parallel=16, decode_context_parallel=2)


class TestStages:
    def test_uneven_stages_are_those_of_the_engine(self) -> None:
        def layers(engine: str) -> list[int]:
            return [
                each.kv_bytes_per_token * 32 // TOKEN
                for each in of(engine, pipeline_parallel=5).stages
            ]

        assert layers("vllm") == [6, 6, 7, 7, 6]
        assert layers("sglang") == [6, 6, 6, 7, 7]
        assert layers("tensorrt-llm") == [7, 7, 6, 6, 6]

    def test_all_stages_hold_what_one_device_would(self) -> None:
        choices = {"weight_memory": None, "gpu_memory_utilization": Fraction(9, 10)}
        whole = of("vllm", **choices)
        stages = of("vllm", pipeline_parallel=5, **choices).stages
        assert sum(each.kv_cache.bytes for each in stages) == whole.kv_cache.bytes
        layers = [
            sum(part.bytes for part in each.weights.parts if part.name == "layers")
            for each in (whole, *stages)
        ]
        assert layers[0] == sum(layers[1:])

    def test_the_replica_holds_what_its_fullest_stage_does(self) -> None:
        found = of("vllm", pipeline_parallel=5)
        assert found.tokens == min(each.tokens for each in found.stages)
        assert found.kv_bytes_per_token == max(each.kv_bytes_per_token for each in found.stages)

    def test_a_list_of_kinds_has_no_order_to_share_out(self) -> None:
        with pytest.raises(ShapeError, match="stages need the order of the layers"):
            of("vllm", GRANITE_4_H_1B, pipeline_parallel=2)

    def test_an_engine_without_stages_is_refused(self) -> None:
        with pytest.raises(ShapeError, match="no stages of LMDeploy are known"):
            of("lmdeploy", pipeline_parallel=2)


def test_data_parallel_groups_have_a_cache_each() -> None:
    one, three = of("vllm"), of("vllm", data_parallel=3)
    assert three.tokens == one.tokens
    assert three.replica_tokens == 3 * one.tokens
    assert three.replica_sequences == 3 * one.sequences


class TestWholeSequences:
    WINDOWS = replace(
        GRANITE_4_H_1B,
        cached_layers=(
            FullAttention(16, 8, 128, 128),
            SlidingAttention(16, 8, 128, 128, 1024),
        ),
    )

    def test_llama_cpp_pads_each_slot_and_keeps_f16(self) -> None:
        found = of("llama.cpp", max_model_len=parse_quantity("8193 tokens"))
        assert found.kv_cache.bytes == 32 * (8192 + 256) * TOKEN

    def test_a_block_of_ggml_has_its_scales(self) -> None:
        q8_0, q4_0 = (of("ollama", kv_cache_dtype=dtype) for dtype in ("q8_0", "q4_0"))
        assert q8_0.kv_cache.bytes == 32 * 8192 * TOKEN // 2 * 34 // 32
        assert q4_0.kv_cache.bytes == 32 * 8192 * TOKEN // 2 * 18 // 32

    @pytest.mark.parametrize(
        ("engine", "cells"),
        [
            # The window and a batch of 512, in each slot.
            ("llama.cpp", 32 * (1024 + 512)),
            # 4,096 a sequence whatever the window is, and one batch.
            ("ollama", 32 * 4096 + 512),
            # What the last step read: the window.
            ("transformers", 32 * 1024),
        ],
    )
    def test_each_engine_bounds_a_window_in_its_own_way(self, engine: str, cells: int) -> None:
        found = of(engine, self.WINDOWS)
        full, windowed = found.kv_cache.parts
        counters = 8 * 16 if engine == "transformers" else 0
        assert full.bytes == 32 * 8192 * TOKEN // 2
        assert windowed.bytes == cells * TOKEN // 2 + counters

    def test_an_indexer_of_llama_cpp_keeps_keys_of_the_dtype_of_keys(self) -> None:
        model = replace(
            GRANITE_4_H_1B,
            cached_layers=(LatentAttention(4, 512, 64, 128), LatentAttention(12, 512, 64)),
        )
        found = of("llama.cpp", model)
        assert found.kv_cache.bytes == 32 * 8192 * (16 * 576 + 4 * 128) * 2
        assert "4 layers × (512 + 64 + 128 of the indexer) × 2 B" in found.kv_cache.formula
        assert found.kv_bytes_per_token == (16 * 576 + 4 * 128) * 2

    def test_the_output_is_one_more_layer_of_llama_cpp(self) -> None:
        stages = of("llama.cpp", pipeline_parallel=3).stages
        assert [each.kv_bytes_per_token * 32 // TOKEN for each in stages] == [11, 11, 10]

    @pytest.mark.parametrize("engine", ["llama.cpp", "ollama", "transformers"])
    def test_no_layer_is_split(self, engine: str) -> None:
        with pytest.raises(ShapeError, match="tensor_parallel"):
            of(engine, tensor_parallel=2)

    def test_states_of_ollama_are_not_known(self) -> None:
        with pytest.raises(ShapeError, match="how Ollama caches states is not known"):
            of("ollama", GRANITE_4_H_1B)

    def test_transformers_has_no_block_size(self) -> None:
        with pytest.raises(ShapeError, match="block_size: Transformers has none"):
            of("transformers", block_size=16)


class TestExperts:
    @staticmethod
    def held(**choices: object) -> int:
        """Elements of the first expert tensor on one device."""
        found = of("vllm", QWEN3_30B, weight_memory=None, **choices)
        layers = next(part for part in found.weights.parts if part.name == "layers")
        (w13,) = (part for part in layers.parts if part.name == "experts.w13")
        return w13.bytes // (2 * QWEN3_30B.num_hidden_layers * QWEN3_30B.hidden_size)

    def test_groups_share_the_experts_in_parts_or_whole(self) -> None:
        expert = 2 * QWEN3_30B.moe_intermediate_size
        experts = QWEN3_30B.num_experts
        assert self.held() == experts * expert
        assert self.held(data_parallel=4) == experts * expert // 4
        assert self.held(data_parallel=4, expert_parallel=True) == experts // 4 * expert

    def test_the_fullest_rank_holds_what_does_not_divide(self) -> None:
        expert = 2 * QWEN3_30B.moe_intermediate_size
        assert self.held(data_parallel=3, expert_parallel=True) == 43 * expert
        with pytest.raises(ShapeError, match="5 devices can't share"):
            self.held(data_parallel=5)
