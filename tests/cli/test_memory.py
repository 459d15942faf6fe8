from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gguf_files import F32, LLAMA, Q8_0, dense_tensors, write_gguf
from upheld.cli import main

ROOT = Path(__file__).parents[2]
CONFIGS = ROOT / "tests" / "corpora" / "configs"
ON_80_GIB = ("--engine", "vllm", "--device-memory", "80 GiB")
RUNTIME = ("--runtime-memory", "4 GiB")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["memory", *arguments])


def of(name: str, *options: str) -> Result:
    return run("--config", str(CONFIGS / f"{name}.json"), *options)


def refused(result: Result, *words: str) -> None:
    assert result.exit_code == 2, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    for word in words:
        assert word in result.output
    assert "Traceback" not in result.output


def test_a_config_that_fits() -> None:
    result = of("llama-8b", *ON_80_GIB, *RUNTIME, "--max-model-len", "8192", "--max-num-seqs", "32")
    assert result.exit_code == 0
    assert result.output.startswith("Arithmetic, not a measurement\n")
    assert "16,094,142,464 B" in result.output
    assert "Fits with 32 sequences of 8,192 tokens" in result.output
    assert "Assumed: head_dim is hidden_size / num_attention_heads" in result.output


def test_a_config_that_does_not_fit_says_by_how_much() -> None:
    result = of("llama-8b", "--engine", "vllm", "--device-memory", "16 GiB", *RUNTIME)
    assert result.exit_code == 1
    assert "Does not fit with 1 sequence of 131,072 tokens" in result.output


def test_without_runtime_memory_it_never_says_that_it_simply_fits() -> None:
    result = of("qwen3-8b", *ON_80_GIB)
    assert result.exit_code == 0
    assert "Weights and KV fit with 1 sequence of 40,960 tokens; runtime not stated." in (
        result.output
    )


def test_json_is_the_documented_shape() -> None:
    result = of("llama-8b", *ON_80_GIB, *RUNTIME, "--tp", "2", "--format", "json")
    found = json.loads(result.output)
    assert found["version"] == 1
    assert found["capacity"]["bytes_per_token"] == 65_536
    assert found["fits"] is True


def test_weights_do_not_change_the_cache_and_auto_follows_the_model() -> None:
    def per_token(*options: str) -> int:
        result = of("llama-8b", *ON_80_GIB, "--format", "json", *options)
        return int(json.loads(result.output)["capacity"]["bytes_per_token"])

    assert per_token() == per_token("--weight-dtype", "fp8") == 131_072
    assert per_token("--kv-cache-dtype", "fp8") == 65_536
    assert per_token("--weight-dtype", "fp32") == 262_144


def test_defaults_and_options_are_told_apart() -> None:
    output = of("llama-8b", *ON_80_GIB, "--block-size", "32").output
    assert any(line.split() == ["block_size", "32", "--block-size"] for line in output.splitlines())
    line = ["gpu_memory_utilization", "0.9", "vLLM's", "default"]
    assert any(shown.split() == line for shown in output.splitlines())
    assert "max_position_embeddings of llama-8b.json" in output


@pytest.mark.parametrize(
    ("options", "row"),
    [
        ((), ["block_size", "16", "vLLM's default"]),
        ((), ["kv_cache_dtype", "bf16", "auto: as torch_dtype of llama-8b.json"]),
        (("--weight-dtype", "fp8"),
         ["kv_cache_dtype", "bf16", "auto: as torch_dtype of llama-8b.json"]),
        (("--weight-dtype", "fp32"), ["kv_cache_dtype", "fp32", "auto: as --weight-dtype"]),
        (("--kv-cache-dtype", "fp8"), ["kv_cache_dtype", "fp8", "--kv-cache-dtype"]),
    ],
)  # fmt: skip
def test_each_choice_says_where_it_came_from(options: tuple[str, ...], row: list[str]) -> None:
    rows = of("llama-8b", *ON_80_GIB, *options).output.split("\n")
    assert row in [re.split(r"  +", line.strip()) for line in rows]


