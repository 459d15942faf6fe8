from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from arithmetic_examples import DEEPSEEK_LITE, LLAMA_8B, MIXTRAL, Deployment, Model
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.weights import weights


def sizes(model: Model, names: tuple[str, ...], **choices: Any) -> dict[str, int]:
    kept = replace(model, modules_to_not_convert=names)
    found = weights(replace(Deployment(), **choices), kept, 1)
    totals: dict[str, int] = {}
    for _, term in found.walk():
        totals[term.name] = totals.get(term.name, 0) + term.bytes
    return totals


DOWN, DOWN_FP8 = 4096 * 14336 * 2, 4096 * 14336 + 4096 * 4


@pytest.mark.parametrize(
    ("names", "layers"),
    [
        ((), 0),
        (("lm_head", "model.embed_tokens"), 0),
        (("model.layers.3.mlp.down_proj",), 1),
        (("language_model.model.layers.3.mlp.down_proj", "layers.4.mlp.down_proj"), 2),
        (("down_proj",), 32),
        (("re:.*down_proj",), 32),
        (("re:model\\.layers\\.1\\.mlp\\.down_proj$",), 1),
        (("model.layers.1*.mlp.down_proj",), 11),
        (("re:vision_tower.*",), 0),
    ],
)
def test_named_modules_stay_at_16_bits(names: tuple[str, ...], layers: int) -> None:
    found = sizes(LLAMA_8B, names, weight_dtype="fp8")
    assert found["down_proj"] == layers * DOWN + (32 - layers) * DOWN_FP8


def test_names_change_nothing_where_nothing_is_quantised() -> None:
    assert sizes(LLAMA_8B, ("down_proj",)) == sizes(LLAMA_8B, ())


def test_all_of_the_attention_may_be_kept_and_its_absorbed_copy_with_it() -> None:
    found = sizes(DEEPSEEK_LITE, ("self_attn",), weight_dtype="fp8")
    assert found["absorbed kv_b_proj"] == 0
    assert found["kv_b_proj"] == 27 * 4096 * 512 * 2
    assert found["experts.w13"] == 26 * 64 * (2816 * 2048 + 2816 * 4)


def test_experts_are_kept_by_their_name() -> None:
    found = sizes(MIXTRAL, ("re:.*experts.*",), weight_dtype="fp8")
    assert found["experts.w2"] == 32 * 8 * 4096 * 14336 * 2
    assert found["qkv_proj"] == 32 * (6144 * 4096 + 6144 * 4)


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (("model.layers.0.self_attn.q_proj",), "a part of qkv_proj in layer 0"),
        (("re:(a+)+$",), "is not plain enough"),
        (tuple(f"re:{number}.*" for number in range(101)), "101 patterns are more than 100"),
    ],
)
def test_names_that_do_not_work_are_refused(names: tuple[str, ...], problem: str) -> None:
    with pytest.raises(ShapeError, match=f"modules_to_not_convert: .*{problem}"):
        sizes(LLAMA_8B, names, weight_dtype="fp8")
