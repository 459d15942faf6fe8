"""LMDeploy: the log of an engine that starts, of TurboMind and of the PyTorch engine.

"MB" of a block is 2**20 bytes, cut to whole ones before 0.7 (src/turbomind/models/llama/
BlockManager.cc, read in 0.2.0, 0.6.0 and 0.9.2). TurboMind prints blocks and not tokens: how many
tokens a block has is in the engine's configuration, which the same log has at level INFO. The
PyTorch engine prints its cache's configuration, and keeps reserved blocks for itself
(lmdeploy/pytorch/engine/engine.py). Neither prints what the weights take.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from upheld.measured.content import Content
from upheld.measured.draft import NOT_MEASURED
from upheld.measured.engine_log import (
    DTYPES,
    NUMBER,
    Printed,
    Start,
    findings_of,
    is_text,
    lines_of,
    of_a_token,
    over_ranks,
    settings_in,
    whole,
)
from upheld.measured.reading import AxisValue, Figure, Reading, Row
from upheld.records.finding import Finding, Place

NAME = "lmdeploy-startup-log"
TOOL = "LMDeploy"
TITLE = "LMDeploy: start-up log, text"

# [TM][INFO] … of TurboMind; 2025-08-22 12:04:49,226 - lmdeploy - INFO - engine.py:280 - …
_LINE = re.compile(
    r"\[TM\]\[(?:INFO|WARNING|ERROR)\] (?P<turbomind>.*)"
    r"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} - lmdeploy - [A-Z]+ - (?P<python>.*)"
)
_NUMBERS = {
    "block": re.compile(rf"\[BlockManager\] block_size = (?P<value>{NUMBER}) MB"),
    "blocks": re.compile(r"\[BlockManager\] max_block_count = (?P<value>\d{1,9})\b"),
    "truncated": re.compile(
        r"No enough blocks for `session_len` \(\d{1,12}\), `session_len` truncated to "
        r"(?P<value>\d{1,12})\b"
    ),
}
_CONFIGURATION = re.compile(r"backend_config=(?:Turbomind|Pytorch)EngineConfig\((?P<arguments>.*)")
# The object that "Building CacheEngine with config:" prints on the line after it.
_CACHE = re.compile(r"^CacheConfig\((?P<arguments>.*)")
_AXES = (
    "model", "engine", "engine_version", "weight_dtype", "kv_cache_dtype", "device",
    "device_count", "tensor_parallel", "max_model_len", "prefix_caching",
)  # fmt: skip
_QUANTISED = {"4": "int4", "8": "int8"}


def recognise(content: Content) -> bool:
    """Text with TurboMind's count of blocks, or the cache that the PyTorch engine builds."""
    if not is_text(content):
        return False
    if not any(words in content.text for words in ("[BlockManager]", "CacheConfig(")):
        return False
    return any("blocks" in _one(says, cache).printed for _, says, cache in _lines(content))


def read(content: Content) -> Reading:
    """One row: the ranks of one start print the same lines."""
    start: Start | None = None
    for place, says, cache in _lines(content):
        if start is None:
            start = Start(place)
        line = _one(says, cache)
        # The engine prints its configuration as it was asked for, and then as it is used.
        start.settings |= line.settings
        for kind, numbers in line.printed.items():
            start.printed.setdefault(kind, []).extend(numbers)
    assert start is not None, "recognise has seen a line"
    return Reading((_row(start),))


def _lines(content: Content) -> Iterator[tuple[Place, str, bool]]:
    """Each line's place and text, and whether it is the cache that the PyTorch engine builds."""
    announced = False
    for number, plain in lines_of(content):
        found = _LINE.search(plain)
        if found:
            says = found["turbomind"] or found["python"] or ""
            announced = "Building CacheEngine with config:" in says
            yield Place(content.path, number), says, False
        elif announced and _CACHE.search(plain):
            yield Place(content.path, number), plain, True


def _one(says: str, cache: bool) -> Start:
    """What one line says."""
    line = Start(Place(""))
    line.take(_NUMBERS, says)
    if found := _CONFIGURATION.search(says):
        line.settings = settings_in(found["arguments"])
    if cache and (found := _CACHE.search(says)):
        line.settings = settings_in(found["arguments"])
        blocks = line.settings.get("num_gpu_blocks", "")
        if whole(blocks):
            line.printed["blocks"] = [{"value": blocks}]
    return line


def _row(start: Start) -> Row:
    figures: list[Figure] = []
    length, blocks = _block_length(start), start.numbers("blocks")
    reserved = whole(start.settings.get("num_reserved_gpu_blocks")) or 0
    if length is not None and blocks and min(each.value for each in blocks) > reserved:
        tokens = [Printed((each.value - reserved) * length, Fraction(0)) for each in blocks]
        note = f"blocks of {length:,} tokens that the log prints"
        figures.append(over_ranks("capacity.tokens", "tokens", tokens, "fewest", note))
    block = start.numbers("block")
    if block and block[0].rounding and length is not None:
        note = "a block's printed size over its tokens"
        figures.append(of_a_token(block[:1], 2**20, length, note))
    envelope = _envelope(start)
    return Row(
        case=None,
        place=start.at,
        figures=tuple(figures),
        envelope=envelope,
        stated=_stated(start),
        not_stated=tuple(axis for axis in _AXES if axis not in envelope),
        findings=findings_of(start, "blocks") + _of_length(start, length),
        startup=start.startup("lmdeploy"),
    )


def _of_length(start: Start, length: int | None) -> tuple[Finding, ...]:
    if length is not None:
        return ()
    return (
        Finding(
            NOT_MEASURED,
            start.at,
            "the log does not say how many tokens a block has, so its blocks are no tokens",
            "start the engine at log level INFO, at which it prints its configuration",
            "warning",
        ),
    )


def _block_length(start: Start) -> int | None:
    """Tokens of a block: TurboMind's argument, or the PyTorch engine's."""
    settings = start.settings
    return whole(settings.get("cache_block_seq_len")) or whole(settings.get("block_size"))


def _envelope(start: Start) -> dict[str, AxisValue]:
    axes: dict[str, AxisValue] = {"engine": "LMDeploy"}
    settings = start.settings
    policy = settings.get("quant_policy")
    if policy in _QUANTISED:
        axes["kv_cache_dtype"] = _QUANTISED[policy]
    elif policy == "0" and settings.get("dtype") in DTYPES:
        axes["kv_cache_dtype"] = DTYPES[settings["dtype"]]
    ranks = whole(settings.get("tp"))
    if ranks is not None:
        axes["tensor_parallel"] = ranks
        axes["device_count"] = ranks * (whole(settings.get("dp")) or 1)
    truncated = start.numbers("truncated")
    length = int(truncated[-1].value) if truncated else whole(settings.get("session_len"))
    if length is not None:
        axes["max_model_len"] = length
    caching = settings.get("enable_prefix_caching")
    if caching in ("True", "False"):
        axes["prefix_caching"] = caching == "True"
    return axes


def _stated(start: Start) -> dict[str, str]:
    stated = {
        name: start.settings[name]
        for name in ("cache_max_entry_count", "max_batch_size", "quant_policy")
        if start.settings.get(name, "None") != "None"
    }
    if block := start.printed.get("block"):
        stated["block_size"] = f"{block[0]['value']} MiB"
    if blocks := start.printed.get("blocks"):
        fewest = min(int(each["value"]) for each in blocks)
        stated["blocks"] = f"{fewest:,}"
    if (length := _block_length(start)) is not None:
        stated["tokens_of_a_block"] = f"{length:,}"
    return stated
