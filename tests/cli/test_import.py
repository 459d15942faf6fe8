"""`upheld import model`, as it is typed."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gguf_files import LLAMA, Q8_0, dense_tensors, one_a_layer, renamed, write_gguf
from small_corpus import SmallCorpus
from upheld.cli import main
from upheld.corpus.validate import validate
from upheld.corpus.yaml_reader import read_yaml
from upheld.records.model import Model

CONFIGS = Path(__file__).parents[1] / "corpora" / "configs"
ORIGIN = ("--origin", "example-shape")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    folder = tmp_path / "Example-8B"
    folder.mkdir()
    return Path(shutil.copy(CONFIGS / "llama-8b.json", folder / "config.json"))


def run(file: Path, *options: str) -> Result:
    result = CliRunner().invoke(main, ["import", "model", str(file), *options])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.output
    return result


def change(file: Path, **fields: Any) -> None:
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | fields), "utf-8")


def refused(result: Result, *words: str) -> None:
    assert result.exit_code == 2, result.output
    for word in words:
        assert word in result.output


def test_the_record_is_printed(config: Path) -> None:
    result = run(config, *ORIGIN)
    assert result.exit_code == 0
    assert result.output.startswith("kind: model\nid: example-8b\ntitle: example-8b\n")
    assert "\norigin: example-shape\n" in result.output


def test_what_is_written_stands_in_a_corpus(small: SmallCorpus, config: Path) -> None:
    file = small.root / "evidence" / "models" / "imported.yaml"
    (origin,) = [
        id_ for id_, each in small.judge().corpus.entries.items() if each.kind == "assumption"
    ][:1]
    options = ("--origin", origin, "--assumed", origin, "--id", "imported", "--title", "Imported")
    result = run(config, *options, "--output", str(file))
    assert (result.exit_code, result.output) == (0, f"Written: {file}\n")
    assert small.judge().findings == []
    assert f"origins:\n  head_dim: {origin}\n" in file.read_text("utf-8")


def test_an_existing_file_is_never_overwritten(config: Path, tmp_path: Path) -> None:
    there, link = tmp_path / "there.yaml", tmp_path / "link.yaml"
    there.write_text("mine", "utf-8")
    link.symlink_to(tmp_path / "nowhere.yaml")
    for file in (there, link):
        refused(run(config, *ORIGIN, "--output", str(file)), "is there already", "help: ")
    assert there.read_text("utf-8") == "mine"
    assert not (tmp_path / "nowhere.yaml").exists()


def test_what_is_refused_leaves_no_file(config: Path, tmp_path: Path) -> None:
    change(config, vocab_size=None)
    file = tmp_path / "new.yaml"
    refused(run(config, *ORIGIN, "--output", str(file)), "vocab_size is missing")
    assert not file.exists()


def test_without_an_origin_there_is_no_record(config: Path) -> None:
    refused(run(config), "Missing option '--origin'")


@pytest.mark.parametrize("option", ["--origin", "--assumed", "--id"])
@pytest.mark.parametrize("id_", ["../up", "a b", "con", ""])
def test_an_id_that_is_none_is_refused(config: Path, option: str, id_: str) -> None:
    refused(run(config, *ORIGIN, option, id_), "help: name an id such as example-8b")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"vocab_size": None}, ["vocab_size is missing", "add vocab_size"]),
        ({"max_position_embeddings": None}, ["max_position_embeddings is missing"]),
        ({"num_hidden_layers": "32"}, ["num_hidden_layers is '32'"]),
        ({"architectures": ["Other"], "model_type": "other"}, ["'other' is not known"]),
        ({"architectures": ["M"], "model_type": "kimi_k2", "tie_word_embeddings": None,
          "kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128},
         ["tie_word_embeddings is missing"]),
        ({"model_type": "bert", "architectures": ["B"]}, ["is an encoder", "about a decoder"]),
        ({"architectures": ["Mixtral\u202e"], "model_type": "mixtral"},
         ["the hidden character U+202E"]),
        ({"architectures": ["x" * 600], "model_type": "mixtral"},
         ["architecture: is longer than 500 characters"]),
        ({"architectures": ["x\n::error::y"], "model_type": "mixtral"}, ["wants a single line"]),
    ],
)  # fmt: skip
def test_a_file_that_gives_no_record(
    config: Path, fields: dict[str, Any], words: list[str]
) -> None:
    change(config, **fields)
    result = run(config, *ORIGIN)
    refused(result, str(config), *words, "\n  help: ")
    assert not any(line.startswith("::") for line in result.output.splitlines())


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "it is not one JSON object"),
        (b"kind: model", "line 1, column 1"),
        (b"[]", "it is not one JSON object"),
        (b"\xff", "it is not UTF-8 text"),
        (b'{"a": 1, "a": 2}', "line 1"),
    ],
)
def test_a_file_that_is_no_config(config: Path, data: bytes, words: str) -> None:
    config.write_bytes(data)
    refused(run(config, *ORIGIN), words, "\n  help: ")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    refused(run(tmp_path / "none.json", *ORIGIN), "none.json")
    refused(run(tmp_path, *ORIGIN), "is a directory")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    refused(run(pipe, *ORIGIN), "is not a regular file")


def test_a_hostile_name_never_gets_into_the_record(config: Path) -> None:
    change(config, _name_or_path="\x1b]0;x\x07\n::error::'\"}: {{ x }} <b>\u202e")
    result = run(config, *ORIGIN)
    assert result.exit_code == 0
    assert "id: 0-x-error-x-b\ntitle: 0-x-error-x-b\narchitecture: " in result.output
    assert result.output.replace("\n", "").isprintable()


@pytest.mark.parametrize("title", ["a\nb", "\u200b", " ", "x" * 501, "\udcff"])
def test_a_title_that_no_record_can_have_is_refused(config: Path, title: str) -> None:
    refused(run(config, *ORIGIN, "--title", title), "help: ")


def test_a_gguf_file_is_known_by_its_content(tmp_path: Path) -> None:
    file = write_gguf(tmp_path / "model.bin", LLAMA, dense_tensors())
    result = run(file, *ORIGIN, "--id", "example")
    assert result.exit_code == 0
    assert result.output == (
        "kind: model\n"
        "id: example\n"
        "title: example\n"
        "architecture: llama\n"
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
        "torch_dtype: float16\n"
        "origin: example-shape\n"
        "notes: |\n"
        "  tie_word_embeddings: the file has an output.weight.\n"
        "  The file stores 21 tensors of 173,312 B: F16 172,032 B, F32 1,280 B.\n"
    )


def test_what_llama_cpp_has_in_its_code_rests_on_the_assumption(tmp_path: Path) -> None:
    keys = renamed("gemma3", attention__sliding_window=512)
    file = write_gguf(tmp_path / "model.gguf", keys, dense_tensors(), Q8_0)
    refused(run(file, *ORIGIN), "tensors are quantised", "help: say --torch-dtype")
    options = ("--assumed", "example-defaults", "--torch-dtype", "bfloat16")
    result = run(file, *ORIGIN, *options)
    assert result.exit_code == 0
    assert "id: example-1b\n" in result.output
    assert (
        "origins:\n  cached_layers: example-defaults\n  torch_dtype: example-defaults\n"
    ) in result.output
    assert "Assumed: one layer in 6 has full attention and the others slide" in result.output


def test_a_dtype_that_the_tensors_contradict_is_refused(tmp_path: Path) -> None:
    file = write_gguf(tmp_path / "model.gguf", LLAMA, dense_tensors())
    refused(run(file, *ORIGIN, "--torch-dtype", "bfloat16"), "its tensors are float16")


def test_a_gguf_file_that_gives_no_record_leaves_no_file(tmp_path: Path) -> None:
    output = tmp_path / "new.yaml"
    keys = LLAMA | {"general.architecture": "\x1b]0;x\n::error::"}
    file = write_gguf(tmp_path / "model.gguf", keys, dense_tensors())
    result = run(file, *ORIGIN, "--output", str(output))
    refused(result, "which is not known", "help: known: afmoe, ")
    assert not any(line.startswith("::") for line in result.output.splitlines())
    file.write_bytes(file.read_bytes()[:500])
    refused(run(file, *ORIGIN, "--output", str(output)), "cut short")
    assert not output.exists()


def test_a_dtype_goes_with_a_gguf_file(config: Path) -> None:
    refused(run(config, *ORIGIN, "--torch-dtype", "bfloat16"), "goes with a GGUF file")


def test_a_model_without_attention_is_served_by_its_record(
    small: SmallCorpus, config: Path
) -> None:
    shutil.copy(CONFIGS / "mamba.json", config)
    more = {"vocab_size": 50_280, "tie_word_embeddings": True, "max_position_embeddings": 2048}
    change(config, torch_dtype="bfloat16", **more)
    result = run(config, *ORIGIN)
    assert result.exit_code == 0
    assert (
        "  - {kind: mamba, layers: 64, conv_kernel: 4, channels: 5120, state: 16}" in result.output
    )
    assert "num_attention_heads" not in result.output
    asked = ["--engine", "vllm", "--device-memory", "24 GiB", "--weights-memory", "6 GiB"]
    served = CliRunner().invoke(main, ["memory", "--config", str(config), *asked])
    assert served.exit_code == 0, served.output
    assert "1 sequence × 1 block × 1 group of 64 layers × 194,560 B a page" in served.output
    assert "blocks of 2,048 tokens, 12,451,840 B each" in served.output


def test_a_gguf_file_of_latent_rows_and_states_says_what_the_states_are_kept_in(
    tmp_path: Path,
) -> None:
    keys = renamed(
        "kimi-linear",
        attention__head_count_kv=[0, 1],
        attention__kv_lora_rank=48,
        attention__key_length=56,
        attention__value_length=48,
        attention__key_length_mla=24,
        attention__value_length_mla=16,
        ssm__conv_kernel=4,
        kda__head_dim=16,
    )
    file = write_gguf(tmp_path / "model.gguf", keys, one_a_layer(2))
    result = run(file, *ORIGIN, "--id", "example")
    assert result.exit_code == 0, result.output
    assert "  - {kind: latent, layers: 1, latent: 48, rope: 8}\n" in result.output
    assert "torch_dtype: float16\nstate_dtype: float32\n" in result.output
    assert "Assumed: the state is kept in float32, as engines do" in result.output
    assert isinstance(validate(read_yaml("record", result.output.encode())), Model)


def test_a_gguf_file_without_attention_has_no_heads(tmp_path: Path) -> None:
    states = {"conv_kernel": 4, "inner_size": 128, "state_size": 16, "time_step_rank": 4}
    keys = renamed(
        "mamba",
        attention__head_count=0,
        attention__head_count_kv=None,
        feed_forward_length=0,
        **{f"ssm__{name}": value for name, value in states.items()},
    )
    result = run(write_gguf(tmp_path / "model.gguf", keys, one_a_layer(2)), *ORIGIN)
    assert result.exit_code == 0, result.output
    assert "  - {kind: mamba, layers: 2, conv_kernel: 4, channels: 128, state: 16}\n" in (
        result.output
    )
    assert "num_attention_heads" not in result.output
