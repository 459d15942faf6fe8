"""TensorRT-LLM: the log of an executor that starts, of the C++ runtime and of the PyTorch backend.

"GB" of the weights is 2**30 bytes: `Use … GB for model weights` divides the bytes of a rank's
parameters and buffers by 1024**3 (tensorrt_llm/_torch/pyexecutor/model_loader.py). `Allocated …
GiB for max tokens in paged KV cache (N)` is the whole pool of a rank, so it is stated and no
figure (cpp/tensorrt_llm/batch_manager/kvCacheManager.cpp). The PyTorch backend allots a small
pool first, to see what activations take, and the real one last: the last line counts. What
trtllm-bench prints below such lines is another format's: its file is no log of this one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from upheld.measured.content import Content
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
from upheld.records.finding import Place
from upheld.records.units import format_number

NAME = "tensorrt-llm-startup-log"
TOOL = "TensorRT-LLM"
TITLE = "TensorRT-LLM: start-up log, text"

# [TensorRT-LLM][INFO] …, in some versions with the rank; [02/14/2025-09:38:53] [TRT-LLM] [I] …
_LINE = re.compile(
    r"(?:\[TensorRT-LLM\]\[(?:INFO|WARNING|ERROR)\](?:\[[\w ]{1,12}\])?"
    r"|\[\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d\] \[TRT-LLM\] (?:\[RANK \d{1,4}\] )?\[[A-Z]\]) (?P<says>.*)"
)
_VERSION = re.compile(
    r"\[TensorRT-LLM\] TensorRT[- ]LLM version: (?P<value>[\w.+-]{1,40})"
    r"|Engine version (?P<engine>[\w.+-]{1,40}) found in the config file"
)
_NUMBERS = {
    "weights": re.compile(rf"Use (?P<value>{NUMBER}) GB for model weights"),
    "allocated": re.compile(
        rf"Allocated (?P<gib>{NUMBER}) GiB for max tokens in paged KV cache "
        r"\((?P<tokens>\d{1,12})\)"
    ),
    "allocated_bytes": re.compile(r"Allocate (?P<value>\d{1,15}) bytes for k/v cache"),
    "tokens": re.compile(r"Using (?P<value>\d{1,12}) tokens in paged KV cache"),
    "available": re.compile(
        rf"max tokens in paged kv cache: total: (?P<total>{NUMBER}) GiB, available: "
        rf"(?P<value>{NUMBER}) GiB"
    ),
    "budget": re.compile(
        r"Calculating max num blocks for Self KvCacheManager: "
        r"\{\.allottedPrimaryMemBytes=(?P<value>\d{1,15})\b"
    ),
    "blocks": re.compile(
        r"Number of blocks in KV cache primary pool(?: for windowSize (?P<window>\d{1,9}))?: "
        r"(?P<value>\d{1,12})\b"
        r"|blocks per sequence: \d{1,9} \[window size=(?P<size>\d{1,9})\].{1,80}"
        r"primary blocks=(?P<primary>\d{1,12})\b"
    ),
    "block_size": re.compile(
        r"(?:Number of tokens per block: |tokens per block=)(?P<value>\d{1,6})\b"
    ),
    "length": re.compile(r"(?:\bmax_seq_len=|TRTGptModel maxSequenceLen: )(?P<value>\d{1,9})\b"),
    "requests": re.compile(
        r"(?:\bmax_num_requests=|TRTGptModel maxNumSequences: )(?P<value>\d{1,9})\b"
    ),
    "ranks": re.compile(r"MPI size: (?P<value>\d{1,6}), MPI local size"),
    "cache_dtype": re.compile(r"KV Cache Dtype:\s+(?P<dtype>\w{1,20})"),
    "share": re.compile(
        rf"Both free_?[gG]pu_?[mM]emory_?[fF]raction .{1, 200}?\(to (?P<value>{NUMBER})"
    ),
}
_REUSE = re.compile(r"KV cache block reuse is (?P<value>enabled|disabled)")
# The reprint of LlmArgs: model='…', tensor_parallel_size=2, kv_cache_config=KvCacheConfig(…).
_ARGUMENTS = re.compile(r"(?:LLM Args:|TorchLlmArgs|TrtLlmArgs)(?P<arguments>.*)")
_BENCHMARK = re.compile(r"^= (?:PERFORMANCE OVERVIEW|ENGINE DETAILS)", re.MULTILINE)
_MENTIONED = ("paged KV cache", "for model weights", "KV cache primary pool")
_AXES = (
    "model", "engine", "engine_version", "weight_dtype", "kv_cache_dtype", "device",
    "device_count", "tensor_parallel", "max_model_len", "prefix_caching", "speculative_decoding",
)  # fmt: skip


def recognise(content: Content) -> bool:
    """Text with a line in TensorRT-LLM's log form that says what the weights or the pool take."""
    if not is_text(content) or not any(words in content.text for words in _MENTIONED):
        return False
    if _BENCHMARK.search(content.text):
        return False
    kinds = ("weights", "allocated", "allocated_bytes", "blocks")
    return any(_NUMBERS[kind].search(says) for _, says in _lines(content) for kind in kinds)


