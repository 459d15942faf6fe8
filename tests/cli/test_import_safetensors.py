"""`upheld import model` of safetensors and their index, as it is typed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from safetensors_files import llama_shapes, write_index, write_safetensors
from upheld.cli import main

CONFIG: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "_name_or_path": "example-org/Example-1B",
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "hidden_size": 64,
    "intermediate_size": 128,
    "vocab_size": 96,
    "max_position_embeddings": 4096,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}


def run(file: Path, *options: str) -> Result:
    command = ["import", "model", str(file), "--origin", "example-weights", *options]
    result = CliRunner().invoke(main, command)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def beside(folder: Path, **changes: Any) -> Path:
    file = folder / "config.json"
    config = {key: value for key, value in (CONFIG | changes).items() if value is not None}
    file.write_text(json.dumps(config), "utf-8")
    return file


def refused(result: Result, *words: str) -> None:
    assert result.exit_code == 2, result.output
    for word in (*words, "help: "):
        assert word in result.output


@pytest.fixture(params=["index", "file"])
def weights(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "index":
        return write_index(tmp_path, llama_shapes())
    file = tmp_path / "model.safetensors"
    write_safetensors(file, llama_shapes())
    return file


def test_what_came_from_which_file_is_in_the_origins(weights: Path) -> None:
    beside(weights.parent)
    result = run(weights, "--config-origin", "example-config")
    assert result.exit_code == 0, result.output
    assert result.output == (
        "kind: model\n"
        "id: example-1b\n"
        "title: Example-1B\n"
        "architecture: LlamaForCausalLM\n"
        "attention: full\n"
        "num_hidden_layers: 2\n"
        "num_attention_heads: 4\n"
        "num_key_value_heads: 2\n"
        "head_dim: 16\n"
        "hidden_size: 64\n"
        "intermediate_size: 128\n"
        "vocab_size: 96\n"
        "max_position_embeddings: 4096 tokens\n"
        "tie_word_embeddings: false\n"
        "torch_dtype: bfloat16\n"
        "origin: example-config\n"
        "origins:\n"
        "  num_hidden_layers: example-weights\n"
        "  hidden_size: example-weights\n"
        "  intermediate_size: example-weights\n"
        "  vocab_size: example-weights\n"
        "notes: |\n"
        "  Given by the tensors, with config.json in agreement or silent: num_hidden_layers, "
        "hidden_size, intermediate_size, vocab_size.\n"
    )


def test_tensors_give_what_the_config_leaves_out(weights: Path) -> None:
    beside(weights.parent, tie_word_embeddings=None, torch_dtype=None)
    result = run(weights, "--config-origin", "example-config")
    assert "\ntie_word_embeddings: false\ntorch_dtype: bfloat16\n" in result.output
    assert "  tie_word_embeddings: example-weights\n  torch_dtype: example-weights\n" in (
        result.output
    )


def test_an_output_that_is_not_there_is_tied(tmp_path: Path) -> None:
    shapes = llama_shapes()
    del shapes["lm_head.weight"]
    file = write_index(tmp_path, shapes)
    config = beside(tmp_path, tie_word_embeddings=None)
    assert "\ntie_word_embeddings: true\n" in run(file).output
    beside(tmp_path, tie_word_embeddings=False)
    result = run(file)
    assert result.exit_code == 1
    assert "there is no lm_head.weight; tie_word_embeddings of config.json is false" in (
        result.output
    )
    assert config.exists()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"num_key_value_heads": 4},
            "model.layers.0.self_attn.k_proj.weight has 32 rows; num_key_value_heads × head_dim "
            "of config.json is 64",
        ),
        ({"head_dim": 32}, "num_key_value_heads × head_dim of config.json is 64"),
        (
            {"num_hidden_layers": 3},
            "there are tensors of 2 layers; num_hidden_layers of config.json is 3",
        ),
        ({"num_hidden_layers": 1}, "there are tensors of 2 layers"),
        (
            {"vocab_size": 100},
            "model.embed_tokens.weight is 96 wide; vocab_size of config.json is 100",
        ),
        (
            {"hidden_size": 128},
            "model.embed_tokens.weight is 64 wide; hidden_size of config.json is 128",
        ),
        (
            {"intermediate_size": 256},
            "model.layers.1.mlp.gate_proj.weight is 128 wide; intermediate_size of config.json",
        ),
    ],
)
def test_a_contradiction_names_the_tensor_and_the_field(
    weights: Path, changes: dict[str, Any], words: str
) -> None:
    beside(weights.parent, **changes)
    output = weights.parent / "new.yaml"
    result = run(weights, "--output", str(output))
    assert result.exit_code == 1, result.output
    assert words in result.output
    assert "help: give the config.json that is published with these weights" in result.output
    assert not output.exists()


def test_heads_are_not_in_tensors(weights: Path, tmp_path: Path) -> None:
    refused(run(weights), "tensors do not say how many heads share a width", "--config")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert run(weights, "--config", str(beside(elsewhere))).exit_code == 0


def test_an_index_alone_gives_no_shapes_and_says_so(tmp_path: Path) -> None:
    file = write_index(tmp_path, llama_shapes())
    beside(tmp_path)
    first, second = sorted(tmp_path.glob("*.safetensors"))
    first.unlink()
    assert "Of the index, 1 file could not be found, so not all shapes" in run(file).output
    refused(run(second), "it is one of 2 parts", "model.safetensors.index.json")
    second.unlink()
    result = run(file)
    assert result.exit_code == 0
    assert "The index names tensors without their shapes" in result.output
    assert "config.json in agreement or silent: num_hidden_layers.\n" in result.output


def test_packed_weights_have_other_shapes(tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    write_safetensors(
        file, llama_shapes() | {"model.layers.0.self_attn.k_proj.weight": (9, 1)}, "U8"
    )
    beside(tmp_path)
    assert run(file).exit_code == 0


def test_a_tower_is_no_part_of_the_language_model(tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    tower = {"vision_tower.layers.7.self_attn.k_proj.weight": (5, 5)}
    write_safetensors(file, llama_shapes() | tower)
    beside(tmp_path)
    assert run(file).exit_code == 0


def test_layers_that_only_draft_are_counted_apart(tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    write_safetensors(file, llama_shapes(3))
    beside(tmp_path, num_nextn_predict_layers=1)
    assert run(file).exit_code == 0
    for drafts in (None, 0, 2):
        beside(tmp_path, num_nextn_predict_layers=drafts)
        assert run(file).exit_code == 1
    beside(tmp_path, num_nextn_predict_layers="1")
    refused(run(file), "num_nextn_predict_layers is '1'")


def change_index(file: Path, **changes: Any) -> None:
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | changes), "utf-8")


def test_an_index_that_does_not_add_up(tmp_path: Path) -> None:
    file = write_index(tmp_path, llama_shapes())
    beside(tmp_path)
    change_index(file, metadata={"total_size": 9})
    result = run(file)
    assert result.exit_code == 1
    assert "bytes, the index states total_size 9" in result.output
    write_index(tmp_path, llama_shapes())
    weight_map = json.loads(file.read_text("utf-8"))["weight_map"]
    change_index(file, weight_map=weight_map | {"x": "model-00001-of-00002.safetensors"})
    result = run(file)
    assert result.exit_code == 1
    assert "model-00001-of-00002.safetensors lacks x, which the index names there" in result.output


@pytest.mark.parametrize("name", ["../up", "/etc/passwd", "..", "a\\b", 7, ""])
def test_an_index_that_leads_outside_its_folder(tmp_path: Path, name: object) -> None:
    file = write_index(tmp_path, llama_shapes())
    beside(tmp_path)
    change_index(file, weight_map={"model.norm.weight": name})
    refused(run(file), "the file of model.norm.weight is no name of a file beside the index")


def test_files_that_are_broken(tmp_path: Path) -> None:
    file = write_index(tmp_path, llama_shapes())
    beside(tmp_path)
    part = tmp_path / "model-00002-of-00002.safetensors"
    part.write_bytes(part.read_bytes()[:-1])
    refused(run(file), "model-00002-of-00002.safetensors: it has ")
    part.unlink()
    os.mkfifo(part)
    refused(run(file), "model-00002-of-00002.safetensors: it is no regular file")
    (tmp_path / "config.json").write_text("{", "utf-8")
    write_index(tmp_path / ".", llama_shapes(), 1)
    refused(run(file), "line 1")


def test_a_config_goes_with_tensors(tmp_path: Path) -> None:
    config = beside(tmp_path)
    refused(run(config, "--config", str(config)), "go with safetensors or their index")
    refused(run(config, "--config-origin", "x"), "go with safetensors or their index")
