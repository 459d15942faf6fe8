"""Layers that a config.json sets apart by their number, as Transformers 5 saves Gemma 4."""

from __future__ import annotations

from typing import Any

import pytest

from upheld.arithmetic.configs import ConfigError, cached_layers
from upheld.arithmetic.layouts.full import FullAttention as Full
from upheld.arithmetic.layouts.sliding import SlidingAttention as Sliding

GEMMA_4 = {
    "model_type": "gemma4_text", "num_hidden_layers": 3, "num_attention_heads": 8, "head_dim": 256,
    "num_key_value_heads": 4, "num_kv_shared_layers": 0, "sliding_window": 512,
    "layer_types": ["sliding_attention", "full_attention", "full_attention"],
}  # fmt: skip


def test_a_layer_has_the_heads_that_are_set_apart_for_it() -> None:
    apart = {"1": {"head_dim": 512}, "2": {"head_dim": 512, "num_key_value_heads": 2}}
    found = cached_layers({**GEMMA_4, "per_layer_config": apart})
    assert found.layers == (
        Full(1, 4, 512, 512),
        Full(1, 2, 512, 512),
        Sliding(1, 4, 256, 256, 512),
    )


def test_it_says_the_same_as_the_older_field() -> None:
    apart = {"1": {"head_dim": 512}, "2": {"head_dim": 512}}
    assert (
        cached_layers({**GEMMA_4, "per_layer_config": apart}).layers
        == cached_layers({**GEMMA_4, "global_head_dim": 512}).layers
    )


def test_a_layer_that_is_not_set_apart_is_as_the_model() -> None:
    found = cached_layers({**GEMMA_4, "per_layer_config": {"1": {"head_dim": 512}}})
    assert Full(1, 4, 256, 256) in found.layers


@pytest.mark.parametrize(
    ("apart", "words"),
    [
        ([1], r"per_layer_config is \[1\]"),
        ({"3": {"head_dim": 512}}, r"per_layer_config\['3'\] is"),
        ({"1": 512}, r"per_layer_config\['1'\] is 512"),
        ({"1": {"sliding_window": 8}}, "'sliding_window', which is not known of one layer"),
        ({"1": {"head_dim": 0}}, "head_dim is 0"),
        ({"1": {"num_key_value_heads": 3}}, "can't share them evenly"),
    ],
)
def test_what_is_not_known_of_a_layer_is_refused(apart: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        cached_layers({**GEMMA_4, "per_layer_config": apart})
