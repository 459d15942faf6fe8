from __future__ import annotations

from typing import get_args

import pytest

from upheld.arithmetic.dtypes import (
    KV_CACHE,
    KV_CACHE_ALIASES,
    OF_TORCH,
    WEIGHT_BYTES,
    cache_dtype,
    weight_bytes,
)
from upheld.arithmetic.errors import ShapeError
from upheld.records.deployment import KvCacheDtype, WeightDtype
from upheld.records.model import TorchDtype


def test_every_dtype_that_a_record_may_name_has_a_size() -> None:
    assert tuple(WEIGHT_BYTES) == get_args(WeightDtype)
    assert set(get_args(KvCacheDtype)) == set(KV_CACHE)
    assert tuple(OF_TORCH) == get_args(TorchDtype)


def test_an_unknown_dtype_names_the_field_and_those_that_are_known() -> None:
    with pytest.raises(ShapeError, match=r"weight_dtype: 'fp5' is none of fp32, bf16"):
        weight_bytes("fp5")
    with pytest.raises(ShapeError, match="kv_cache_dtype: 'int3' is none of"):
        cache_dtype("int3")


def test_an_alias_leads_to_a_dtype() -> None:
    assert {cache_dtype(alias).name for alias in KV_CACHE_ALIASES} <= set(KV_CACHE)
    assert cache_dtype("f16") is cache_dtype("fp16")


@pytest.mark.parametrize(
    ("name", "block"), [("q8_0", 34), ("q5_1", 24), ("q5_0", 22), ("q4_1", 20), ("q4_0", 18)]
)
def test_a_ggml_block_of_32_elements_has_its_scales(name: str, block: int) -> None:
    assert cache_dtype(name).head_bytes(32) == block


def test_a_scale_beside_each_head_is_counted_once_a_row() -> None:
    assert cache_dtype("int8_per_token_head").head_bytes(128) == 132
    assert cache_dtype("int4_per_token_head").head_bytes(128) == 68
