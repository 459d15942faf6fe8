from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upheld.arithmetic.config_json import ConfigShape, read_config
from upheld.arithmetic.configs import ConfigError
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention
from upheld.arithmetic.weights import count_parameters

CONFIGS = Path(__file__).parents[1] / "corpora" / "configs"


def _with(name: str = "llama-8b", drop: tuple[str, ...] = (), **change: Any) -> bytes:
    config = json.loads((CONFIGS / f"{name}.json").read_text("utf-8"))
    kept = {key: value for key, value in config.items() if key not in drop}
    return json.dumps(kept | change).encode("utf-8")


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("llama-8b", 8_030_261_248), ("qwen2-7b", 7_615_616_512), ("qwen3-8b", 8_190_735_360)],
)
def test_known_architectures_give_the_published_count(name: str, parameters: int) -> None:
    assert count_parameters(read_config(_with(name))) == parameters


def test_what_the_file_leaves_out_is_said_to_be_assumed() -> None:
    shape = read_config(_with(drop=("num_key_value_heads", "tie_word_embeddings")))
    assert shape.num_key_value_heads == 32
    assert shape.head_dim == 128
    assert set(shape.origins) == {"num_key_value_heads", "head_dim", "tie_word_embeddings"}
    assert len(shape.assumed) == 3
    assert "hidden_size / num_attention_heads, 4096 / 32 = 128" in " ".join(shape.assumed)


def test_what_the_file_says_is_not_assumed() -> None:
    shape = read_config(_with("qwen3-8b"))
    assert shape.assumed == ()
    assert shape.origins == {"qk_norm": "the architecture Qwen3ForCausalLM"}


@pytest.mark.parametrize("key", ["torch_dtype", "dtype"])
def test_both_names_of_the_dtype_are_read(key: str) -> None:
    assert read_config(_with(drop=("torch_dtype",), **{key: "float16"})).torch_dtype == "fp16"


def test_a_dtype_that_is_not_said_is_assumed() -> None:
    model = read_config(_with(drop=("torch_dtype",)))
    assert (model.torch_dtype, model.dtype_origin) == ("bf16", "assumed: not in config.json")
    assert any(each.startswith("torch_dtype is bfloat16: the file") for each in model.assumed)
    assert read_config(_with()).dtype_origin == "torch_dtype of config.json"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (_with(sliding_window=4096), "a sliding window of 4096"),
        (_with("qwen3-8b", layer_types=["full_attention", "sliding_attention"]), "layer_types"),
        (_with(kv_lora_rank=512), "kv_lora_rank is 512"),
        (_with(text_config={"hidden_size": 1}), "model_type is missing"),
        (_with(model_type="mllama"), "model_type 'mllama' does not go"),
        (_with(architectures=["Other"], model_type="other"), "the model_type 'other' is not kn"),
        (_with(architectures=[]), "does not name one architecture"),
        (_with(architectures=["LlamaForCausalLM", "Other"]), "does not name one architecture"),
        (_with(drop=("architectures",)), "does not name one architecture"),
    ],
)
def test_what_is_not_known_is_never_treated_as_plain_attention(data: bytes, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem) as raised:
        read_config(data)
    assert raised.value.help


def test_a_window_that_is_switched_off_is_plain_attention() -> None:
    plain = (FullAttention(32, 8, 128, 128),)
    assert read_config(_with("mistral-windowed", sliding_window=None)).cached.layers == plain
    assert read_config(_with("qwen2-7b")).cached.layers == (FullAttention(28, 4, 128, 128),)
    assert read_config(_with("qwen3-8b", layer_types=["full_attention"] * 36))


def test_a_window_changes_the_cache_and_not_the_weights() -> None:
    windowed = read_config(_with("mistral-windowed"))
    assert windowed.cached.layers == (SlidingAttention(32, 8, 128, 128, 4096),)
    assert count_parameters(windowed) == 7_241_732_096


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (_with("qwen3.5-moe"), "the tensors of the model_type 'qwen3_5_moe_text' are not known"),
        (_with("latent-attention"), "moe_intermediate_size is missing"),
        (_with(num_local_experts=8), "'num_local_experts' is not known of the weights"),
        (_with("experts", moe_layer_freq=2), "moe_layer_freq is 2, so some layers"),
        (_with(audio_config={"depth": 1}), "'audio_config' is not known of the weights"),
    ],
)
def test_weights_that_do_not_follow_from_the_shape_are_left_out_and_it_says_why(
    data: bytes, reason: str
) -> None:
    model = read_config(data)
    assert not isinstance(model, ConfigShape)
    assert reason in str(model.weights_unknown)
    assert model.cached.layers


