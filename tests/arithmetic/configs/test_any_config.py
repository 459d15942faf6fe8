"""Any value in any field is read or refused in words, never a traceback."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from upheld.arithmetic.configs import ConfigError, cached_layers
from upheld.arithmetic.layouts import Layers

CONFIGS = Path(__file__).parents[2] / "corpora" / "configs"
FILES = [json.loads(file.read_text("utf-8")) for file in sorted(CONFIGS.glob("*.json"))]
PARTS = [config.get("text_config", config) for config in FILES]
KEYS = sorted({key for part in PARTS for key in part})

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 80) | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(st.sampled_from(PARTS), st.sampled_from(KEYS), _JSON)
def test_any_value_anywhere(part: dict[str, Any], key: str, value: Any) -> None:
    with suppress(ConfigError):
        found = cached_layers({**part, key: value})
        assert all(_is_whole(each) for each in found.layers)


@given(st.sampled_from(PARTS), st.sampled_from(PARTS), st.lists(st.sampled_from(KEYS)))
def test_facts_of_one_family_in_a_file_of_another(
    part: dict[str, Any], other: dict[str, Any], keys: list[str]
) -> None:
    mixed = part | {key: other[key] for key in keys if key in other}
    with suppress(ConfigError):
        found = cached_layers(mixed)
        assert all(_is_whole(each) for each in found.layers)


def _is_whole(layers: Layers) -> bool:
    optional = ("index_dim", "heads", "qk_nope", "v_head")
    return all(
        isinstance(value, int) and value >= (0 if name in optional else 1)
        for name in layers.__dataclass_fields__
        for value in [getattr(layers, name)]
    )