def test_a_context_of_all_positions_is_not_noted() -> None:
    output = of("llama-8b", *ON_80_GIB, "--max-model-len", "131072").output
    assert "are beyond" not in output


def test_a_context_beyond_the_positions_is_noted() -> None:
    output = of("llama-8b", *ON_80_GIB, "--max-model-len", "262,144 tokens").output
    assert "262,144 tokens are beyond max_position_embeddings, 131,072" in output


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("latent-attention", "say --weights-memory, per device"),
        ("bert", "it has no cache"),
        ("qwen3.5-moe", "the tensors of the model_type 'qwen3_5_moe_text' are not known"),
        ("llama-3.2-vision", "cross_attention_layers is"),
    ],
)
def test_what_can_not_be_laid_out_is_refused(name: str, words: str) -> None:
    refused(of(name, *ON_80_GIB), f"{name}.json", words, "help")


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("latent-attention", ["latent_attention"]),
        ("nemotron-h", ["full_attention", "mamba2"]),
        ("experts", ["full_attention"]),
    ],
)
def test_the_cache_of_any_known_family_is_laid_out_beside_stated_weights(
    name: str, kinds: list[str]
) -> None:
    result = of(name, *ON_80_GIB, "--weights-memory", "30 GiB", "--max-model-len", "8192")
    assert result.exit_code == 0, result.output
    assert "stated, not worked out" in result.output
    for kind in kinds:
        assert kind in result.output


def test_stored_weights_take_the_place_of_a_shape_that_is_not_known(tmp_path: Path) -> None:
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {"total_size": 30 * 2**30}, "weight_map": {"a": "b"}}))
    result = of("experts", *ON_80_GIB, "--checkpoint", str(index), "--max-model-len", "8192")
    assert result.exit_code == 0, result.output
    assert f"{30 * 2**30:,} B" in result.output
    assert "model.safetensors.index.json (its files are not there" in result.output
    assert "A checkpoint says what is stored" in result.output
    refused(of("experts", *ON_80_GIB, "--checkpoint", str(index), "--tp", "2"), "--weights-memory")
    refused(of("experts", *ON_80_GIB, "--checkpoint", str(CONFIGS / "bert.json")), "weight_map")


def test_a_window_bounds_the_cache_of_a_long_sequence() -> None:
    result = of("mistral-windowed", *ON_80_GIB, "--max-model-len", "32768", "--format", "json")
    cache = json.loads(result.output)["per_device"]["kv_cache"]
    assert 0 < cache < 32_768 * 32 * 8 * 128 * 4


def test_quantised_weights_are_stored_as_the_file_says() -> None:
    as_stored = of("llama-8b-gptq", *ON_80_GIB)
    assert as_stored.exit_code == 0
    assert "group indices" in as_stored.output
    assert re.search(r"int4_gptq +quantization_config of llama-8b-gptq", as_stored.output)
    named = of("llama-8b-gptq", *ON_80_GIB, "--weight-dtype", "int4", "--weight-group-size", "128")
    assert named.exit_code == 0
    assert "no zero points" in named.output


def test_a_way_to_quantise_that_is_not_known_needs_the_dtype(tmp_path: Path) -> None:
    config = json.loads((CONFIGS / "llama-8b.json").read_text("utf-8"))
    file = tmp_path / "config.json"
    file.write_text(json.dumps(config | {"quantization_config": {"quant_method": "new"}}), "utf-8")
    refused(run("--config", str(file), *ON_80_GIB), "quant_method 'new'", "--weight-dtype")
    assert run("--config", str(file), *ON_80_GIB, "--weight-dtype", "fp8").exit_code == 0


def test_a_model_with_experts_and_one_with_a_vision_tower_have_weights() -> None:
    experts = json.loads(of("experts", *ON_80_GIB, "--tp", "2", "--format", "json").output)
    assert round(experts["per_device"]["weights"] / 2**30, 2) == 43.51
    tower = of("gemma-3", *ON_80_GIB, "--max-model-len", "8192")
    assert tower.exit_code == 0
    assert "vision tower" in tower.output


