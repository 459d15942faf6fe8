"""Config files of many families: what each caches, and which facts it leaves to assumptions.

The files in corpora/configs are in the published format, cut down to what bears on the cache.
Their facts are those of the public reports' shapes where these have the model (Gemma 2, 3, 4,
gpt-oss, Llama 4, Qwen3-Next, Qwen3.5, Nemotron-H, Granite 4, LFM2, MiniMax-M2, GLM-5, Kimi K2.5,
Laguna, Trinity, Muse Glimmer), else public knowledge, not read again; nemotron-nas is made up.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from upheld.arithmetic.configs import CachedLayers, ConfigError, cached_layers
from upheld.arithmetic.dtypes import cache_dtype
from upheld.arithmetic.engines import vllm
from upheld.arithmetic.layouts import Layers
from upheld.arithmetic.layouts.chunked import ChunkedAttention as Chunked
from upheld.arithmetic.layouts.full import FullAttention as Full
from upheld.arithmetic.layouts.latent import LatentAttention as Latent
from upheld.arithmetic.layouts.sliding import SlidingAttention as Sliding
from upheld.arithmetic.layouts.state import GatedDeltaNet, Mamba1, Mamba2, ShortConvolution

CONFIGS = Path(__file__).parents[2] / "corpora" / "configs"

EXPECTED: dict[str, tuple[Layers, ...]] = {
    "bamba": (Full(3, 8, 128, 128), Mamba2(29, 4, 128, 64, 128, 1)),
    "bert": (),
    "command-r7b": (Full(8, 8, 128, 128), Sliding(24, 8, 128, 128, 4096)),
    "deepseek-v3.2": (Latent(61, 512, 64, 128, 128, 128, 128),),
    "exaone-4": (Full(16, 8, 128, 128), Sliding(48, 8, 128, 128, 4096)),
    "experts": (Full(32, 8, 128, 128),),
    "falcon-7b": (Full(32, 1, 64, 64),),
    "falcon-h1": (Full(36, 2, 64, 64), Mamba2(36, 4, 24, 64, 128, 1)),
    "gemma-2": (Full(23, 16, 128, 128), Sliding(23, 16, 128, 128, 4096)),
    "gemma-3": (Full(5, 4, 256, 256), Sliding(29, 4, 256, 256, 1024)),
    "gemma-3n": (Full(4, 2, 256, 256), Sliding(16, 2, 256, 256, 512)),
    "gemma-4-moe": (Full(5, 2, 512, 512), Sliding(25, 8, 256, 256, 1024)),
    "gemma-4-shared": (Full(4, 2, 512, 512), Sliding(20, 2, 256, 256, 512)),
    "glm-4-9b": (Full(40, 2, 128, 128),),
    "glm-5": (Latent(78, 512, 64, 128, 64, 192, 256),),
    "gpt-2": (Full(12, 12, 64, 64),),
    "gpt-oss": (Full(12, 8, 64, 64), Sliding(12, 8, 64, 64, 128)),
    "granite-4-h": (Full(4, 4, 128, 128), Mamba2(36, 4, 48, 64, 128, 1)),
    "internvl-3": (Full(28, 4, 128, 128),),
    "jamba": (Full(4, 8, 128, 128), Mamba1(28, 4, 8192, 16)),
    "kimi-k2.5": (Latent(61, 512, 64, 0, 64, 128, 128),),
    "kimi-linear": (
        Latent(7, 512, 64, 0, 32, 128, 128),
        GatedDeltaNet(20, 4, 32, 32, 128, 128),
    ),
    "laguna": (Full(12, 8, 128, 128), Sliding(36, 8, 128, 128, 512)),
    "latent-attention": (Latent(27, 512, 64, 0, 16, 128, 128),),
    "lfm2": (Full(6, 8, 64, 64), ShortConvolution(10, 3, 2048)),
    "llama-4": (Full(12, 8, 128, 128), Chunked(36, 8, 128, 128, 8192)),
    "llama-8b": (Full(32, 8, 128, 128),),
    "llama-8b-gptq": (Full(32, 8, 128, 128),),
    "mamba": (Mamba1(64, 4, 5120, 16),),
    "mamba-2": (Mamba2(64, 4, 128, 64, 128, 8),),
    "minimax-m2": (Full(62, 8, 128, 128),),
    "mistral-small-3.1": (Full(40, 8, 128, 128),),
    "mistral-windowed": (Sliding(32, 8, 128, 128, 4096),),
    "muse-glimmer": (Full(13, 2, 128, 128), Sliding(39, 2, 128, 128, 2048)),
    "nemotron-h": (Full(6, 2, 128, 128), Mamba2(23, 4, 64, 64, 128, 8)),
    "nemotron-nas": (Full(3, 8, 128, 128), Full(1, 4, 128, 128)),
    "olmo-3": (Full(8, 32, 128, 128), Sliding(24, 32, 128, 128, 4096)),
    "phi-3": (Sliding(32, 32, 96, 96, 2047),),
    "qwen2-7b": (Full(28, 4, 128, 128),),
    "qwen2.5-vl": (Full(28, 4, 128, 128),),
    "qwen3-8b": (Full(36, 8, 128, 128),),
    "qwen3-next": (Full(12, 2, 256, 256), GatedDeltaNet(36, 4, 32, 16, 128, 128)),
    "qwen3.5-moe": (Full(10, 2, 256, 256), GatedDeltaNet(30, 4, 32, 16, 128, 128)),
    "starcoder": (Full(40, 1, 128, 128),),
    "trinity": (Full(14, 2, 128, 128), Sliding(42, 2, 128, 128, 2048)),
}
REFUSED = {"t5": "is_encoder_decoder is True", "llama-3.2-vision": "cross_attention_layers is"}


def load(name: str) -> dict[str, Any]:
    config: dict[str, Any] = json.loads((CONFIGS / f"{name}.json").read_text("utf-8"))
    return config


def cached(name: str, drop: tuple[str, ...] = (), **change: Any) -> CachedLayers:
    """The layers of a file with changes, which apply to the language model where it is nested."""
    config = load(name)
    part = config.get("text_config", config)
    for key in drop:
        del part[key]
    part.update(change)
    return cached_layers(config)


def layers(name: str, drop: tuple[str, ...] = (), **change: Any) -> tuple[Layers, ...]:
    return cached(name, drop, **change).layers


@pytest.mark.parametrize("name", EXPECTED)
def test_what_a_family_caches(name: str) -> None:
    assert layers(name) == EXPECTED[name]


def test_every_config_of_the_corpus_is_here() -> None:
    assert {file.stem for file in CONFIGS.glob("*.json")} == EXPECTED.keys() | REFUSED.keys()


@pytest.mark.parametrize("name", REFUSED)
def test_cross_attention_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=REFUSED[name]):
        cached(name)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("qwen3.5-moe", "float32"),
        ("nemotron-h", "float32"),
        ("kimi-linear", "float32"),
        ("qwen3-next", None),
        ("granite-4-h", None),
        ("lfm2", None),
        ("llama-8b", None),
    ],
)
def test_the_dtype_that_states_are_kept_in(name: str, dtype: str | None) -> None:
    assert cached(name).state_dtype == dtype


def test_a_state_dtype_that_is_left_out_is_the_familys() -> None:
    nemotron = cached("nemotron-h", drop=("mamba_ssm_cache_dtype",))
    assert nemotron.state_dtype == "float32"
    assert "the state is kept in float32: the file does not say" in nemotron.assumed
    assert cached("nemotron-h", mamba_ssm_cache_dtype="bfloat16").state_dtype == "bfloat16"
    assert cached("qwen3.5-moe", mamba_ssm_dtype="auto").state_dtype is None


def test_what_the_file_leaves_out_is_said_once_each() -> None:
    assert cached("gemma-3").assumed == (
        "one layer in 6 has full attention and the others slide: "
        "the file leaves it to Transformers' default",
        "head_dim is 256: the file leaves it to Transformers' default",
        "num_key_value_heads is 4: the file leaves it to Transformers' default",
        "num_attention_heads is 8: the file leaves it to Transformers' default",
    )
    assert cached("gemma-4-moe").assumed == ()
    assert "every layer caches the indexer's key" in cached("glm-5").assumed[0]


def test_layers_that_only_draft_are_not_counted() -> None:
    found = cached("deepseek-v3.2")
    assert found.layers[0].layers == 61
    assert "the 1 of num_nextn_predict_layers are not counted" in found.assumed[-1]


# One kind of fact after the other.


def test_a_window_that_is_null_is_none_and_one_that_is_missing_is_the_familys() -> None:
    assert layers("mistral-windowed", sliding_window=None) == (Full(32, 8, 128, 128),)
    assert layers("mistral-windowed", drop=("sliding_window",)) == EXPECTED["mistral-windowed"]
    assert layers("phi-3", drop=("sliding_window",)) == (Full(32, 32, 96, 96),)
    assert layers("gemma-2", sliding_window=None) == (Full(46, 16, 128, 128),)


def test_qwen_slides_from_a_layer_on_where_its_switch_is_on() -> None:
    on: dict[str, Any] = {"use_sliding_window": True, "sliding_window": 4096}
    mixed = (Full(20, 4, 128, 128), Sliding(8, 4, 128, 128, 4096))
    assert layers("qwen2-7b", **on, max_window_layers=20) == mixed
    assert layers("qwen2-7b", **on, max_window_layers=28) == EXPECTED["qwen2-7b"]
    assert layers("qwen2-7b", **on, max_window_layers=0) == (Sliding(28, 4, 128, 128, 4096),)


def test_layer_types_go_before_the_familys_own_rule() -> None:
    listed = ["sliding_attention", "full_attention"] * 16
    expected = (Full(16, 8, 128, 128), Sliding(16, 8, 128, 128, 4096))
    assert layers("mistral-windowed", layer_types=listed) == expected


def test_every_nth_layer_is_full() -> None:
    assert layers("gemma-3", sliding_window_pattern=2)[0].layers == 17
    assert layers("command-r7b", sliding_window_pattern=1) == (Full(32, 8, 128, 128),)
    assert layers("trinity", drop=("global_attn_every_n_layers",)) == EXPECTED["trinity"]
    assert layers("exaone-4", drop=("layer_types",)) == EXPECTED["exaone-4"]


def test_where_the_count_of_layers_begins_shows_where_it_does_not_divide() -> None:
    assert layers("muse-glimmer", num_hidden_layers=51)[0].layers == 13
    assert layers("gemma-3", num_hidden_layers=35)[0].layers == 5
    assert layers("jamba", num_hidden_layers=12)[0].layers == 1
    assert layers("jamba", num_hidden_layers=4) == (Mamba1(4, 4, 8192, 16),)


def test_gemma_4_has_a_full_last_layer_whatever_its_list_says() -> None:
    listed = (["sliding_attention"] * 5 + ["full_attention"]) * 4 + ["sliding_attention"] * 6
    found = cached("gemma-4-moe", layer_types=listed)
    assert found.layers == EXPECTED["gemma-4-moe"]
    assert "the last layer has full attention" in found.assumed[0]


def test_gemma_4_has_other_kv_heads_only_where_keys_are_values() -> None:
    assert layers("gemma-4-moe", attention_k_eq_v=False)[0] == Full(5, 8, 512, 512)


def test_llama_4_attends_within_chunks_where_it_has_rotary_positions() -> None:
    listed = [1, 1, 0, 1] * 12
    assert layers("llama-4", no_rope_layers=listed)[0].layers == 12
    assert layers("llama-4", no_rope_layers=listed, attention_chunk_size=None) == (
        Full(48, 8, 128, 128),
    )
    assert layers("llama-4", attention_chunk_size=None) == (Full(48, 8, 128, 128),)


def test_hybrids_may_state_their_layers_in_several_ways() -> None:
    assert layers("qwen3.5-moe", drop=("layer_types",)) == EXPECTED["qwen3.5-moe"]
    assert layers("qwen3.5-moe", drop=("full_attention_interval",)) == EXPECTED["qwen3.5-moe"]
    assert layers("lfm2", drop=("layer_types",)) == EXPECTED["lfm2"]
    words = {"M": "mamba", "E": "moe", "*": "attention", "-": "mlp"}
    listed = [words[letter] for letter in load("nemotron-h")["hybrid_override_pattern"]]
    drop = ("hybrid_override_pattern", "num_hidden_layers")
    found = cached("nemotron-h", drop, layers_block_type=listed)
    assert found.layers == EXPECTED["nemotron-h"]
    assert "num_hidden_layers is the length of layers_block_type, 52" in found.assumed
    newer = {"linear_head_dim": 128, "linear_num_heads": 32, "linear_conv_kernel_dim": 4}
    kinds = ["full_attention" if (at + 1) % 4 == 0 else "linear_attention" for at in range(26)]
    assert (
        layers(
            "kimi-linear",
            ("linear_attn_config",),
            layer_types=[*kinds, "full_attention"],
            **newer,
        )
        == EXPECTED["kimi-linear"]
    )


def test_the_inner_width_of_mamba_follows_from_the_expansion_where_it_is_not_stated() -> None:
    assert layers("mamba", drop=("intermediate_size",)) == EXPECTED["mamba"]


def test_multi_query_is_a_switch() -> None:
    assert layers("falcon-7b", multi_query=False) == (Full(32, 71, 64, 64),)
    assert layers("falcon-7b", drop=("multi_query",)) == EXPECTED["falcon-7b"]
    new = {"new_decoder_architecture": True, "num_attention_heads": 64, "hidden_size": 4096}
    assert layers("falcon-7b", **new, num_kv_heads=8) == (Full(32, 8, 64, 64),)
    assert layers("starcoder", multi_query=False) == (Full(40, 48, 128, 128),)


def test_either_name_of_a_field_will_do() -> None:
    assert layers("gpt-2", drop=("n_layer",), num_hidden_layers=12) == EXPECTED["gpt-2"]
    assert layers("gpt-2", num_hidden_layers=12) == EXPECTED["gpt-2"]


# Contradictions, and what is missing or not known.


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("llama-8b", {"model_type": "llama9"}, "the model_type 'llama9' is not known"),
        ("llama-8b", {"model_type": ["llama"]}, r"the model_type \['llama'\] is not known"),
        ("llama-8b", {"model_type": None}, "model_type is missing"),
        ("llama-8b", {"num_key_value_heads": 5}, "num_key_value_heads is 5 and num_attention_he"),
        ("llama-8b", {"num_key_value_heads": -8}, "num_key_value_heads is -8"),
        ("llama-8b", {"head_dim": -1}, "head_dim is -1"),
        ("llama-8b", {"hidden_size": 4097}, "head_dim is missing, and hidden_size 4097"),
        ("llama-8b", {"num_hidden_layers": 10_001}, "num_hidden_layers is 10001"),
        ("llama-8b", {"kv_lora_rank": 512}, "kv_lora_rank is 512, which is not known of model_ty"),
        ("llama-8b", {"sliding_window": 4096}, "it has a sliding window of 4096"),
        ("llama-8b", {"layer_types": ["full_attention"]}, "layer_types has 1 items"),
        ("llama-8b", {"layer_types": ["full_attention", 7] * 16}, r"layer_types\[1\] is 7"),
        ("llama-8b", {"layer_types": ["sliding_attention"] * 32}, r"layer_types\[0\] is 'slid"),
        ("llama-8b", {"layer_types": {"full": 32}}, "layer_types is"),
        ("llama-8b", {"layer_types": ["mamba"] * 32}, r"layer_types\[0\] is 'mamba'"),
        ("llama-8b", {"add_cross_attention": True}, "add_cross_attention is True"),
        ("llama-8b", {"text_config": {"model_type": "llama"}, "llm_config": {}}, "text_config and"),
        ("llama-8b", {"text_config": []}, r"text_config is \[\]"),
        ("llama-8b", {"text_config": {}}, "model_type is missing"),
        ("qwen3-8b", {"layer_types": ["sliding_attention"] * 36}, "layer_types and use_sliding"),
        ("qwen3-8b", {"use_sliding_window": "no"}, "use_sliding_window is 'no'"),
        ("mistral-windowed", {"sliding_window": 0}, "sliding_window is 0"),
        ("mistral-windowed", {"num_key_value_heads": None}, "num_key_value_heads is missing"),
        ("gemma-3", {"use_bidirectional_attention": True}, "the model is an encoder"),
        ("gemma-3", {"sliding_window_pattern": 0}, "sliding_window_pattern is 0"),
        ("gemma-4-shared", {"num_kv_shared_layers": 42}, "num_kv_shared_layers is 42"),
        ("gemma-4-shared", {"num_kv_shared_layers": 40}, "in shared layers alone"),
        ("gpt-oss", {"layer_types": ["chunked_attention"] * 24}, "'chunked_attention'"),
        ("llama-4", {"no_rope_layers": [2] * 48}, r"no_rope_layers\[0\] is 2"),
        ("llama-4", {"layer_types": ["chunked_attention"] * 48, "no_rope_layers": [0] * 48},
         "layer_types and no_rope_layers differ: layer 0"),
        ("deepseek-v3.2", {"kv_lora_rank": None}, "kv_lora_rank is missing"),
        ("latent-attention", {"index_head_dim": 128}, "index_head_dim is 128"),
        ("qwen3.5-moe", {"full_attention_interval": 5}, "layer_types and full_attention_interval"),
        ("qwen3.5-moe", {"linear_num_value_heads": 24}, "linear_num_value_heads is 24"),
        ("qwen3.5-moe", {"mamba_ssm_dtype": "int8"}, "mamba_ssm_dtype is 'int8'"),
        ("qwen3.5-moe", {"mamba_ssm_dtype": ["float32"]}, r"mamba_ssm_dtype is \['float32'\]"),
        ("nemotron-h", {"hybrid_override_pattern": "MX"}, "hybrid_override_pattern is 'MX'"),
        ("nemotron-h", {"hybrid_override_pattern": "M*"}, "hybrid_override_pattern has 2 letters"),
        ("nemotron-h", {"hybrid_override_pattern": None}, "nothing says which layers have atten"),
        ("nemotron-h", {"n_groups": 7}, "mamba_num_heads is 64 and n_groups is 7"),
        ("nemotron-h", {"mamba_num_heads": None}, "mamba_num_heads and mamba_n_heads are missing"),
        ("granite-4-h", {"mamba_d_head": 32}, "mamba_n_heads × mamba_d_head is 48 × 32"),
        ("bamba", {"mamba_n_heads": 127}, "mamba_n_heads × mamba_d_head is 127 × 64"),
        ("bamba", {"attn_layer_indices": [9, 32]}, r"attn_layer_indices\[1\] is 32"),
        ("bamba", {"attn_layer_indices": [9, 9]}, "attn_layer_indices names a layer twice"),
        ("jamba", {"attn_layer_offset": 8}, "attn_layer_offset is 8 and attn_layer_period is 8"),
        ("kimi-linear", {"linear_attn_config": 1}, "linear_attn_config is 1"),
        ("kimi-linear", {"linear_attn_config": {"kda_layers": [1], "full_attn_layers": [1]}},
         "do not name each of the 27 layers once"),
        ("kimi-linear", {"linear_attn_config": {"kda_layers": [0]}}, r"kda_layers\[0\] is 0"),
        ("minimax-m2", {"attn_type_list": [0] * 62}, r"attn_type_list\[0\] is 0"),
        ("nemotron-nas", {"block_configs": [{}] * 6}, r"block_configs\[0\] has no attention"),
        ("nemotron-nas", {"block_configs": [{"attention": {"n_heads_in_group": 7}}] * 6},
         r"block_configs\[0\].attention.n_heads_in_group is 7"),
        ("nemotron-nas", {"block_configs": [{"attention": {"window_length": 8}}] * 6},
         r"block_configs\[0\].attention.window_length is 8"),
        ("gpt-2", {"num_hidden_layers": 24}, "num_hidden_layers is 24 and n_layer, which means"),
        ("glm-4-9b", {"multi_query_attention": False}, "multi_query_attention is false"),
        ("bert", {"is_decoder": True}, "is_decoder is true"),
    ],
)  # fmt: skip
def test_what_does_not_hold_together_is_refused_by_name(
    name: str, change: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem) as raised:
        cached(name, **change)
    assert raised.value.help


@pytest.mark.parametrize("name", ["qwen3.5-moe", "gemma-4-moe", "gpt-oss", "nemotron-h"])
def test_vllm_can_lay_them_out(name: str) -> None:
    settings = vllm.Settings(cache_dtype("bf16"))
    assert vllm.pool(layers(name), settings).blocks(2**36) > 0
