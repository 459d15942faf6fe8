"""LMDeploy: the size of a block, and the tokens that all blocks hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from upheld.arithmetic.engines import lmdeploy
from upheld.arithmetic.layouts import Layers
from upheld.arithmetic.layouts.full import FullAttention
from upheld.judge.beside.figures import MIB, Check, same_digits


def checks(
    report: Mapping[str, Any], layers: list[Layers], shape: Mapping[str, Any]
) -> Iterator[Check]:
    arguments, reported = report["arguments"], report["reported"]
    full = [each for each in layers if isinstance(each, FullAttention)]
    length = arguments["cache_block_seq_len"]
    policy = int(arguments.get("quant_policy") or 0)
    size = lmdeploy.block_bytes(full, length, policy, arguments.get("tp") or 1)
    if "block_size_mb" in reported:
        yield same_digits("block_size_mb", reported["block_size_mb"], Fraction(size, MIB))
    if "total_tokens" in reported and "max_block_count" in reported:
        tokens = Fraction(reported["max_block_count"].replace(",", "")) * length
        yield same_digits("total_tokens", reported["total_tokens"], tokens)