def test_a_dtype_that_the_file_leaves_out_is_assumed_and_said(tmp_path: Path) -> None:
    config = json.loads((CONFIGS / "llama-8b.json").read_text("utf-8"))
    file = tmp_path / "config.json"
    file.write_text(json.dumps(config | {"torch_dtype": None}), "utf-8")
    result = run("--config", str(file), *ON_80_GIB)
    assert result.exit_code == 0
    assert "torch_dtype is bfloat16: the file does not say" in result.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--engine", "vllm"), "--config needs --device-memory"),
        ((), "--config needs --engine and --device-memory"),
        (("--engine", "vllm", "--device-memory", "80"), "has no unit"),
        (("--engine", "vllm", "--device-memory", "0 GiB"), "is not above 0"),
        (("--engine", "vllm", "--device-memory", "80 ms"), "measures time, not memory"),
        (
            (*ON_80_GIB, "--tp", "3"),
            "tensor_parallel: 3 devices can't share 32 num_attention_heads evenly",
        ),
        ((*ON_80_GIB, "--tp", "0"), "not a whole number from 1"),
        ((*ON_80_GIB, "--tp", "9" * 5000), "not a whole number from 1"),
        ((*ON_80_GIB, "--tp", "two"), "'two' is not a whole number from 1"),
        ((*ON_80_GIB, "--max-model-len", "0.5"), "wants a whole number of tokens"),
        ((*ON_80_GIB, "--max-model-len", ""), "does not begin with a number"),
        ((*ON_80_GIB, "--gpu-memory-utilization", "90"), "not above 0 and at most 1"),
        ((*ON_80_GIB, "--gpu-memory-utilization", "nan"), "not a finite decimal number"),
        ((*ON_80_GIB, "--weight-dtype", "int4"), "weight_group_size: goes with weight_dtype int4"),
        ((*ON_80_GIB, "--weight-group-size", "128"), "weight_group_size: goes with"),
        ((*ON_80_GIB, "--weight-dtype", "int2"), "'int2' is not one of"),
        (("--engine", "other", "--device-memory", "80 GiB"), "'other' is not"),
    ],
)
def test_options_that_do_not_work_are_refused(options: tuple[str, ...], words: str) -> None:
    refused(of("llama-8b", *options), words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"torch_dtype": "float32"}, "say --weight-dtype"),
        ({"torch_dtype": "float32", "quantization_config": {"bits": 4}}, "quant_method None"),
    ],
)
def test_a_choice_that_the_file_leaves_open_must_be_made(
    tmp_path: Path, change: dict[str, object], words: str
) -> None:
    config = json.loads((CONFIGS / "llama-8b.json").read_text("utf-8")) | change
    file = tmp_path / "config.json"
    file.write_text(json.dumps(config), "utf-8")
    refused(run("--config", str(file), *ON_80_GIB), words)
    made = ("--weight-dtype", "bf16", "--max-model-len", "8192")
    assert run("--config", str(file), *ON_80_GIB, *made).exit_code == 0


@pytest.mark.parametrize(
    "quantised",
    [
        {"quant_method": "modelopt", "kv_cache_quant_algo": "FP8"},
        {"quant_method": "compressed-tensors", "kv_cache_scheme": {"num_bits": 8}},
    ],
)
def test_a_file_that_quantises_the_cache_leaves_auto_open(
    tmp_path: Path, quantised: dict[str, object]
) -> None:
    config = json.loads((CONFIGS / "llama-8b.json").read_text("utf-8"))
    file = tmp_path / "config.json"
    file.write_text(json.dumps(config | {"quantization_config": quantised}), "utf-8")
    stored = (*ON_80_GIB, "--weight-dtype", "fp8")
    refused(run("--config", str(file), *stored), "kv_cache_", "say --kv-cache-dtype")
    assert run("--config", str(file), *stored, "--kv-cache-dtype", "fp8").exit_code == 0


