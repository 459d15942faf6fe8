"""Shapes of models in public start-up reports: the layers that engines really cached."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from upheld.arithmetic.configs import cached_layers
from upheld.arithmetic.layouts import Layers
from upheld.arithmetic.layouts.chunked import ChunkedAttention
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention
from upheld.arithmetic.layouts.state import GatedDeltaNet, Mamba2, ShortConvolution

pytestmark = pytest.mark.corpus

CLASSES: dict[str, type[Any]] = {
    "full": FullAttention,
    "sliding": SlidingAttention,
    "chunked_local": ChunkedAttention,
    "mla": LatentAttention,
    "gdn": GatedDeltaNet,
    "mamba2": Mamba2,
    "shortconv": ShortConvolution,
}
NAMES = {"dsa_index_dim": "index_dim", "channels": "width"}

# The model_type of shapes that leave it out, where their other facts are enough.
MODEL_TYPES = {
    "Qwen/Qwen1.5-7B": "qwen2",
    "Qwen/Qwen2.5-0.5B-Instruct": "qwen2",
    "Qwen/Qwen2.5-1.5B-Instruct": "qwen2",
    "Qwen/Qwen2.5-14B": "qwen2",
    "Qwen/Qwen2.5-72B-Instruct": "qwen2",
    "Qwen/Qwen3-Next-80B-A3B-Instruct": "qwen3_next",
    "bitnet2b_2501": "llama",
    "deepseek-ai/DeepSeek-V2.5-1210": "deepseek_v2",
    "google/gemma-2-27b-it": "gemma2",
    "google/gemma-3-12b-it": "gemma3_text",
    "google/gemma-3-270m": "gemma3_text",
    "google/gemma-3-27b-it": "gemma3_text",
    "google/gemma-3-4b-it": "gemma3_text",
    "google/gemma-4-e4b": "gemma4_text",
    "google/gemma-7b": "gemma",
    "hfl/chinese-alpaca-2-7b": "llama",
    "ibm-granite/granite-3.1-8b-instruct": "granite",
    "meta-llama/Llama-2-13b-chat-hf": "llama",
    "meta-llama/Llama-2-7b-chat-hf": "llama",
    "microsoft/phi-2": "phi",
    "microsoft/phi-4": "phi3",
    "mistralai/Mistral-Small-4-119B-2603": "mistral4",
    "moonshotai/Kimi-VL-A3B-Instruct": "deepseek_v3",
    "zai-org/GLM-4.7-FP8": "glm4_moe",
    "zai-org/GLM-Z1-32B-0414": "glm4",
    "zai-org/GLM-Z1-Rumination-32B-0414": "glm4",
}


@pytest.fixture(scope="module")
def shapes(corpora: Path) -> dict[str, dict[str, Any]]:
    text = (corpora / "engine-reports" / "shapes.yaml").read_text("utf-8")
    loaded: dict[str, dict[str, Any]] = yaml.safe_load(text)
    return loaded


def config_of(name: str, shape: dict[str, Any]) -> dict[str, Any] | None:
    """The shape as a config.json, or None where it has not enough facts."""
    model_type = MODEL_TYPES.get(name, shape.get("model_type"))
    if model_type is None:
        return None
    config = shape | {"model_type": model_type}
    counts = config.pop("layer_types", None)
    if counts is not None and "full_attention_interval" not in config:
        # The shapes have counts alone; the order does not bear on what is cached.
        kinds = sorted(counts.items(), reverse=True)
        config["layer_types"] = [kind for kind, count in kinds for _ in range(count)]
    return config


def as_stated(layers: Layers, stated: dict[str, Any]) -> dict[str, Any]:
    """Those facts of a layout that a shape states too, under its names."""
    found: dict[str, Any] = {}
    for key in stated:
        if key == "kind":
            found[key] = next(kind for kind, cls in CLASSES.items() if type(layers) is cls)
        else:
            name = "chunk" if (key, type(layers)) == ("window", ChunkedAttention) else key
            found[key] = getattr(layers, NAMES.get(name, name))
    return found


def test_shapes_with_enough_facts_give_the_layers_that_engines_cached(
    shapes: dict[str, dict[str, Any]],
) -> None:
    checked = 0
    for name, shape in shapes.items():
        config = config_of(name, shape)
        if config is None:
            continue
        stated = shape["kv_layers"]
        layers = cached_layers(config).layers
        assert len(layers) == len(stated), name
        assert [as_stated(*pair) for pair in zip(layers, stated, strict=True)] == stated, name
        checked += 1
    assert checked >= 45
