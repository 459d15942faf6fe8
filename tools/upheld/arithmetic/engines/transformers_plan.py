"""Hugging Face Transformers as an engine: a DynamicCache of one batch, with nothing held back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from upheld.arithmetic.cache import token_formula
from upheld.arithmetic.dtypes import CacheDtype
from upheld.arithmetic.engines.budgets import ShareOfDevice
from upheld.arithmetic.engines.engine import Engine
from upheld.arithmetic.engines.plan import Need, Start
from upheld.arithmetic.engines.transformers import DEFAULT_VERSION, Run, dynamic_cache
from upheld.arithmetic.engines.whole import WholeSequences
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.layouts import Layers
from upheld.arithmetic.layouts.state import StateLayers
from upheld.records.shorten import shorten
from upheld.records.units import count


@dataclass(frozen=True)
class BatchPlan(WholeSequences):
    """The cache of `generate` for a batch, once the last token has been decoded."""

    dtype: CacheDtype
    version: tuple[int, int]

    def needs(self, sequences: int, tokens: int) -> Sequence[Need]:
        """The memory behind the cache's tensors, of each kind of layer."""
        run = Run(
            batch=sequences,
            prompt=max(1, tokens - 1),
            decoded=1 if tokens > 1 else 0,
            element=self.dtype.element,
            version=self.version,
        )
        return [
            Need(each, found.storage + found.counters, self._words(each, sequences, tokens))
            for each in self.layouts
            for found in [dynamic_cache((each,), run)]
        ]

    def _words(self, layers: Layers, sequences: int, tokens: int) -> str:
        batch = count(sequences, "sequence")
        if isinstance(layers, StateLayers):
            return f"{batch}, states of {count(layers.layers, 'layer')}"
        row = token_formula(layers, self.dtype, 1)
        return f"{batch} × up to {count(tokens, 'token')} × {row}"


def batch_plan(layers: Sequence[Layers], start: Start) -> BatchPlan:
    """A DynamicCache of these layers.

    Raises:
        ShapeError: several devices, or a version whose caches are not known.
    """
    if start.tensor_parallel > 1:
        raise ShapeError("tensor_parallel", "how Transformers shards its caches is not known")
    kept = tuple(each for each in layers if each.layers)
    if not kept:
        raise ShapeError("layers", "no layer has a cache")
    dtype = start.kv_cache_dtype
    attention = [each for each in kept if not isinstance(each, StateLayers)]
    token = int(sum(each.layers * each.token_bytes(dtype) for each in attention))
    return BatchPlan(
        layouts=kept,
        block_size=1,
        block_bytes=token,
        token_bytes=token,
        max_num_seqs=start.max_num_seqs,
        dtype=dtype,
        version=_version(start.engine_version),
    )


def _version(text: str | None) -> tuple[int, int]:
    if text is None:
        return DEFAULT_VERSION
    match = re.match(r"v?(\d{1,9})\.(\d{1,9})", text)
    if match is None:
        raise ShapeError("engine_version", f"{shorten(text)!r} does not begin as 5.24 does")
    return int(match[1]), int(match[2])


TRANSFORMERS = Engine(
    name="transformers",
    title="Transformers",
    kv_cache_dtypes=("fp32", "bf16", "fp16"),
    budget=ShareOfDevice(),
    share="the share of memory",
    default_share=None,
    plan=batch_plan,
)
