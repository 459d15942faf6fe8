"""vLLM: the log of an engine that starts, V0 and V1, one row a start.

What it prints of memory: the weights of each rank after loading, the tokens that its KV cache
holds, and how many requests of the context limit that is. GB in older lines is 2**30 bytes too
(vllm/worker/model_runner.py, `load_model`; vllm/v1/core/kv_cache_utils.py).
The memory left for the cache is stated and no figure: it is the pool, not what a load needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from upheld.measured.content import Content
from upheld.measured.engine_log import (
    DTYPES,
    NUMBER,
    Printed,
    Start,
    findings_of,
    is_text,
    lines_of,
    listed,
    over_ranks,
    settings_in,
    whole,
)
from upheld.measured.reading import AxisValue, Figure, Reading, Row
from upheld.records.finding import Place
from upheld.records.units import format_number

NAME = "vllm-startup-log"
TOOL = "vLLM"
TITLE = "vLLM: start-up log, text"

# INFO 04-29 01:34:48 [core.py:58] …, without brackets before 0.8; prefixes name rank and process.
_LINE = re.compile(
    r"\b(?:INFO|WARNING|ERROR) \d\d-\d\d \d\d:\d\d:\d\d \[?[\w./-]{1,120}:\d+\]? (?P<says>.*)"
)

_START = re.compile(
    r"Initializing an? (?P<generation>V0 |V1 )?LLM engine \((?:version=)?v(?P<version>[\w.+-]+)\)"
    r" with config: (?P<config>.*)"
)
_NUMBERS = {
    "weights": re.compile(
        rf"(?:Model loading|Loading model weights) took (?P<value>{NUMBER}) ?Gi?B\b"
    ),
    "tokens": re.compile(r"GPU KV cache size: (?P<value>\d[\d,]{0,20}) tokens"),
    "sequences": re.compile(
        r"Maximum concurrency for (?P<length>\d[\d,]{0,12}) tokens per request: "
        rf"(?P<value>{NUMBER})x"
    ),
    "available": re.compile(rf"Available KV cache memory: (?P<value>{NUMBER}) ?GiB"),
    "blocks": re.compile(
        r"# (?:GPU|cuda) blocks: (?P<value>\d{1,12})\b(?:, # CPU blocks: (?P<cpu>\d{1,12})\b)?"
    ),
    "attention_block": re.compile(r"Setting attention block size to (?P<value>\d{1,6}) tokens"),
}
_BATCHED = re.compile(r"max_num_batched_tokens=(?P<value>\d{1,9})\b")
_FAILED = re.compile(
    r"(?:ValueError: )?(?:No available memory for the cache blocks"
    r"|To serve at least one request with the model)"
)

_AXES = (
    "model", "model_revision", "engine", "engine_version", "weight_dtype", "kv_cache_dtype",
    "device", "device_count", "tensor_parallel", "max_model_len", "prefix_caching",
    "speculative_decoding",
)  # fmt: skip


def recognise(content: Content) -> bool:
    """Text that holds a line in vLLM's log form which says what the weights or the cache take."""
    if not is_text(content):
        return False
    # Cheap to rule out: most text has none of these words.
    if not any(words in content.text for words in (" took ", "KV cache size", "Maximum concurr")):
        return False
    return any(
        _NUMBERS[kind].search(says) for _, says in _lines(content) for kind in ("weights", "tokens")
    )


def read(content: Content) -> Reading:
    """One row a start. A log that begins later than its start has a row without settings."""
    starts: list[Start] = []
    for place, says in _lines(content):
        begins = _START.search(says)
        if begins:
            starts.append(Start(place, _settings(begins)))
        elif not starts:
            starts.append(Start(place))
        _take(starts[-1], says, place)
    if starts and "engine_version" not in starts[0].settings and _empty(starts[0]):
        del starts[0]
    rows = tuple(
        _row(start, f"start {number}" if len(starts) > 1 else None)
        for number, start in enumerate(starts, start=1)
    )
    versions = {start.settings.get("engine_version") for start in starts}
    return Reading(rows, versions.pop() if len(versions) == 1 else None)


def _empty(start: Start) -> bool:
    return not any(kind in start.printed for kind in ("weights", "tokens", "sequences"))


def _lines(content: Content) -> Iterator[tuple[Place, str]]:
    for number, plain in lines_of(content):
        found = _LINE.search(plain)
        if found:
            yield Place(content.path, number), found["says"]
        elif _FAILED.search(plain):  # a traceback's last line stands alone
            yield Place(content.path, number), plain


