"""Every layout that arithmetic knows can be listed, and is the same when it is read back."""

from __future__ import annotations

import pytest

from upheld.arithmetic.cache import KINDS
from upheld.arithmetic.layouts import Layers
from upheld.arithmetic.layouts.chunked import ChunkedAttention
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention
from upheld.arithmetic.layouts.state import GatedDeltaNet, Mamba1, Mamba2, ShortConvolution
from upheld.importers.layers import listed
from upheld.records.model import CachedLayers

EACH: dict[str, Layers] = {
    "full": FullAttention(2, 3, 5, 7),
    "sliding": SlidingAttention(2, 3, 5, 7, 11),
    "chunked": ChunkedAttention(2, 3, 5, 7, 11),
    "latent": LatentAttention(2, 3, 5, 7),
    "gated_delta_net": GatedDeltaNet(2, 3, 5, 7, 11, 13),
    "mamba2": Mamba2(2, 3, 5, 7, 11, 13),
    "mamba": Mamba1(2, 3, 5, 7),
    "short_convolution": ShortConvolution(2, 3, 5),
}


def test_every_kind_is_here() -> None:
    assert set(EACH) == set(KINDS)


@pytest.mark.parametrize("kind", EACH)
def test_each_kind_reads_back(kind: str) -> None:
    item = listed(EACH[kind])
    assert item["kind"] == kind
    read = CachedLayers.model_validate({field: str(value) for field, value in item.items()})
    assert KINDS[kind](read) == EACH[kind]


def test_no_indexer_is_left_out() -> None:
    assert "index_dim" not in listed(LatentAttention(2, 3, 5))
