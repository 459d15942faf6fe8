from __future__ import annotations

import pytest

from records.record_texts import TEXTS, changed, only_finding, record_in
from upheld.records.model import Model


def listed(*lines: str) -> str:
    parts = "".join(f"  - {{{line}}}\n" for line in lines)
    return changed("model", "attention: full", "attention: listed") + f"cached_layers:\n{parts}"


def test_layers_of_several_kinds_are_listed() -> None:
    record = record_in(
        listed(
            "kind: full, layers: 4, kv_heads: 4, k_dim: 128, v_dim: 128",
            "kind: mamba2, layers: 3, conv_kernel: 4, heads: 48, head_dim: 64, state: 8, groups: 1",
            "kind: latent, layers: 1, latent: 512, rope: 64",
        )
    )
    assert isinstance(record, Model)
    assert [each.kind for each in record.cached_layers] == ["full", "mamba2", "latent"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "kind: sliding, layers: 4, kv_heads: 4, k_dim: 128, v_dim: 128",
            "layers of kind sliding need window",
        ),
        ("kind: latent, layers: 4, rope: 64", "layers of kind latent need latent"),
        (
            "kind: latent, layers: 4, latent: 512, rope: 64, window: 9",
            "layers of kind latent have no window",
        ),
    ],
)
def test_a_kind_has_its_own_fields_and_no_others(line: str, message: str) -> None:
    assert only_finding(listed(line))[3] == f"cached_layers[1]: {message}"


def test_an_unknown_kind_is_refused() -> None:
    found = only_finding(listed("kind: slidng, layers: 4"))
    assert found[3:] == ("cached_layers[1].kind can't be 'slidng'", "did you mean sliding?")


@pytest.mark.parametrize(
    "text",
    [
        changed("model", "attention: full", "attention: listed"),
        TEXTS["model"] + "cached_layers: [{kind: latent, layers: 1, latent: 512, rope: 64}]\n",
    ],
)
def test_layers_are_listed_where_the_model_says_so_and_only_there(text: str) -> None:
    message = "cached_layers goes with attention: listed, and only with it"
    assert only_finding(text)[3] == message


MAMBA = "kind: mamba, layers: 4, conv_kernel: 4, channels: 128, state: 16"
ATTENTION = "kind: full, layers: 4, kv_heads: 4, k_dim: 128, v_dim: 128"


def without_heads(text: str) -> str:
    left_out = (
        "num_attention_heads",
        "num_key_value_heads",
        "head_dim",
        "intermediate_size",
        "max_position_embeddings",
    )
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith(left_out))


def test_a_model_without_attention_has_no_heads() -> None:
    record = record_in(without_heads(listed(MAMBA)))
    assert isinstance(record, Model)
    assert record.num_attention_heads is None


@pytest.mark.parametrize("text", [listed(MAMBA, ATTENTION), TEXTS["model"]])
def test_one_with_attention_has_them(text: str) -> None:
    message = only_finding(without_heads(text))[3]
    assert message.startswith(
        "num_attention_heads, num_key_value_heads, head_dim, intermediate_size, "
        "max_position_embeddings: needed of a model with attention"
    )