def test_stated_weights_do_not_make_a_float32_file_a_float32_cache(tmp_path: Path) -> None:
    config = json.loads((CONFIGS / "llama-8b.json").read_text("utf-8"))
    file = tmp_path / "config.json"
    file.write_text(json.dumps(config | {"torch_dtype": "float32"}), "utf-8")
    stated = (*ON_80_GIB, "--weights-memory", "15 GiB", "--format", "json")
    refused(run("--config", str(file), *stated), "float32", "say --weight-dtype")
    found = run("--config", str(file), *stated, "--weight-dtype", "bf16")
    assert json.loads(found.output)["capacity"]["bytes_per_token"] == 131_072
    refused(run("--config", str(file), *stated, "--weight-dtype", "fp8"), "say --kv-cache-dtype")


HYBRID = (*ON_80_GIB, "--weights-memory", "30 GiB", "--max-model-len", "8192")


def test_what_lays_a_hybrid_out_is_asked_for_and_shown() -> None:
    def blocks(*options: str) -> int:
        result = of("nemotron-h", *HYBRID, "--format", "json", *options)
        return int(json.loads(result.output)["per_device"]["kv_cache"])

    assert blocks("--prefix-caching") > blocks()
    shown = of("nemotron-h", *HYBRID, "--engine-version", "v0.24").output
    rows = [line.split() for line in shown.splitlines()]
    assert ["engine_version", "v0.24", "--engine-version"] in rows
    refused(of("nemotron-h", *HYBRID, "--engine-version", "main"), "engine_version: 'main'")


def test_a_window_makes_room_for_a_step() -> None:
    def cache(*options: str) -> int:
        result = of("mistral-windowed", *ON_80_GIB, "--format", "json", *options)
        return int(json.loads(result.output)["per_device"]["kv_cache"])

    assert (
        cache("--max-num-batched-tokens", "2048")
        < cache()
        == cache("--max-num-batched-tokens", "8192")
    )


def test_positions_that_the_file_leaves_out_are_asked_for_and_not_guessed(tmp_path: Path) -> None:
    config = json.loads((CONFIGS / "llama-8b.json").read_text("utf-8"))
    del config["max_position_embeddings"]
    file = tmp_path / "config.json"
    file.write_text(json.dumps(config), "utf-8")
    refused(run("--config", str(file), *ON_80_GIB), "say --max-model-len")
    length = ("--max-model-len", "8192")
    refused(run("--config", str(file), *ON_80_GIB, *length), "max_position_embeddings")


def test_files_that_can_not_be_read_are_refused(tmp_path: Path) -> None:
    refused(run("--config", str(tmp_path / "none.json"), *ON_80_GIB), "there is no such file")
    refused(run("--config", str(tmp_path), *ON_80_GIB), "is a directory")
    large = tmp_path / "large.json"
    large.write_bytes(b" " * (1024 * 1024 + 1))
    refused(run("--config", str(large), *ON_80_GIB), "at most 1,048,576 are read")


def test_a_hostile_file_name_never_reaches_the_terminal_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "\x1b[31m.json"
    file.write_bytes((CONFIGS / "llama-8b.json").read_bytes())
    result = run("--config", str(file), *ON_80_GIB)
    assert result.exit_code == 0
    assert "\x1b" not in result.output
    file.write_bytes(b"{}")
    result = run("--config", str(file), *ON_80_GIB)
    refused(result, r"\x1b[31m.json")
    assert "\x1b" not in result.output


def test_one_of_deployment_and_config_is_needed() -> None:
    refused(run(), "one of DEPLOYMENT and --config")
    refused(run("one-device", "--config", "config.json"), "one of DEPLOYMENT and --config")
    refused(run("one-device", "--tp", "2"), "--tensor-parallel: only with --config")


def test_a_deployment_of_a_corpus() -> None:
    result = run("one-device", "--root", str(ROOT))
    assert result.exit_code == 0, result.output
    assert "one-device: llama-3.1-8b-instruct on vllm" in result.output
    assert "Given: " in result.output


