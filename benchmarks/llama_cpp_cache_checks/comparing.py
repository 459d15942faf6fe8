"""What a start printed of its caches beside what arithmetic says, figure by figure, as text.

A figure is exact where the two have the same characters: bytes are written as the engine does,
MiB of 2^20 bytes from a 32-bit float with two decimals. There is no tolerance.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from engine_report_checks.shapes import layers_of
from upheld.arithmetic.dtypes import cache_dtype
from upheld.arithmetic.engines.llama_cpp_caches import (
    Caches,
    Context,
    StateCache,
    TokenCache,
    caches,
)
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.layouts import Layers

_PATTERNS = (
    re.compile(r"llama_context: (?P<name>n_ctx|n_ctx_seq|n_ubatch) += (?P<value>\d+)$"),
    re.compile(r": +\S+ (?P<name>KV buffer|RS buffer) size = +(?P<value>[\d.]+) MiB$"),
    re.compile(
        r"llama_kv_cache: size = +(?P<size>[\d.]+) MiB \( *(?P<cells>\d+) cells, "
        r"+(?P<layers>\d+) layers, +(?P<sequences>\d+)/(?P<streams>\d+) seqs\), "
        r"K \(\w+\): +(?P<k>[\d.]+) MiB, V \(\w+\): +(?P<v>[\d.]+) MiB$"
    ),
    re.compile(
        r"llama_memory_recurrent: size = +(?P<size>[\d.]+) MiB \( *(?P<cells>\d+) cells, "
        r"+\d+ layers, +(?P<sequences>\d+) seqs +\d+ rs_seq\), "
        r"R \(f32\): +(?P<r>[\d.]+) MiB, S \(f32\): +(?P<s>[\d.]+) MiB"
    ),
)
_REFUSED = re.compile(
    r"llama_init_from_model: (?:quantized V cache requires|[KV] cache type|model does not support)"
)
Figure = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One figure: the engine's text, or None where it printed none, and that of arithmetic."""

    name: str
    printed: str | None
    predicted: str | None

    @property
    def exact(self) -> bool:
        """The same characters."""
        return self.printed == self.predicted


def compare(
    run: Mapping[str, Any],
    shape: Mapping[str, Any],
    perturb: Callable[[Layers], Layers] | None = None,
) -> list[Comparison]:
    """All figures of a start, in the order in which they are printed."""
    layers = layers_of(shape)
    if perturb is not None:
        layers = [perturb(each) for each in layers]
    printed = list(printed_figures(run["lines"]))
    predicted = list(predicted_figures(layers, run["settings"]))
    return [
        Comparison((ours or theirs or ("", ""))[0], theirs and theirs[1], ours and ours[1])
        if not (ours and theirs) or ours[0] == theirs[0]
        else Comparison(f"{theirs[0]}, not {ours[0]}", theirs[1], None)
        for theirs, ours in zip_longest(printed, predicted)
    ]


def printed_figures(lines: Sequence[str]) -> Iterator[Figure]:
    """What the lines say, each number under its name; a refusal is one figure."""
    if any(_REFUSED.match(line) for line in lines):
        yield "refused", "yes"
        return
    for line in lines:
        for pattern in _PATTERNS:
            found = pattern.search(line)
            if found and "name" in found.groupdict():
                yield found["name"], found["value"]
            elif found:
                yield from found.groupdict().items()


def predicted_figures(layers: Sequence[Layers], settings: Mapping[str, Any]) -> Iterator[Figure]:
    """The same figures by arithmetic."""
    try:
        context = context_of(settings)
        found = caches(layers, context)
    except ShapeError:
        yield "refused", "yes"
        return
    yield "n_ctx", str(context.tokens)
    yield "n_ctx_seq", str(context.cells)
    yield "n_ubatch", str(context.batch)
    yield from _of_caches(found, context)


def context_of(settings: Mapping[str, Any]) -> Context:
    """The settings as arithmetic takes them."""
    types = {name: cache_dtype(settings[name]) for name in ("k_type", "v_type") if name in settings}
    return Context(**{**settings, **types})


def _of_caches(found: Caches, context: Context) -> Iterator[Figure]:
    for cache in (found.full, found.indexer, found.sliding):
        if cache is not None:
            yield from _of_tokens(cache, context)
    if found.state is not None:
        yield from _of_states(found.state, context)


def _of_tokens(cache: TokenCache, context: Context) -> Iterator[Figure]:
    size = mebibytes(cache.k_bytes + cache.v_bytes)
    if cache.layers:
        yield "KV buffer", size
    yield "size", size
    yield "cells", str(cache.cells)
    yield "layers", str(cache.layers)
    yield "sequences", str(context.n_seq)
    yield "streams", str(cache.streams)
    yield "k", mebibytes(cache.k_bytes)
    yield "v", mebibytes(cache.v_bytes)


def _of_states(cache: StateCache, context: Context) -> Iterator[Figure]:
    size = mebibytes(cache.r_bytes + cache.s_bytes)
    yield "RS buffer", size
    yield "size", size
    yield "cells", str(cache.cells)
    yield "sequences", str(context.n_seq)
    yield "r", mebibytes(cache.r_bytes)
    yield "s", mebibytes(cache.s_bytes)


def mebibytes(size: int) -> str:
    """Bytes in MiB as the engine writes them: a 32-bit float, two decimals."""
    (single,) = struct.unpack("f", struct.pack("f", size))
    return f"{single / 2**20:.2f}"