def read(content: Content) -> Reading:
    """One row: an executor's log has no line that begins a start, so the last lines count."""
    start: Start | None = None
    for place, says in _lines(content):
        if start is None:
            start = Start(place)
        start.take(_NUMBERS, says)
        if found := _VERSION.search(says):
            start.settings.setdefault("version", found["value"] or found["engine"])
        if found := _REUSE.search(says):
            start.settings["block_reuse"] = found["value"]
        if found := _ARGUMENTS.search(says):
            start.settings = settings_in(found["arguments"]) | start.settings
    assert start is not None, "recognise has seen a line"
    return Reading((_row(start),), start.settings.get("version"))


def _lines(content: Content) -> Iterator[tuple[Place, str]]:
    for number, plain in lines_of(content):
        found = _LINE.search(plain)
        if found:
            yield Place(content.path, number), found["says"]
        elif _VERSION.search(plain) or _NUMBERS["cache_dtype"].search(plain):
            yield Place(content.path, number), plain


def _row(start: Start) -> Row:
    figures: list[Figure] = []
    if weights := start.numbers("weights"):
        figures.append(over_ranks("memory.weights", "GiB", weights, "most"))
    if tokens := start.numbers("allocated", "tokens") or start.numbers("tokens"):
        figures.append(_tokens(tokens))
        if (figure := _of_a_token(start)) is not None:
            figures.append(figure)
    envelope = _envelope(start)
    return Row(
        case=None,
        place=start.at,
        figures=tuple(figures),
        envelope=envelope,
        stated=_stated(start),
        not_stated=tuple(axis for axis in _AXES if axis not in envelope),
        findings=findings_of(start, "allocated", "tokens"),
        startup=start.startup("tensorrt-llm"),
    )


def _tokens(printed: list[Printed]) -> Figure:
    last = printed[-1].value
    several = len({each.value for each in printed}) > 1
    note = f"the last of {len(printed)} pools that the log allots" if several else None
    return Figure("capacity.tokens", last, "tokens", "reported", last, note)


def _of_a_token(start: Start) -> Figure | None:
    """The last pool's bytes over its tokens; None where windows share the pool between them."""
    windows = {line.get("window") or line.get("size") for line in start.printed.get("blocks", ())}
    if len(windows) > 1:
        return None
    pools = start.printed.get("allocated", ())
    sizes = [each["gib"] for each in pools] or [
        each["value"] for each in start.printed.get("allocated_bytes", ())
    ]
    tokens = start.numbers("allocated", "tokens") or start.numbers("tokens")
    if not sizes or not tokens or not tokens[-1].value:
        return None
    unit = 2**30 if pools else 1
    note = "the pool's printed size over its tokens"
    return of_a_token([Printed.of(sizes[-1])], unit, int(tokens[-1].value), note)


def _envelope(start: Start) -> dict[str, AxisValue]:
    axes: dict[str, AxisValue] = {"engine": "TensorRT-LLM"}
    settings = start.settings
    if "version" in settings:
        axes["engine_version"] = settings["version"]
    if settings.get("model", "None") != "None":
        axes["model"] = settings["model"]
    said = {line["dtype"].casefold() for line in start.printed.get("cache_dtype", ())}
    if len(said) == 1:
        dtype = said.pop()
        axes["kv_cache_dtype"] = DTYPES.get(dtype, dtype)
    ranks = start.numbers("ranks")
    if ranks:
        axes["device_count"] = int(ranks[-1].value)
    parallel = whole(settings.get("tensor_parallel_size"))
    if parallel is not None:
        axes["tensor_parallel"] = parallel
        axes.setdefault(
            "device_count", parallel * (whole(settings.get("pipeline_parallel_size")) or 1)
        )
    elif ranks and ranks[-1].value == 1:
        axes["tensor_parallel"] = 1
    if lengths := start.numbers("length"):
        axes["max_model_len"] = int(lengths[-1].value)
    if "block_reuse" in settings:
        axes["prefix_caching"] = settings["block_reuse"] == "enabled"
    return axes


def _stated(start: Start) -> dict[str, str]:
    stated: dict[str, str] = {}
    if pools := start.printed.get("allocated"):
        stated["kv_cache_pool"] = f"{int(pools[-1]['tokens']):,} tokens in {pools[-1]['gib']} GiB"
    sizes = start.numbers("ranks")
    ranks = int(sizes[-1].value) if sizes else 1
    for name, kind, unit in (
        ("tokens_per_block", "block_size", ""),
        ("available_memory", "available", " GiB"),
        ("max_requests", "requests", ""),
    ):
        if printed := start.numbers(kind):
            least = min(each.value for each in printed[-ranks:])
            stated[name] = f"{format_number(least, 12)}{unit}"
    return stated