def test_a_deployment_beyond_its_models_positions_is_noted(tmp_path: Path) -> None:
    from shutil import copytree

    for folder in ("adrs", "evidence"):
        copytree(ROOT / folder, tmp_path / folder)
    file = tmp_path / "evidence" / "deployments" / "one-device.yaml"
    text = file.read_text("utf-8")
    file.write_text(text.replace("max_model_len: 8192", "max_model_len: 200000"), "utf-8")
    output = run("one-device", "--root", str(tmp_path)).output
    assert "200,000 tokens are beyond max_position_embeddings, 131,072" in output


def test_deployments_that_are_not_there_are_refused(tmp_path: Path) -> None:
    refused(run("nothing", "--root", str(ROOT)), "there is no deployment 'nothing'")
    refused(run("ADR-009", "--root", str(ROOT)), "'ADR-009' is not a deployment")
    refused(run("one-device", "--root", str(tmp_path)), "no folder for records")


def test_help_has_examples() -> None:
    result = run("-h")
    assert result.exit_code == 0
    assert "upheld memory --config config.json --engine vllm" in result.output


SWEEP = ("--sweep", "max-num-seqs=1..64*4", "--sweep", "max-model-len=8192,16384")


class TestSweep:
    def test_of_a_deployment_as_a_table(self) -> None:
        result = run("one-device", "--root", str(ROOT), *SWEEP)
        assert result.exit_code == 0, result.output
        assert result.output.startswith("Arithmetic, not a measurement\n")
        rows = [line.split() for line in result.output.splitlines()[4:]]
        assert [row[:2] for row in rows][:3] == [["1", "8192"], ["1", "16384"], ["4", "8192"]]
        assert len(rows) == 8
        assert rows[0][-1] == "fits"
        assert rows[-1][-3:] == ["does", "not", "fit"]

    def test_of_a_config_as_csv_and_json(self) -> None:
        import csv

        text = of("llama-8b", *ON_80_GIB, *SWEEP, "--format", "csv").output
        rows = list(csv.DictReader(text.splitlines()))
        points = json.loads(of("llama-8b", *ON_80_GIB, *SWEEP, "--format", "json").output)["points"]
        assert len(rows) == len(points) == 8
        for row, point in zip(rows, points, strict=True):
            assert int(row["total"]) == point["total"] == point["weights"] + point["kv_cache"]
            assert row["fits"] == str(point["fits"])

    def test_runtime_that_nobody_stated_is_said_to_be_left_out(self) -> None:
        output = of("llama-8b", *ON_80_GIB, *SWEEP).output
        assert "left out of every total" in output
        assert "Assumed: head_dim" in output
        found = json.loads(of("llama-8b", *ON_80_GIB, *SWEEP, "--format", "json").output)
        assert found["not_stated"] == ["runtime_memory"]
        assert found["notes"]
        header, row, *_ = of("llama-8b", *ON_80_GIB, *SWEEP, "--format", "csv").output.splitlines()
        assert header.endswith(",not_stated,problem")
        assert row.endswith(",runtime_memory,")

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("max-num-seqs", "is not NAME=VALUES"),
            ("weights=1", "names: max-num-seqs"),
            ("max-num-seqs=0", "is not a whole number"),
            ("max-num-seqs=9..1", "goes nowhere"),
            ("max-num-seqs=1..9*1", "goes nowhere"),
            ("max-num-seqs=1..999999999", "has over 100,000 values"),
            ("kv-cache-dtype=fp5", "is no KV cache dtype"),
            ("gpu-memory-utilization=2", "is not above 0 and at most 1"),
        ],
    )
    def test_a_bad_axis_is_refused(self, text: str, words: str) -> None:
        result = of("llama-8b", *ON_80_GIB, "--sweep", text)
        assert result.exit_code == 2
        assert words in " ".join(result.output.split())

    def test_a_name_is_varied_once(self) -> None:
        twice = ("--sweep", "max-num-seqs=1", "--sweep", "max-num-seqs=2")
        refused(of("llama-8b", *ON_80_GIB, *twice), "varies a name twice")

    def test_the_contexts_that_are_swept_are_those_that_are_noted(self) -> None:
        beyond = of("llama-8b", *ON_80_GIB, "--sweep", "max-model-len=1,262144").output
        assert "262,144 tokens are beyond max_position_embeddings" in beyond
        own = ("--max-model-len", "262144", "--sweep", "max-model-len=1,131072")
        assert "are beyond" not in of("llama-8b", *ON_80_GIB, *own).output

    def test_too_many_points_are_refused(self) -> None:
        axes = ("--sweep", "max-num-seqs=1..1000", "--sweep", "max-model-len=1..1000")
        refused(of("llama-8b", *ON_80_GIB, *axes), "1,000,000 points")

    def test_csv_is_of_a_sweep(self) -> None:
        refused(of("llama-8b", *ON_80_GIB, "--format", "csv"), "--sweep")


