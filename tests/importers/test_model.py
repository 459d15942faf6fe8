"""A config.json into the text of a record, which reads back as the same model."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upheld.arithmetic.cache import layers_of
from upheld.arithmetic.config_json import read_config
from upheld.arithmetic.configs import ConfigError, language_part
from upheld.arithmetic.layouts import Layers
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.arithmetic.weights import count_parameters
from upheld.corpus.validate import validate
from upheld.corpus.yaml_reader import read_yaml
from upheld.importers.model import Naming, model_text
from upheld.records.model import Model

CONFIGS = Path(__file__).parents[1] / "corpora" / "configs"
# Not decoders, or with a cache that is not known.
REFUSED = {
    "bert": "is an encoder, which has no cache",
    "llama-3.2-vision": "cross_attention_layers",
    "t5": "is_encoder_decoder",
}
DECODERS = sorted({file.stem for file in CONFIGS.glob("*.json")} - set(REFUSED))
# The files keep what the cache depends on; what a published file says beside that.
LEFT_OUT = {
    "intermediate_size": 8192,
    "vocab_size": 65_536,
    "max_position_embeddings": 32_768,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}


def config_of(name: str) -> dict[str, Any]:
    config: dict[str, Any] = json.loads((CONFIGS / f"{name}.json").read_text("utf-8"))
    return config


def text_of(config: dict[str, Any], **options: Any) -> str:
    options = {"origin": "example-shape", "id_": "example", **options}
    return model_text(json.dumps(config).encode("utf-8"), Naming(**options))


def record_in(text: str) -> Model:
    found = validate(read_yaml("record", text.encode("utf-8")))
    assert isinstance(found, Model), found
    return found


def completed(name: str) -> dict[str, Any]:
    """The config, with what the record misses in it; each refusal names one field."""
    config = config_of(name)
    for _ in LEFT_OUT:
        try:
            text_of(config)
        except ConfigError as error:
            field = str(error).removesuffix(" is missing")
            cast("dict[str, Any]", language_part(config))[field] = LEFT_OUT[field]
    return config


def content_of(layers: Layers) -> Layers:
    """What is kept of a sequence; what a latent row would expand to is not in a record."""
    if isinstance(layers, LatentAttention):
        return replace(layers, heads=0, qk_nope=0, v_head=0)
    return layers


@pytest.mark.parametrize("name", DECODERS)
def test_each_known_family_reads_back_with_the_cache_of_its_file(name: str) -> None:
    config = completed(name)
    model = read_config(json.dumps(config).encode("utf-8"))
    record = record_in(text_of(config))
    assert layers_of(record) == tuple(map(content_of, model.cached.layers))
    assert record.state_dtype == model.cached.state_dtype
    assert record.architecture == model.architecture
    assert record.attention == model.attention
    for sentence in model.assumed:
        assert f"Assumed: {sentence}.\n" in (record.notes or "")


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_decoder_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=REFUSED[name]):
        text_of(config_of(name))


@pytest.mark.parametrize("name", ["llama-8b", "qwen2-7b", "qwen3-8b"])
def test_a_dense_decoder_keeps_its_weights(name: str) -> None:
    record = record_in(text_of(config_of(name)))
    assert record.attention == "full"
    model = read_config(json.dumps(config_of(name)).encode("utf-8"))
    assert count_parameters(record) == count_parameters(model)


def test_the_whole_text() -> None:
    assert text_of(config_of("mistral-windowed"), title="Example: 7B") == (
        "kind: model\n"
        "id: example\n"
        "title: 'Example: 7B'\n"
        "architecture: MistralForCausalLM\n"
        "attention: listed\n"
        "cached_layers:\n"
        "  - {kind: sliding, layers: 32, kv_heads: 8, k_dim: 128, v_dim: 128, window: 4096}\n"
        "num_hidden_layers: 32\n"
        "num_attention_heads: 32\n"
        "num_key_value_heads: 8\n"
        "head_dim: 128\n"
        "hidden_size: 4096\n"
        "intermediate_size: 14336\n"
        "vocab_size: 32000\n"
        "max_position_embeddings: 32768 tokens\n"
        "tie_word_embeddings: false\n"
        "torch_dtype: bfloat16\n"
        "origin: example-shape\n"
        "notes: |\n"
        "  Assumed: head_dim is hidden_size / num_attention_heads, 4096 / 32 = 128: the file does "
        "not say.\n"
        "  What was assumed does not rest on the origin above: cached_layers, head_dim.\n"
    )


def test_fields_are_in_the_order_of_a_record() -> None:
    record = completed("qwen3-next") | {"_name_or_path": "example-org/Next"}
    keys = list(read_yaml("record", text_of(record, assumed="defaults").encode()).value)
    order = ["kind", *(field for field in Model.model_fields if field != "kind")]
    assert keys == [field for field in order if field in keys]


def test_what_the_file_states_needs_no_note() -> None:
    config = config_of("llama-8b") | {"head_dim": 128}
    record = record_in(text_of(config, assumed="defaults"))
    assert (record.notes, record.origins) == (None, {})


def test_what_was_assumed_can_rest_on_an_assumption() -> None:
    config = config_of("qwen3-8b")
    del config["tie_word_embeddings"]
    record = record_in(text_of(config, assumed="defaults"))
    assert record.origin == "example-shape"
    assert record.origins == {"tie_word_embeddings": "defaults", "qk_norm": "defaults"}
    assert record.notes is not None
    assert "Assumed: tie_word_embeddings is false: the file does not say." in record.notes
    assert "Assumed: qk_norm is true: " in record.notes
    assert "does not rest on" not in record.notes


def test_latent_attention_fills_heads_from_its_own_facts() -> None:
    config = config_of("latent-attention")
    heads, rope = config["num_attention_heads"], config["qk_rope_head_dim"]
    del config["num_key_value_heads"]
    record = record_in(text_of(config, assumed="defaults"))
    assert record.num_key_value_heads == heads
    assert record.head_dim == config["qk_nope_head_dim"] + rope
    assert {"num_key_value_heads", "head_dim"} <= set(record.origins)


def test_experts_alone_give_the_width_of_one_and_say_so() -> None:
    config = completed("minimax-m2") | {"intermediate_size": None, "moe_intermediate_size": 1536}
    record = record_in(text_of(config, assumed="defaults"))
    assert record.intermediate_size == 1536
    assert record.origins["intermediate_size"] == "defaults"
    assert "Assumed: intermediate_size is moe_intermediate_size, 1536" in (record.notes or "")


def test_a_width_for_each_layer_is_one_width_or_refused() -> None:
    config = completed("gemma-3n")
    part = config["text_config"]
    part["intermediate_size"] = [4096] * part["num_hidden_layers"]
    assert record_in(text_of(config)).intermediate_size == 4096
    part["intermediate_size"][0] = 8192
    with pytest.raises(ConfigError, match="intermediate_size has 2 different widths"):
        text_of(config)


def test_other_names_of_a_fact_are_read() -> None:
    config = completed("starcoder")
    assert "max_position_embeddings" not in config
    assert record_in(text_of(config)).max_position_embeddings.base == config["n_positions"]


def test_parts_that_disagree_are_refused() -> None:
    config = completed("gemma-3")
    config["text_config"]["tie_word_embeddings"] = False
    with pytest.raises(ConfigError, match="tie_word_embeddings is true in one part"):
        text_of(config | {"tie_word_embeddings": True})


def test_a_state_dtype_that_the_family_implies_is_assumed() -> None:
    record = record_in(text_of(completed("kimi-linear"), assumed="defaults"))
    assert record.state_dtype == "float32"
    assert record.origins["state_dtype"] == "defaults"
    assert "Assumed: the state is kept in float32" in (record.notes or "")


def test_stored_weights_of_another_dtype_are_told() -> None:
    assert "describes quantised weights" in text_of(config_of("llama-8b-gptq"))


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, False),
        ({"rope_scaling": {"rope_type": "linear", "factor": 4.0}}, True),
        ({"rope_scaling": {"rope_type": "llama3", "factor": 8.0}}, False),
        ({"rope_scaling": {"rope_type": "other", "factor": 8.0}}, True),
        ({"rope_parameters": {"rope_type": "default", "rope_theta": 10000}}, False),
        ({"partial_rotary_factor": 0.5}, True),
    ],
)
def test_a_rotary_table_that_no_record_gives_is_told(fields: dict[str, Any], told: bool) -> None:
    config = {**config_of("qwen3-8b"), "rope_scaling": None, **fields}
    assert ("scales the rotary embedding" in text_of(config)) is told


def test_the_name_in_the_file_gives_id_and_title_and_no_alias() -> None:
    config = config_of("llama-8b") | {"_name_or_path": "example-org/Example-8B"}
    record = record_in(text_of(config, id_=None, folder="elsewhere"))
    assert (record.id, record.title) == ("example-8b", "Example-8B")
    # A fine-tuned model's file may still name the model that it came from.
    assert record.aliases == []


@pytest.mark.parametrize("name", [None, 7, "", "/", "../..", "::error::x\n/con"])
def test_without_a_usable_name_the_folder_gives_the_id(name: object) -> None:
    config = config_of("llama-8b") | {"_name_or_path": name}
    record = record_in(text_of(config, id_=None, folder="Example 8B"))
    assert (record.id, record.title) == ("example-8b", "example-8b")


def test_no_name_at_all_is_refused() -> None:
    with pytest.raises(ConfigError, match="neither the file nor its folder"):
        text_of(config_of("llama-8b"), id_=None, folder="…")


@given(name=st.text(), architecture=st.text(), title=st.text(min_size=1))
def test_any_text_reads_back_or_is_refused(name: str, architecture: str, title: str) -> None:
    config = config_of("experts") | {"architectures": [architecture], "_name_or_path": name}
    try:
        text = text_of(config, id_=None, folder="example", title=title)
    except ConfigError:
        return
    record = record_in(text)
    assert record.architecture == architecture.strip()
    assert record.title == title.strip()


@pytest.mark.parametrize("name", ["mamba", "mamba-2"])
def test_a_model_without_attention_has_no_heads(name: str) -> None:
    record = record_in(text_of(completed(name)))
    assert record.num_attention_heads is record.head_dim is record.intermediate_size is None


@pytest.mark.parametrize("name", ["gpt-2", "falcon-7b", "starcoder"])
def test_a_feed_forward_part_that_the_family_implies_is_assumed(name: str) -> None:
    config = config_of(name) | {"vocab_size": 50_257, "tie_word_embeddings": True}
    config |= {"n_positions": 2048, "torch_dtype": "float16"}
    record = record_in(text_of(config, assumed="defaults"))
    assert record.intermediate_size == 4 * record.hidden_size
    assert record.origins["intermediate_size"] == "defaults"


def test_what_gemma_3_leaves_to_its_family_is_assumed() -> None:
    config = config_of("gemma-3")
    part = config["text_config"]
    for name in ("vocab_size", "max_position_embeddings"):
        part.pop(name, None)
    part |= {"intermediate_size": 10_240, "tie_word_embeddings": True}
    record = record_in(text_of(config, assumed="defaults"))
    assert record.vocab_size == 262_208
    assert record.origins["max_position_embeddings"] == "defaults"


def test_a_model_without_attention_has_no_positions() -> None:
    config = config_of("mamba") | {"vocab_size": 50_280, "tie_word_embeddings": True}
    assert record_in(text_of(config)).max_position_embeddings is None
