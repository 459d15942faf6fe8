"""The arithmetic of llama.cpp's caches against what a real one printed, all of it."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine_report_checks.shapes import PERTURBATIONS, layers_of
from llama_cpp_cache_checks.comparing import compare
from llama_cpp_cache_checks.grid import VARIED, of_a_family, of_the_real_model
from llama_cpp_cache_checks.running import model_of, runs_of
from upheld.arithmetic.gguf_model import read_gguf_model

CORPUS = Path(__file__).parents[2] / "corpora" / "llama-cpp-caches"
PRINTED: dict[str, Any] = json.loads((CORPUS / "printed.json").read_text("utf-8"))
MODELS: dict[str, Any] = yaml.safe_load((CORPUS / "models.yaml").read_text("utf-8"))
REAL = "gemma3-270m"
STARTS = 307
FIGURES = 5134


def settings_of(run: dict[str, Any]) -> str:
    return ",".join(f"{name}={value}" for name, value in run["settings"].items())


@pytest.mark.parametrize(
    "run", PRINTED["runs"], ids=lambda run: f"{run['model']}:{settings_of(run)}"
)
def test_each_printed_figure_has_the_same_characters(run: dict[str, Any]) -> None:
    checks = compare(run, MODELS[run["model"]])
    assert checks
    assert [each for each in checks if not each.exact] == []


def test_all_starts_and_all_figures_are_compared() -> None:
    assert len(PRINTED["runs"]) == STARTS
    assert sum(len(compare(run, MODELS[run["model"]])) for run in PRINTED["runs"]) == FIGURES
    assert {run["varied"] for run in PRINTED["runs"]} == set(VARIED)
    assert set(PRINTED["models"]) == set(MODELS)


def test_the_file_has_the_whole_grid() -> None:
    for name in MODELS:
        grid = of_the_real_model() if name == REAL else of_a_family()
        kept = [(run["varied"], run["settings"]) for run in PRINTED["runs"] if run["model"] == name]
        assert kept == list(grid)


@pytest.mark.parametrize("name", MODELS)
def test_the_layers_are_those_of_the_header(name: str) -> None:
    header = {
        key.partition(".")[2]: yaml.safe_load(value)
        for key, value in PRINTED["models"][name]["header"].items()
    }
    in_window = PRINTED["models"][name]["is_swa"][: header["block_count"]].count("1")
    heads = header["attention.head_count_kv"]
    for layers in MODELS[name]["kv_layers"]:
        match layers["kind"]:
            case "full" | "sliding" | "chunked" as kind:
                assert layers["kv_heads"] in (heads if isinstance(heads, list) else [heads])
                assert layers["k_dim"] == header["attention.key_length"]
                assert layers["v_dim"] == header["attention.value_length"]
                if kind != "full":
                    assert layers["layers"] == in_window
                    assert layers["window"] == header["attention.sliding_window"]
            case "mla":
                assert layers["latent"] == header["attention.kv_lora_rank"]
                assert layers["latent"] + layers["rope"] == header["attention.key_length"]
                indexer = header["attention.indexer.key_length"]
                assert layers.get("dsa_index_dim", 0) == indexer
            case "mamba1":
                assert layers["d_inner"] == header["ssm.inner_size"]
                assert (layers["state"], header["ssm.group_count"]) == (header["ssm.state_size"], 0)
            case "mamba2":
                assert layers["heads"] * layers["head_dim"] == header["ssm.inner_size"]
                assert layers["n_groups"] == header["ssm.group_count"]
            case "gdn" if header["kda.head_dim"]:
                assert layers["k_dim"] == layers["v_dim"] == header["kda.head_dim"]
            case "gdn":
                assert layers["v_heads"] * layers["v_dim"] == header["ssm.inner_size"]
                assert layers["k_heads"] == header["ssm.group_count"]
            case "shortconv":
                assert layers["channels"] == header["embedding_length"]
                assert layers["conv_kernel"] == header["shortconv.l_cache"]
        if "conv_kernel" in layers and layers["kind"] != "shortconv":
            assert layers["conv_kernel"] == header["ssm.conv_kernel"]


def test_no_number_of_a_cache_that_was_printed_goes_unread() -> None:
    for run in PRINTED["runs"]:
        printed = Counter(each.printed for each in compare(run, MODELS[run["model"]]))
        sizes = [
            size
            for line in run["lines"]
            if re.match(r"llama_(?:kv_cache|memory_recurrent):", line)
            for size in re.findall(r"([\d.]+) MiB", line.partition(", P (")[0])
        ]
        if "refused" not in {each.name for each in compare(run, MODELS[run["model"]])}:
            assert not Counter(sizes) - printed


@pytest.mark.parametrize(
    ("perturb", "models", "count"),
    [("layers", set(MODELS), STARTS - 6), ("kv-heads", {REAL}, 110), ("head-width", {REAL}, 110)],
)
def test_a_wrong_shape_loses_all_starts_of_such_layers(
    perturb: str, models: set[str], count: int
) -> None:
    served = [
        run
        for run in PRINTED["runs"]
        if run["model"] in models and compare(run, MODELS[run["model"]])[0].name != "refused"
    ]
    still_exact = [
        run
        for run in served
        if all(each.exact for each in compare(run, MODELS[run["model"]], PERTURBATIONS[perturb]))
    ]
    assert len(served) == count
    assert still_exact == []


def test_a_figure_that_one_side_lacks_is_a_miss() -> None:
    run = PRINTED["runs"][0]
    cut = {**run, "lines": run["lines"][:-1]}
    checks = compare(cut, MODELS[run["model"]])
    assert any(each.printed is None for each in checks)
    assert not all(each.exact for each in checks)


@pytest.mark.engine
def test_the_engine_prints_the_same_again() -> None:
    server, model = os.environ.get("UPHELD_LLAMA_SERVER"), os.environ.get("UPHELD_LLAMA_MODEL")
    if not (server and model):
        pytest.skip("UPHELD_LLAMA_SERVER and UPHELD_LLAMA_MODEL name no engine and no model")
    if model_of(Path(server), Path(model), 18_432)["sha256"] != PRINTED["models"][REAL]["sha256"]:
        pytest.skip("UPHELD_LLAMA_MODEL is another model than the one of printed.json")
    layers = read_gguf_model(Path(model)).model.cached.layers
    assert list(layers) == layers_of(MODELS[REAL])
    few = list(of_the_real_model())[::25]
    for run in runs_of(Path(server), Path(model), REAL, iter(few), 18_432):
        assert [each for each in compare(run, MODELS[REAL]) if not each.exact] == []