class TestCompare:
    def test_both_ways_stand_side_by_side_and_no_speed_is_claimed(self) -> None:
        result = run("one-device", "--root", str(ROOT), "--compare", "2")
        assert result.exit_code == 0, result.output
        assert "2 replicas, one device each  each layer over 2 devices" in result.output
        assert "No speed follows from this" in result.output
        lost = next(line for line in result.output.splitlines() if "is lost" in line)
        assert lost.split()[-1] == "0"

    def test_json(self) -> None:
        result = of("llama-8b", *ON_80_GIB, "--compare", "4", "--format", "json")
        whole, sharded, staged = json.loads(result.output)["ways"]
        assert [way["replicas"] for way in (whole, sharded, staged)] == [4, 1, 1]
        assert sharded["per_device"]["weights"] < whole["per_device"]["weights"]

    def test_what_is_left_out_or_assumed_is_said(self) -> None:
        result = of("llama-8b", *ON_80_GIB, "--compare", "2")
        assert "Runtime memory is not stated, and left out of every total." in result.output
        assert "Assumed: head_dim" in result.output
        found = json.loads(of("llama-8b", *ON_80_GIB, "--compare", "2", "--format", "json").output)
        assert found["not_stated"] == ["runtime_memory"]
        assert found["notes"]
        stated = of("llama-8b", *ON_80_GIB, *RUNTIME, "--compare", "2", "--format", "json")
        assert json.loads(stated.output)["not_stated"] == []

    def test_one_device_is_no_comparison(self) -> None:
        refused(of("llama-8b", *ON_80_GIB, "--compare", "1"), "at least 2 devices")

    def test_one_question_at_a_time(self) -> None:
        refused(of("llama-8b", *ON_80_GIB, *SWEEP, "--compare", "2"), "ask one at a time")


def test_a_gguf_file_is_as_good_as_a_config(tmp_path: Path) -> None:
    file = write_gguf(tmp_path / "model.bin", LLAMA, dense_tensors())
    result = run("--config", str(file), *ON_80_GIB)
    assert result.exit_code == 0
    assert "2 layers × 2 KV heads × 16 × 2 (K and V) × 2 B" in result.output
    quantised = ("--config", str(write_gguf(file, LLAMA, dense_tensors(), Q8_0)), *ON_80_GIB)
    refused(run(*quantised), "model.bin has quantised weights, by its", "or --checkpoint")
    with_bytes = (*quantised, "--checkpoint", str(file))
    refused(run(*with_bytes), "torch_dtype is missing", "help: say --kv-cache-dtype")
    assert "92,672 B" in run(*with_bytes, "--kv-cache-dtype", "fp16").output


def test_a_file_in_fp32_says_nothing_of_a_cache_whose_dtype_is_the_engines(tmp_path: Path) -> None:
    file = write_gguf(tmp_path / "model.gguf", LLAMA, dense_tensors(), F32)
    options = ("--config", str(file), "--weights-memory", "1 GiB", "--device-memory", "24 GiB")
    found = run(*options, "--engine", "llama.cpp")
    assert found.exit_code == 0, found.output
    assert "2 layers × 2 KV heads × 16 × 2 (K and V) × 2 B" in found.output
    refused(run(*options, "--engine", "vllm"), "torch_dtype is float32", "--weight-dtype")
