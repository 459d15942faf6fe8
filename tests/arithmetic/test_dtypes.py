from __future__ import annotations

from typing import get_args

import pytest

from upheld.arithmetic.dtypes import (
    KV_CACHE_BYTES,
    OF_TORCH,
    WEIGHT_BYTES,
    kv_cache_bytes,
    weight_bytes,
)
from upheld.arithmetic.errors import ShapeError
from upheld.records.deployment import KvCacheDtype, WeightDtype
from upheld.records.model import TorchDtype


def test_every_dtype_that_a_record_may_name_has_a_size() -> None:
    assert tuple(WEIGHT_BYTES) == get_args(WeightDtype)
    assert tuple(KV_CACHE_BYTES) == get_args(KvCacheDtype)
    assert tuple(OF_TORCH) == get_args(TorchDtype)


def test_an_unknown_dtype_names_the_field_and_those_that_are_known() -> None:
    with pytest.raises(ShapeError, match=r"weight_dtype: 'fp5' is none of fp32, bf16"):
        weight_bytes("fp5")
    with pytest.raises(ShapeError, match="kv_cache_dtype: 'int4' is none of"):
        kv_cache_bytes("int4")