def _settings(begins: re.Match[str]) -> dict[str, str]:
    """`name=value` pairs up to the nested objects, whose own names must not be taken for these."""
    settings = settings_in(begins["config"].partition("compilation_config=")[0])
    settings["engine_version"] = begins["version"]
    # An engine that names no generation is the only one that there was.
    settings["generation"] = (begins["generation"] or "").strip()
    return settings


def _take(start: Start, says: str, place: Place) -> None:
    start.take(_NUMBERS, says)
    if found := _BATCHED.search(says):
        start.settings.setdefault("max_num_batched_tokens", found["value"])
    if start.failed is None and _FAILED.search(says):
        start.failed = (place, "the KV cache does not hold one request of full context")


def _row(start: Start, case: str | None) -> Row:
    figures: list[Figure] = []
    if weights := start.numbers("weights"):
        figures.append(over_ranks("memory.weights", "GiB", weights, "most"))
    if tokens := start.numbers("tokens"):
        figures.append(over_ranks("capacity.tokens", "tokens", tokens, "fewest"))
    if sequences := start.numbers("sequences"):
        figures.append(_whole_sequences(sequences))
    envelope = _envelope(start)
    return Row(
        case=case,
        place=start.at,
        figures=tuple(figures),
        envelope=envelope,
        stated=_stated(start),
        not_stated=tuple(axis for axis in _AXES if axis not in envelope),
        findings=findings_of(start, "tokens", "sequences"),
        startup=start.startup("vllm"),
    )


def _whole_sequences(printed: list[Printed]) -> Figure:
    """Requests of full context: the whole part of how many times over the context limit fits."""
    fewest = min(printed, key=lambda each: each.value)
    whole = Fraction(int(fewest.value))
    # 1.996 is printed as 2.00, and is one whole sequence.
    rounding = Fraction(1) if fewest.value - whole < fewest.rounding else Fraction(0)
    note = f"whole ones of {format_number(fewest.value, 12)} that the log prints"
    return Figure(
        "capacity.sequences", whole, "sequences", "reported", fewest.value, note, rounding
    )


def _envelope(start: Start) -> dict[str, AxisValue]:
    axes: dict[str, AxisValue] = {"engine": "vLLM"}
    settings = start.settings
    if "engine_version" in settings:
        axes["engine_version"] = settings["engine_version"]
    if "model" in settings:
        axes["model"] = settings["model"]
    if settings.get("revision", "None") != "None":
        axes["model_revision"] = settings["revision"]
    dtype = DTYPES.get(settings.get("dtype", ""))
    quantised = settings.get("quantization", "None") != "None"
    if dtype is not None and not quantised:
        axes["weight_dtype"] = dtype
    cache = settings.get("kv_cache_dtype")
    if cache is not None and cache != "auto":
        axes["kv_cache_dtype"] = "fp8" if cache.startswith("fp8") else cache
    elif cache == "auto" and dtype is not None and not quantised:
        axes["kv_cache_dtype"] = dtype
    ranks = whole(settings.get("tensor_parallel_size"))
    if ranks is not None:
        axes["tensor_parallel"] = ranks
        stages = whole(settings.get("pipeline_parallel_size")) or 1
        axes["device_count"] = ranks * stages
    length = whole(settings.get("max_seq_len"))
    lengths = {int(each.value) for each in start.numbers("sequences", "length")}
    if length is None and len(lengths) == 1:
        (length,) = lengths
    if length is not None:
        axes["max_model_len"] = length
    caching = settings.get("enable_prefix_caching")
    if caching in ("True", "False"):
        axes["prefix_caching"] = caching == "True"
    if settings.get("speculative_config") == "None":
        axes["speculative_decoding"] = "none"
    return axes


def _stated(start: Start) -> dict[str, str]:
    stated = {
        name: start.settings[key]
        for name, key in (
            ("quantization", "quantization"),
            ("enforce_eager", "enforce_eager"),
            ("data_parallel", "data_parallel_size"),
        )
        if start.settings.get(key, "None") != "None"
    }
    weights = start.numbers("weights")
    for name, printed, unit in (
        ("available_kv_cache_memory", start.numbers("available"), " GiB"),
        ("gpu_blocks", start.numbers("blocks"), ""),
        ("weights_of_each_rank", weights if len(weights) > 1 else [], " GiB"),
    ):
        if printed:
            stated[name] = listed(printed, unit)
    return stated
