"""The metadata of real GGUF files: the layers are those that llama.cpp makes of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine_report_checks.shapes import layers_of
from gguf_files import one_a_layer, write_gguf
from upheld.arithmetic.configs import CachedLayers
from upheld.arithmetic.gguf_model import read_gguf_model
from upheld.arithmetic.layouts import Layers
from upheld.arithmetic.layouts.chunked import ChunkedAttention
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention

CORPORA = Path(__file__).parents[1] / "corpora"
PRINTED: dict[str, Any] = json.loads(
    (CORPORA / "llama-cpp-caches" / "printed.json").read_text("utf-8")
)["models"]
MODELS: dict[str, Any] = yaml.safe_load(
    (CORPORA / "llama-cpp-caches" / "models.yaml").read_text("utf-8")
)
PUBLISHED: dict[str, Any] = yaml.safe_load(
    (CORPORA / "gguf-metadata" / "published.yaml").read_text("utf-8")
)
SHAPES: dict[str, Any] = yaml.safe_load(
    (CORPORA / "engine-reports" / "shapes.yaml").read_text("utf-8")
)
# What llama.cpp saves in each file, whatever the model: an indexer's keys without an indexer, and
# the same widths once more for layers in a window.
SAVED_IN_ALL = {
    "attention.indexer.head_count": 0,
    "attention.indexer.key_length": 0,
    "attention.indexer.kpool_select_tail": True,
    "attention.causal": True,
    "kda.safe_gate": True,
    "token_shift_count": 2,
    "wkv.head_size": 0,
}

_IN_A_WINDOW = (SlidingAttention, ChunkedAttention)


def content_of(layers: Layers) -> Layers:
    """What is kept of a sequence; what a latent row would expand to is beside the point."""
    if isinstance(layers, LatentAttention):
        return replace(layers, heads=0, qk_nope=0, v_head=0)
    return layers


def caching(layers: Mapping[str, Any]) -> list[Layers]:
    """The layers that cache something: one of no KV heads has a place in the cache alone."""
    return [
        content_of(each)
        for each in layers_of(layers)
        if not isinstance(each, FullAttention) or each.kv_heads
    ]


def printed_header(name: str) -> tuple[str, dict[str, Any]]:
    """The architecture, and the keys without its name."""
    header = dict(PRINTED[name]["header"])
    architecture = header.pop("general.architecture")
    return architecture, {
        key.removeprefix(f"{architecture}."): yaml.safe_load(value) for key, value in header.items()
    }


def cached(folder: Path, architecture: str, keys: Mapping[str, Any]) -> CachedLayers:
    named = {f"{architecture}.{key}": value for key, value in keys.items()}
    file = write_gguf(
        folder / "model.gguf",
        {"general.architecture": architecture, **named},
        one_a_layer(keys["block_count"], keys["embedding_length"]),
    )
    return read_gguf_model(file).model.cached


@pytest.mark.parametrize("name", PRINTED)
def test_a_header_that_llama_cpp_printed_has_the_layers_of_its_caches(
    tmp_path: Path, name: str
) -> None:
    architecture, keys = printed_header(name)
    widths = {
        f"attention.{of}_length_swa": keys[f"attention.{of}_length"] for of in ("key", "value")
    }
    found = cached(tmp_path, architecture, SAVED_IN_ALL | widths | keys)
    assert [content_of(each) for each in found.layers] == caching(MODELS[name])


@pytest.mark.parametrize("name", PRINTED)
def test_its_layers_slide_where_llama_cpp_said_so(tmp_path: Path, name: str) -> None:
    architecture, keys = printed_header(name)
    found = cached(tmp_path, architecture, keys)
    kinds = [[found.layers[at] for at in each] for each in found.order]
    slides = [any(isinstance(layer, _IN_A_WINDOW) for layer in each) for each in kinds]
    printed = PRINTED[name]["is_swa"][: keys["block_count"]]
    assert slides == [digit == "1" for digit in printed]


def listed(value: Any) -> Any:
    """A value of the corpus, with what repeats written out."""
    return value["repeat"] * value["times"] if isinstance(value, dict) else value


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_file_has_the_layers_of_the_published_config(tmp_path: Path, name: str) -> None:
    file = PUBLISHED[name]
    keys = {key: listed(value) for key, value in file["keys"].items()}
    found = cached(tmp_path, file["architecture"], {"context_length": 131_072} | keys)
    wanted = caching(SHAPES[file["shape"]] if "shape" in file else file)
    assert [content_of(each) for each in found.layers] == wanted
