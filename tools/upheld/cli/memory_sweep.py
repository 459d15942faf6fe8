"""Axes of a sweep as they are typed: `max-num-seqs=1,2,4` or `max-model-len=1024..65536*2`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import click

from upheld.arithmetic.dtypes import KV_CACHE, KV_CACHE_ALIASES
from upheld.arithmetic.sweep import FIELDS, MAX_POINTS
from upheld.cli import quantities
from upheld.records.shorten import shorten

_RANGE = re.compile(r"(\d{1,9})\.\.(\d{1,9})(?:([+*])(\d{1,9}))?")


def axis(text: str) -> tuple[str, list[Any]]:
    """The field and its values, as the type of a click option.

    Raises:
        click.BadParameter: no such field, a value that it can't take, or too many of them.
    """
    name, equals, values = text.partition("=")
    field = name.strip().replace("-", "_")
    if not equals or field not in FIELDS:
        known = ", ".join(each.replace("_", "-") for each in FIELDS)
        raise click.BadParameter(f"{shorten(text)!r} is not NAME=VALUES; names: {known}")
    parts = [part for each in values.split(",") for part in _expanded(each.strip())]
    return field, [_VALUES[field](part) for part in dict.fromkeys(parts)]


def _expanded(text: str) -> list[str]:
    match = _RANGE.fullmatch(text)
    if match is None:
        return [text]
    first, last = int(match[1]), int(match[2])
    sign, by = match[3] or "+", int(match[4] or 1)
    if not 1 <= first <= last or by < (2 if sign == "*" else 1):
        raise click.BadParameter(
            f"{shorten(text)!r} goes nowhere; write FIRST..LAST, +STEP or *FACTOR"
        )
    found = []
    while first <= last:
        found.append(str(first))
        first = first * by if sign == "*" else first + by
        if len(found) > MAX_POINTS:
            raise click.BadParameter(f"{shorten(text)!r} has over {MAX_POINTS:,} values")
    return found


def _dtype(text: str) -> str:
    name = KV_CACHE_ALIASES.get(text, text)
    if name not in KV_CACHE:
        known = ", ".join(KV_CACHE)
        raise click.BadParameter(f"{shorten(text)!r} is no KV cache dtype; known: {known}")
    return name


_VALUES: dict[str, Callable[[str], Any]] = {
    "max_num_seqs": quantities.count,
    "max_model_len": quantities.tokens,
    "tensor_parallel": quantities.count,
    "pipeline_parallel": quantities.count,
    "data_parallel": quantities.count,
    "decode_context_parallel": quantities.count,
    "kv_cache_dtype": _dtype,
    "block_size": quantities.count,
    "gpu_memory_utilization": quantities.share,
}