def test_the_language_model_says_its_own_positions_and_dtype() -> None:
    gemma = read_config(_with("gemma-4-moe"))
    assert gemma.max_position_embeddings == 262_144
    assert gemma.torch_dtype == "bf16"
    assert read_config(_with("gemma-3")).torch_dtype == "bf16"
    assert read_config(_with("gpt-oss")).quantised


def test_assumptions_of_the_cache_and_of_the_shape_are_said_once() -> None:
    assert read_config(_with(drop=("tie_word_embeddings",))).assumed == (
        "head_dim is hidden_size / num_attention_heads, 4096 / 32 = 128: the file does not say",
        "tie_word_embeddings is false: the file does not say",
    )
    gemma = read_config(_with("gemma-3"))
    assert set(gemma.cached.assumed) < set(gemma.assumed)
    assert len(set(gemma.assumed)) == len(gemma.assumed)


def test_what_the_file_leaves_out_is_the_default_of_its_family() -> None:
    assert read_config(_with("qwen3-8b", drop=("head_dim",))).origins["head_dim"].startswith("assu")
    gemma = read_config(_with("gemma-3"))
    assert gemma.weight_facts is not None
    assert gemma.weight_facts["vocab_size"] == 262_208
    assert gemma.weight_facts["tie_word_embeddings"] is True
    assert gemma.origins["vocab_size"] == "assumed: not in config.json"
    assert gemma.origins["qk_norm"] == "the model_type gemma3_text"
    assert "vocab_size is 262,208: the file leaves it to Transformers' default" in gemma.assumed
    assert gemma.max_position_embeddings == 131_072


def test_weights_of_other_families_follow_from_their_files() -> None:
    assert count_parameters(read_config(_with("experts"))) == 46_702_792_704
    latent = read_config(_with("latent-attention", moe_intermediate_size=1408, n_shared_experts=2,
                               first_k_dense_replace=1))  # fmt: skip
    assert count_parameters(latent) == 15_706_484_224
    assert not any(each.startswith("head_dim") for each in latent.assumed)
    small = read_config(_with("gemma-3", quantization_config={
        "quant_method": "compressed-tensors", "ignore": ["re:vision_tower.*", "lm_head"],
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": {
            "num_bits": 8, "type": "float", "strategy": "channel"}}},
    }))  # fmt: skip
    assert small.stored is not None
    assert small.stored.weight_dtype == "fp8"
    assert small.weight_facts is not None
    assert small.weight_facts["modules_to_not_convert"] == ("re:vision_tower.*", "lm_head")


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"\xff\xfe{}", "not UTF-8"),
        (b"", "not one JSON object"),
        (b"[]", "not one JSON object"),
        (b"{}\n{}", "not one JSON object"),
        (b'{"a": 1,}', r"line 1, column [89]: not JSON"),
        (b'{"a": 1, "a": 2}', 'line 1, column 10: the key "a" is twice in one object'),
        (_with(num_hidden_layers=float("nan")), "num_hidden_layers is .*NaN"),
        (b'{"a": ' + b"9" * 5000 + b"}", "a number of more than 30 digits"),
        (b'{"a": ' + b"[" * 100_000, "nested deeper than 64"),
        (_with(num_hidden_layers=0), "num_hidden_layers is 0"),
        (_with(num_hidden_layers=True), "num_hidden_layers is True"),
        (_with(num_hidden_layers="32"), "num_hidden_layers is '32'"),
        (_with(num_hidden_layers=32.0), r"num_hidden_layers is 32\.0"),
        (_with(num_hidden_layers=10**10), "num_hidden_layers is 10000000000"),
        (_with(drop=("vocab_size",)), "vocab_size is missing"),
        (_with("qwen2-7b", drop=("num_key_value_heads",)), "num_key_value_heads is missing"),
        (_with(hidden_size=4097), "head_dim is missing, and hidden_size 4097 does not divide"),
        (_with(tie_word_embeddings="no"), "tie_word_embeddings is 'no'"),
        (_with(torch_dtype="float64"), "torch_dtype is 'float64'"),
        (_with(dtype="float16"), "torch_dtype and dtype differ"),
    ],
)
def test_a_file_that_is_wrong_says_where_and_how_to_mend_it(data: bytes, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem) as raised:
        read_config(data)
    assert raised.value.help


def test_brackets_in_a_string_are_no_nesting() -> None:
    assert read_config(_with(note="[" * 100 + '\\"{' * 100))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
_KEYS = sorted(json.loads(_with("qwen2-7b")) | json.loads(_with()))


@given(st.sampled_from(_KEYS), _JSON)
def test_any_value_anywhere_is_read_or_refused(key: str, value: Any) -> None:
    with suppress(ConfigError):
        read_config(_with(**{key: value}))


@given(st.binary(max_size=200))
def test_any_bytes_are_refused_in_words(data: bytes) -> None:
    with pytest.raises(ConfigError):
        read_config(data)
