"""What a GGUF header says of a model, in files as llama.cpp's converter writes them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gguf_files import F32, LLAMA, Q8_0, Shapes, dense_tensors, one_a_layer, renamed, write_gguf
from upheld.arithmetic.config_json import ConfigShape
from upheld.arithmetic.configs import ConfigError
from upheld.arithmetic.gguf_model import GgufModel, read_gguf_model
from upheld.arithmetic.layouts.chunked import ChunkedAttention
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention
from upheld.arithmetic.layouts.state import GatedDeltaNet, Mamba1, Mamba2, ShortConvolution
from upheld.arithmetic.weights import count_parameters

SSM = {
    "ssm__conv_kernel": 4,
    "ssm__inner_size": 128,
    "ssm__state_size": 16,
    "ssm__time_step_rank": 8,
    "ssm__group_count": 2,
}


def read(folder: Path, keys: Mapping[str, Any], tensors: Shapes, kind: int = 1) -> GgufModel:
    return read_gguf_model(write_gguf(folder / "model.gguf", keys, tensors, kind))


def layers_of(folder: Path, architecture: str, layers: int, **changes: Any) -> tuple[Any, ...]:
    keys = renamed(architecture, block_count=layers, **changes)
    return read(folder, keys, one_a_layer(layers)).model.cached.layers


def test_a_dense_decoder(tmp_path: Path) -> None:
    found = read(tmp_path, LLAMA, dense_tensors())
    assert found.model.cached.layers == (FullAttention(2, 2, 16, 16),)
    assert found.facts == {
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "hidden_size": 64,
        "intermediate_size": 128,
        "vocab_size": 96,
        "tie_word_embeddings": False,
    }
    assert (found.model.torch_dtype, found.model.max_position_embeddings) == ("fp16", 4096)
    assert found.unstated == frozenset()
    assert found.name == "Example 1B"


def test_its_weights_are_those_of_its_tensors(tmp_path: Path) -> None:
    tensors = dense_tensors() | {
        "blk.0.attn_k_norm.weight": (16,),
        "blk.0.attn_q_norm.weight": (16,),
    }
    tensors |= {"blk.1.attn_k_norm.weight": (16,), "blk.1.attn_q_norm.weight": (16,)}
    model = read(tmp_path, renamed("qwen3"), tensors).model
    assert isinstance(model, ConfigShape)
    sizes = [shape[0] * (shape[1] if len(shape) > 1 else 1) for shape in tensors.values()]
    assert count_parameters(model) == sum(sizes)


def test_an_output_that_is_not_there_is_the_embedding(tmp_path: Path) -> None:
    tensors = dense_tensors()
    del tensors["output.weight"]
    assert read(tmp_path, LLAMA, tensors).facts["tie_word_embeddings"] is True


@pytest.mark.parametrize(
    ("keys", "more"),
    [
        ({}, {"blk.0.post_attention_norm.weight": (64,)}),
        ({"llama.rope.scaling.type": "yarn"}, {}),
        ({"llama.rope.dimension_count": 8}, {}),
        ({}, {"blk.0.attn_k_norm.weight": (32,), "blk.0.attn_q_norm.weight": (64,)}),
    ],
)
def test_weights_beyond_a_plain_decoder_are_not_worked_out(
    tmp_path: Path, keys: dict[str, Any], more: dict[str, tuple[int, ...]]
) -> None:
    model = read(tmp_path, LLAMA | keys, dense_tensors() | more).model
    assert not isinstance(model, ConfigShape)
    assert model.weights_unknown is not None


def test_quantised_tensors_say_what_they_take_and_not_what_it_computes_in(tmp_path: Path) -> None:
    found = read(tmp_path, LLAMA, dense_tensors(), Q8_0)
    assert (found.model.torch_dtype, found.model.quantised) == (None, True)
    matrices = 2 * 64 * 96 + 2 * (2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 128)
    assert found.stored.by_dtype == {"F32": 5 * 64 * 4, "Q8_0": matrices * 34 // 32}
    assert read(tmp_path, LLAMA, dense_tensors(), F32).model.torch_dtype == "fp32"


@pytest.mark.parametrize(
    ("architecture", "window", "full"),
    [
        ("gemma2", 512, [1, 3, 5, 7, 9, 11]),
        ("gemma3", 512, [5, 11]),
        ("gpt-oss", 128, [1, 3, 5, 7, 9, 11]),
        ("cohere2", 512, [3, 7, 11]),
        ("olmo2", 512, [3, 7, 11]),
        ("smallthinker", 512, [0, 4, 8]),
        ("afmoe", 512, [3, 7, 11]),
        ("cohere2moe", 512, [0, 4, 8]),
        ("exaone-moe", 512, [3, 7, 11]),
        ("laguna", 512, [0, 4, 8]),
        ("mellum", 512, [3, 7, 11]),
        ("muse-glimmer", 512, [3, 7, 11]),
        ("plamo3", 512, [7]),
    ],
)
def test_where_layers_slide_is_in_llama_cpps_code_and_told_as_assumed(
    tmp_path: Path, architecture: str, window: int, full: list[int]
) -> None:
    keys = renamed(architecture, block_count=12, attention__sliding_window=window)
    found = read(tmp_path, keys, one_a_layer(12))
    layers = {type(each): each.layers for each in found.model.cached.layers}
    assert layers.get(FullAttention, 0) == len(full)
    assert layers[SlidingAttention] == 12 - len(full)
    assert "cached_layers" in found.unstated
    assert found.model.origins == {"cached_layers": "assumed in part: not all is in the GGUF file"}
    assert any(f"has it for {architecture}" in each for each in found.model.assumed)


def test_a_pattern_in_the_file_is_the_files_own(tmp_path: Path) -> None:
    keys = renamed(
        "gemma3",
        block_count=3,
        attention__sliding_window=512,
        attention__sliding_window_pattern=[True, False, True],
    )
    found = read(tmp_path, keys, one_a_layer(3))
    assert found.model.cached.layers == (
        FullAttention(1, 2, 16, 16),
        SlidingAttention(2, 2, 16, 16, 512),
    )
    assert found.unstated == frozenset()
    assert found.model.cached.order == ((1,), (0,), (1,))
    period = layers_of(
        tmp_path, "gemma3", 4, attention__sliding_window=8, attention__sliding_window_pattern=2
    )
    assert period == (FullAttention(2, 2, 16, 16), SlidingAttention(2, 2, 16, 16, 8))


@pytest.mark.parametrize(
    "architecture", ["gemma4", "granite_swa", "maple", "mimo2", "spark2_5", "step35"]
)
def test_a_pattern_that_llama_cpp_asks_of_the_file(tmp_path: Path, architecture: str) -> None:
    window = {"attention__sliding_window": 512}
    pattern = {"attention__sliding_window_pattern": [False, True, True, False]}
    assert layers_of(tmp_path, architecture, 4, **window, **pattern) == (
        FullAttention(2, 2, 16, 16),
        SlidingAttention(2, 2, 16, 16, 512),
    )
    with pytest.raises(ConfigError, match="sliding_window_pattern is missing"):
        layers_of(tmp_path, architecture, 4, **window)


def test_layers_in_a_window_have_widths_of_their_own_in_their_tensors_too(tmp_path: Path) -> None:
    keys = renamed(
        "gemma4",
        attention__key_length=32,
        attention__value_length=32,
        attention__key_length_swa=16,
        attention__value_length_swa=16,
        attention__sliding_window=512,
        attention__sliding_window_pattern=[True, False],
    )
    tensors = one_a_layer(2) | {
        "blk.0.attn_k.weight": (64, 32),
        "blk.0.attn_v.weight": (64, 32),
        "blk.1.attn_k.weight": (64, 64),
    }
    assert read(tmp_path, keys, tensors).model.cached.layers == (
        FullAttention(1, 2, 32, 32),
        SlidingAttention(1, 2, 16, 16, 512),
    )
    with pytest.raises(ConfigError, match=r"blk\.1\.attn_k\.weight is 32 wide"):
        read(tmp_path, keys, tensors | {"blk.1.attn_k.weight": (64, 32)})


def test_every_layer_that_attends_may_slide(tmp_path: Path) -> None:
    changes = {"shortconv__l_cache": 3, "attention__head_count_kv": [0, 2]}
    assert layers_of(tmp_path, "lfm2", 2, **changes, attention__sliding_window=512) == (
        SlidingAttention(1, 2, 16, 16, 512),
        ShortConvolution(1, 3, 64),
    )


@pytest.mark.parametrize(
    ("architecture", "sentence"),
    [
        ("phi3", "no layer slides, as llama.cpp has it for phi3: it leaves phi3.attention."),
        ("deepseek2-ocr", "no layer slides, as llama.cpp has it for deepseek2-ocr: it leaves"),
        ("exaone4", "no layer slides, as llama.cpp has it for exaone4 of 4 layers: it leaves"),
    ],
)
def test_a_window_that_llama_cpp_leaves_out_is_told(
    tmp_path: Path, architecture: str, sentence: str
) -> None:
    keys = renamed(architecture, block_count=4, attention__sliding_window=512)
    found = read(tmp_path, keys, one_a_layer(4))
    assert found.model.cached.layers == (FullAttention(4, 2, 16, 16),)
    assert any(each.startswith(sentence) for each in found.model.assumed)
    assert "cached_layers" in found.unstated
    none = read(tmp_path, keys | {f"{architecture}.attention.sliding_window": 0}, one_a_layer(4))
    assert none.unstated == frozenset()


def test_layers_slide_in_exaone_4_where_there_are_64(tmp_path: Path) -> None:
    assert layers_of(tmp_path, "exaone4", 64) == (
        FullAttention(16, 2, 16, 16),
        SlidingAttention(48, 2, 16, 16, 4096),
    )


def test_a_window_of_nought_is_none(tmp_path: Path) -> None:
    assert layers_of(tmp_path, "olmo2", 4, attention__sliding_window=0) == (
        FullAttention(4, 2, 16, 16),
    )


def test_chunks(tmp_path: Path) -> None:
    assert layers_of(tmp_path, "llama4", 8) == (
        FullAttention(2, 2, 16, 16),
        ChunkedAttention(6, 2, 16, 16, 8192),
    )
    assert layers_of(tmp_path, "llama4", 8, attention__sliding_window=0) == (
        FullAttention(8, 2, 16, 16),
    )


def test_layers_that_use_the_cache_of_another(tmp_path: Path) -> None:
    window = {"attention__sliding_window": 512}
    assert layers_of(tmp_path, "gemma3n", 30, **window) == (
        FullAttention(4, 2, 16, 16),
        SlidingAttention(16, 2, 16, 16, 512),
    )
    keys = renamed("gemma3n", block_count=30, attention__shared_kv_layers=20, **window)
    found = read(tmp_path, keys, one_a_layer(30)).model
    assert found.cached.layers == (
        FullAttention(2, 2, 16, 16),
        SlidingAttention(8, 2, 16, 16, 512),
    )
    assert found.sharing_layers == 20


def test_heads_that_differ_by_layer(tmp_path: Path) -> None:
    found = layers_of(
        tmp_path, "openelm", 2, attention__head_count=[4, 8], attention__head_count_kv=[2, 4]
    )
    assert found == (FullAttention(1, 2, 16, 16), FullAttention(1, 4, 8, 8))


def test_a_layer_may_have_neither_attention_nor_state(tmp_path: Path) -> None:
    found = layers_of(
        tmp_path, "deci", 2, attention__head_count=[4, 0], attention__head_count_kv=[2, 0]
    )
    assert found == (FullAttention(1, 2, 16, 16),)


LATENT = {
    "attention__head_count_kv": 1,
    "attention__kv_lora_rank": 48,
    "attention__key_length": 56,
    "attention__value_length": 48,
    "attention__key_length_mla": 24,
    "attention__value_length_mla": 16,
    "rope__dimension_count": 8,
}


@pytest.mark.parametrize("architecture", ["deepseek2", "mistral4"])
def test_a_latent_row(tmp_path: Path, architecture: str) -> None:
    assert layers_of(tmp_path, architecture, 2, **LATENT) == (
        LatentAttention(2, 48, 8, 0, 4, 16, 16),
    )


INDEXER = LATENT | {
    "attention__indexer__head_count": 64,
    "attention__indexer__key_length": 24,
    "attention__indexer__top_k": 2048,
}


def test_an_indexer_in_every_layer(tmp_path: Path) -> None:
    assert layers_of(tmp_path, "deepseek32", 2, **INDEXER) == (
        LatentAttention(2, 48, 8, 24, 4, 16, 16),
    )
    keys = renamed("glm-dsa", **INDEXER)
    found = read(tmp_path, keys, one_a_layer(2)).model
    assert found.cached.layers == (LatentAttention(2, 48, 8, 24, 4, 16, 16),)
    assert any("glm-dsa of fewer than 1,048,576 tokens" in each for each in found.assumed)


def test_an_indexer_that_several_layers_share(tmp_path: Path) -> None:
    types = {"attention__indexer__types": [True, True, False, False]}
    found = read(tmp_path, renamed("glm-dsa", block_count=4, **INDEXER, **types), one_a_layer(4))
    assert found.model.cached.layers == (
        LatentAttention(2, 48, 8, 24, 4, 16, 16),
        LatentAttention(2, 48, 8, 0, 4, 16, 16),
    )
    assert found.model.cached.order == ((0,), (0,), (1,), (1,))
    assert "cached_layers" not in found.unstated
    one_for_each = layers_of(tmp_path, "glm-dsa", 2, **INDEXER, attention__indexer__types=1)
    assert one_for_each == (LatentAttention(2, 48, 8, 24, 4, 16, 16),)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"context_length": 2**20}, "indexer.types is missing: in models of 1,048,576 tokens"),
        ({"attention__indexer__key_length": None}, "indexer.key_length is missing"),
        ({"attention__indexer__types": [True]}, "indexer.types has 1 items, and there are 2"),
        ({"attention__key_length_mla": None}, "key_length_mla is missing"),
    ],
)
def test_an_indexer_that_is_not_known_is_refused(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        layers_of(tmp_path, "glm-dsa", 2, **INDEXER | changes)


@pytest.mark.parametrize("architecture", ["deepseek2", "minicpm3", "plm"])
@pytest.mark.parametrize("expanded", [{}, {"attention__key_length_mla": 0}])
def test_what_a_latent_row_expands_to_is_cached_where_the_file_names_no_widths_of_it(
    tmp_path: Path, architecture: str, expanded: dict[str, int]
) -> None:
    keys = renamed(
        architecture,
        attention__head_count_kv=4,
        attention__kv_lora_rank=48,
        attention__key_length=24,
        attention__value_length=16,
        **expanded,
    )
    found = read(tmp_path, keys, one_a_layer(2))
    assert found.model.cached.layers == (FullAttention(2, 4, 24, 16),)
    assert any("a latent row expands to are cached" in each for each in found.model.assumed)
    assert found.facts["head_dim"] == 24


@pytest.mark.parametrize("architecture", ["kimi-linear", "kimi-k3", "bailingmoe3"])
def test_latent_rows_beside_states(tmp_path: Path, architecture: str) -> None:
    changes = LATENT | {
        "attention__head_count_kv": [0, 0, 1, 0],
        "ssm__conv_kernel": 4,
        "kda__head_dim": 16,
    }
    found = read(tmp_path, renamed(architecture, block_count=4, **changes), one_a_layer(4))
    assert found.model.cached.layers == (
        LatentAttention(1, 48, 8, 0, 4, 16, 16),
        GatedDeltaNet(3, 4, 4, 4, 16, 16),
    )
    assert found.model.state_dtype == "float32"
    assert "state_dtype" in found.unstated


def test_layers_that_only_draft_are_not_counted(tmp_path: Path) -> None:
    assert layers_of(tmp_path, "glm4moe", 3, nextn_predict_layers=1) == (
        FullAttention(2, 2, 16, 16),
    )


@pytest.mark.parametrize(
    ("architecture", "changes", "layers"),
    [
        ("mamba", SSM | {"attention__head_count": 0}, (Mamba1(4, 4, 128, 16),)),
        ("mamba2", SSM | {"attention__head_count": 0}, (Mamba2(4, 4, 8, 16, 16, 2),)),
        (
            "jamba",
            SSM | {"attention__head_count_kv": [0, 2, 0, 2]},
            (FullAttention(2, 2, 16, 16), Mamba1(2, 4, 128, 16)),
        ),
        (
            "granitehybrid",
            SSM | {"attention__head_count_kv": [0, 0, 2, 0]},
            (FullAttention(1, 2, 16, 16), Mamba2(3, 4, 8, 16, 16, 2)),
        ),
        (
            "nemotron_h",
            SSM
            | {
                "attention__head_count_kv": [0, 0, 2, 0],
                "feed_forward_length": [0, 128, 0, 128],
            },
            (FullAttention(1, 2, 16, 16), Mamba2(1, 4, 8, 16, 16, 2)),
        ),
        (
            "nemotron_h_moe",
            SSM
            | {
                "attention__head_count_kv": [0, 2, 2, 0],
                "feed_forward_length": [0, 128, 0, 0],
            },
            (FullAttention(1, 2, 16, 16), Mamba2(2, 4, 8, 16, 16, 2)),
        ),
        (
            "plamo2",
            SSM | {"attention__head_count_kv": [0, 2, 0, 2]},
            (FullAttention(2, 2, 16, 16), Mamba1(2, 4, 128, 16)),
        ),
        (
            "qwen35",
            SSM | {"attention__recurrent_layers": [True, False, False, True]},
            (FullAttention(2, 2, 16, 16), GatedDeltaNet(2, 4, 8, 2, 16, 16)),
        ),
        (
            "qwen35moe",
            SSM | {"full_attention_interval": 2},
            (FullAttention(2, 2, 16, 16), GatedDeltaNet(2, 4, 8, 2, 16, 16)),
        ),
        ("falcon-h1", SSM, (FullAttention(4, 2, 16, 16), Mamba2(4, 4, 8, 16, 16, 2))),
        ("qwen3next", SSM, (FullAttention(1, 2, 16, 16), GatedDeltaNet(3, 4, 8, 2, 16, 16))),
        (
            "lfm2",
            {"shortconv__l_cache": 3, "attention__head_count_kv": [0, 0, 2, 0]},
            (FullAttention(1, 2, 16, 16), ShortConvolution(3, 3, 64)),
        ),
    ],
)
def test_states(
    tmp_path: Path, architecture: str, changes: dict[str, Any], layers: tuple[Any, ...]
) -> None:
    assert layers_of(tmp_path, architecture, 4, **changes) == layers


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"general.architecture": "other"}, "'other', which is not known, and what is not known"),
        ({"general.architecture": 7}, "general.architecture is '7'"),
        ({"llama.block_count": None}, "llama.block_count is missing"),
        ({"llama.block_count": 0}, "llama.block_count is 0"),
        ({"llama.block_count": 2**31}, "llama.block_count is 2147483648"),
        ({"llama.block_count": 3}, "its tensors are of 2 layers, and llama.block_count is 3"),
        ({"llama.block_count": True}, "llama.block_count is True"),
        ({"llama.block_count": [1, 2]}, "llama.block_count is a list"),
        ({"llama.block_count": "2"}, "llama.block_count is '2'"),
        ({"llama.context_length": None}, "llama.context_length is missing"),
        ({"llama.attention.head_count": None}, "llama.attention.head_count is missing"),
        ({"llama.attention.head_count": 0}, "llama.attention.head_count is 0"),
        ({"llama.attention.head_count": 5}, "llama.attention.head_count is 5"),
        ({"llama.attention.head_count_kv": 3}, "head_count_kv is 3 in layer 0"),
        ({"llama.attention.head_count_kv": [2, 0]}, "head_count_kv is 0 in layer 1"),
        ({"llama.attention.head_count_kv": [2]}, "head_count_kv has 1 items"),
        ({"llama.attention.head_count_kv": ["2", "2"]}, "head_count_kv has 2 items"),
        ({"llama.attention.head_count_kv": 4}, "blk.0.attn_k.weight is 32 wide, and llama.att"),
        ({"llama.attention.value_length": 8}, "blk.0.attn_v.weight is 32 wide"),
        ({"llama.embedding_length": 128}, "token_embd.weight is 64 wide, and llama.embedding_"),
        ({"tokenizer.ggml.tokens": ["a"]}, "tokenizer.ggml.tokens has 1 items"),
        ({"llama.attention.sliding_window": 512}, "llama.attention.sliding_window is not known"),
        ({"llama.ssm.inner_size": 128}, "llama.ssm.inner_size is not known"),
        ({"llama.shortconv.l_cache": 3}, "llama.shortconv.l_cache is not known"),
        ({"llama.kda.head_dim": 16}, "llama.kda.head_dim is not known"),
        ({"llama.wkv.head_size": 64}, "llama.wkv.head_size is not known"),
        ({"llama.attention.indexer.key_length": 64}, "indexer.key_length is not known"),
        ({"llama.attention.compress_ratios": [0, 4]}, "compress_ratios is not known"),
        ({"llama.attention.recurrent_layers": [0, 1]}, "recurrent_layers is not known"),
        ({"llama.attention.kv_lora_rank": 48}, "llama.attention.kv_lora_rank is not known"),
        ({"llama.attention.causal": False}, "llama.attention.causal is false"),
        ({"llama.nextn_predict_layers": 2}, "llama.nextn_predict_layers is 2"),
        ({"split.count": 3}, "it is one of several parts"),
    ],
)
def test_what_does_not_work_is_refused_by_name(
    tmp_path: Path, keys: dict[str, Any], words: str
) -> None:
    changed = {key: value for key, value in (LLAMA | keys).items() if value is not None}
    with pytest.raises(ConfigError) as error:
        read(tmp_path, changed, dense_tensors())
    assert words in str(error.value)
    assert error.value.help


def test_states_need_the_heads_of_the_first_layer(tmp_path: Path) -> None:
    changes = {"attention__head_count": [0, 4], "ssm__conv_kernel": 4, "kda__head_dim": 16}
    with pytest.raises(ConfigError, match="head_count is 0 in the first layer"):
        layers_of(tmp_path, "kimi-linear", 2, **LATENT | changes)


def test_a_latent_is_one_row(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="head_count_kv is 2, and a latent is one"):
        layers_of(tmp_path, "deepseek2", 2, **LATENT | {"attention__head_count_kv": 2})


def test_keys_that_change_no_cache_are_passed_over(tmp_path: Path) -> None:
    keys = {
        "llama.attention.indexer.head_count": 64,
        "llama.attention.indexer.key_length": 0,
        "llama.attention.indexer.kpool_select_tail": True,
        "llama.attention.compress_ratios": [0, 0],
        "llama.attention.recurrent_layers": [0, 0],
        "llama.attention.key_length_mla": 0,
        "llama.attention.key_length_swa": 16,
        "llama.attention.sliding_window": 0,
        "llama.kda.safe_gate": True,
        "llama.ssm.conv_kernel": 4,
        "llama.token_shift_count": 2,
    }
    found = read(tmp_path, LLAMA | keys, dense_tensors())
    assert found.model.cached.layers == (FullAttention(2, 2, 16, 16),)
    assert found.unstated == frozenset()


def test_a_file_without_an_embedding_is_no_whole_model(tmp_path: Path) -> None:
    tensors = dense_tensors()
    del tensors["token_embd.weight"]
    with pytest.raises(ConfigError, match=r"token_embd\.weight is missing"):
        read(tmp_path, LLAMA, tensors)


def test_a_file_that_is_cut_short_anywhere_is_refused(tmp_path: Path) -> None:
    file = write_gguf(tmp_path / "model.gguf", LLAMA, dense_tensors())
    data = file.read_bytes()
    for length in [*range(0, 400, 7), len(data) // 2, len(data) - 1]:
        file.write_bytes(data[:length])
        with pytest.raises(ConfigError):
            read_gguf_model(file)


def test_a_file_with_a_wrong_byte_is_read_or_refused(tmp_path: Path) -> None:
    file = write_gguf(tmp_path / "model.gguf", LLAMA, dense_tensors())
    data = file.read_bytes()
    refused = 0
    for at in range(0, 1200, 3):
        file.write_bytes(data[:at] + b"\xff" + data[at + 1 :])
        try:
            read_gguf_model(file)
        except ConfigError:
            refused += 1
    assert refused > 200
