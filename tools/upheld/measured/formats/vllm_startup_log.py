"""vLLM: the log of an engine that starts, V0 and V1, one row a start.

What it prints of memory: the weights of each rank after loading, the tokens that its KV cache
holds, and how many requests of the context limit that is. GB in older lines is 2**30 bytes too
(vllm/worker/model_runner.py, `load_model`; vllm/v1/core/kv_cache_utils.py).
The memory left for the cache is stated and no figure: it is the pool, not what a load needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from upheld.measured.content import Content
from upheld.measured.draft import NOT_MEASURED
from upheld.measured.reading import AxisValue, Figure, Reading, Row
from upheld.records.finding import Finding, Place
from upheld.records.units import format_number

NAME = "vllm-startup-log"
TOOL = "vLLM"
TITLE = "vLLM: start-up log, text"

# INFO 04-29 01:34:48 [core.py:58] …, without brackets before 0.8; prefixes name rank and process.
_LINE = re.compile(
    r"\b(?:INFO|WARNING|ERROR) \d\d-\d\d \d\d:\d\d:\d\d \[?[\w./-]{1,120}:\d+\]? (?P<says>.*)"
)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_LONGEST_LINE = 20_000

_START = re.compile(
    r"Initializing an? (?P<generation>V0 |V1 )?LLM engine \((?:version=)?v(?P<version>[\w.+-]+)\)"
    r" with config: (?P<config>.*)"
)
_WEIGHTS = re.compile(
    r"(?:Model loading|Loading model weights) took (?P<value>\d{1,6}(?:\.\d{1,9})?) ?Gi?B\b"
)
_TOKENS = re.compile(r"GPU KV cache size: (?P<value>\d[\d,]{0,20}) tokens")
_SEQUENCES = re.compile(
    r"Maximum concurrency for (?P<length>\d[\d,]{0,12}) tokens per request: "
    r"(?P<value>\d{1,9}(?:\.\d{1,9})?)x"
)
_POOL = re.compile(r"Available KV cache memory: (?P<value>\d{1,6}(?:\.\d{1,9})?) ?GiB")
_BLOCKS = re.compile(r"# (?:GPU|cuda) blocks: (?P<value>\d{1,12})\b")
_FAILED = re.compile(
    r"(?:ValueError: )?(?:No available memory for the cache blocks"
    r"|To serve at least one request with the model)"
)

_SETTING = re.compile(r"(?<![\w'])(?P<name>\w+)=(?P<value>'[^']*'|[^\s,()]+)")
_DTYPES = {"torch.bfloat16": "bf16", "torch.float16": "fp16", "torch.float32": "fp32"}
_AXES = (
    "model", "model_revision", "engine", "engine_version", "weight_dtype", "kv_cache_dtype",
    "device", "device_count", "tensor_parallel", "max_model_len", "prefix_caching",
    "speculative_decoding",
)  # fmt: skip


@dataclass(slots=True)
class _Printed:
    """A number that one line prints; `rounding` is half of its last digit, 0 where it is whole."""

    value: Fraction
    rounding: Fraction


@dataclass(slots=True)
class _Start:
    """What the lines of one start say, in their order."""

    at: Place
    version: str | None = None
    settings: dict[str, str] = field(default_factory=dict)
    weights: list[_Printed] = field(default_factory=list)
    tokens: list[_Printed] = field(default_factory=list)
    sequences: list[_Printed] = field(default_factory=list)
    lengths: set[int] = field(default_factory=set)
    pool: list[_Printed] = field(default_factory=list)
    blocks: list[_Printed] = field(default_factory=list)
    failed: Place | None = None

    @property
    def empty(self) -> bool:
        return not (self.weights or self.tokens or self.sequences)


def recognise(content: Content) -> bool:
    """Text that holds a line in vLLM's log form which says what the weights or the cache take."""
    if content.documents or content.refusal is not None:
        return False
    # Cheap to rule out: most text has none of these words.
    if not any(words in content.text for words in (" took ", "KV cache size", "Maximum concurr")):
        return False
    return any(
        pattern.search(says) for _, says in _lines(content) for pattern in (_WEIGHTS, _TOKENS)
    )


def read(content: Content) -> Reading:
    """One row a start. A log that begins later than its start has a row without settings."""
    starts: list[_Start] = []
    for place, says in _lines(content):
        begins = _START.search(says)
        if begins:
            starts.append(_Start(place, begins["version"], _settings(begins["config"])))
        elif not starts:
            starts.append(_Start(place))
        _take(starts[-1], says, place)
    if starts and starts[0].version is None and starts[0].empty:
        del starts[0]
    rows = tuple(
        _row(start, f"start {number}" if len(starts) > 1 else None)
        for number, start in enumerate(starts, start=1)
    )
    versions = {start.version for start in starts}
    return Reading(rows, versions.pop() if len(versions) == 1 else None)


def _lines(content: Content) -> Iterator[tuple[Place, str]]:
    for number, line in enumerate(content.text.split("\n"), start=1):
        plain = _COLOUR.sub("", line[:_LONGEST_LINE])
        found = _LINE.search(plain)
        if found:
            yield Place(content.path, number), found["says"]
        elif _FAILED.search(plain):  # a traceback's last line stands alone
            yield Place(content.path, number), plain


def _settings(config: str) -> dict[str, str]:
    """`name=value` pairs up to the nested objects, whose own names must not be taken for these."""
    plain = config.partition("compilation_config=")[0]
    settings: dict[str, str] = {}
    for found in _SETTING.finditer(plain):
        settings.setdefault(found["name"], found["value"].strip("'"))
    return settings


def _take(start: _Start, says: str, place: Place) -> None:
    for pattern, values in (
        (_WEIGHTS, start.weights),
        (_TOKENS, start.tokens),
        (_SEQUENCES, start.sequences),
        (_POOL, start.pool),
        (_BLOCKS, start.blocks),
    ):
        found = pattern.search(says)
        if found:
            values.append(_printed(found["value"]))
            if pattern is _SEQUENCES:
                start.lengths.add(int(found["length"].replace(",", "")))
    if start.failed is None and _FAILED.search(says):
        start.failed = place


def _printed(digits: str) -> _Printed:
    places = len(digits.partition(".")[2])
    rounding = Fraction(1, 2 * 10**places) if places else Fraction(0)
    return _Printed(Fraction(digits.replace(",", "")), rounding)


def _row(start: _Start, case: str | None) -> Row:
    figures: list[Figure] = []
    if start.weights:
        heaviest = max(start.weights, key=lambda each: each.value)
        figures.append(_figure("memory.weights", heaviest, "GiB", start.weights, "most"))
    if start.tokens:
        fewest = min(start.tokens, key=lambda each: each.value)
        figures.append(_figure("capacity.tokens", fewest, "tokens", start.tokens, "fewest"))
    if start.sequences:
        figures.append(_whole_sequences(start.sequences))
    envelope = _envelope(start)
    return Row(
        case=case,
        place=start.at,
        figures=tuple(figures),
        envelope=envelope,
        stated=_stated(start),
        not_stated=tuple(axis for axis in _AXES if axis not in envelope),
        findings=_findings(start),
    )


def _figure(name: str, taken: _Printed, unit: str, printed: list[_Printed], which: str) -> Figure:
    different = len({each.value for each in printed}) > 1
    note = f"the {which} of {len(printed)} that ranks or engines print" if different else None
    return Figure(name, taken.value, unit, "reported", taken.value, note, taken.rounding)


def _whole_sequences(printed: list[_Printed]) -> Figure:
    """Requests of full context: the whole part of how many times over the context limit fits."""
    fewest = min(printed, key=lambda each: each.value)
    whole = Fraction(int(fewest.value))
    # 1.996 is printed as 2.00, and is one whole sequence.
    rounding = Fraction(1) if fewest.value - whole < fewest.rounding else Fraction(0)
    note = f"whole ones of {format_number(fewest.value, 12)} that the log prints"
    return Figure(
        "capacity.sequences", whole, "sequences", "reported", fewest.value, note, rounding
    )


def _envelope(start: _Start) -> dict[str, AxisValue]:
    axes: dict[str, AxisValue] = {"engine": "vLLM"}
    if start.version is not None:
        axes["engine_version"] = start.version
    settings = start.settings
    if "model" in settings:
        axes["model"] = settings["model"]
    if settings.get("revision", "None") != "None":
        axes["model_revision"] = settings["revision"]
    dtype = _DTYPES.get(settings.get("dtype", ""))
    quantised = settings.get("quantization", "None") != "None"
    if dtype is not None and not quantised:
        axes["weight_dtype"] = dtype
    cache = settings.get("kv_cache_dtype")
    if cache is not None and cache != "auto":
        axes["kv_cache_dtype"] = "fp8" if cache.startswith("fp8") else cache
    elif cache == "auto" and dtype is not None and not quantised:
        axes["kv_cache_dtype"] = dtype
    ranks = _whole(settings.get("tensor_parallel_size"))
    if ranks is not None:
        axes["tensor_parallel"] = ranks
        stages = _whole(settings.get("pipeline_parallel_size")) or 1
        axes["device_count"] = ranks * stages
    length = _whole(settings.get("max_seq_len"))
    if length is None and len(start.lengths) == 1:
        (length,) = start.lengths
    if length is not None:
        axes["max_model_len"] = length
    caching = settings.get("enable_prefix_caching")
    if caching in ("True", "False"):
        axes["prefix_caching"] = caching == "True"
    if settings.get("speculative_config") == "None":
        axes["speculative_decoding"] = "none"
    return axes


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch(r"[1-9]\d{0,8}", text) else None


def _stated(start: _Start) -> dict[str, str]:
    stated = {
        name: start.settings[key]
        for name, key in (
            ("quantization", "quantization"),
            ("enforce_eager", "enforce_eager"),
            ("data_parallel", "data_parallel_size"),
        )
        if start.settings.get(key, "None") != "None"
    }
    for name, printed, unit in (
        ("available_kv_cache_memory", start.pool, " GiB"),
        ("gpu_blocks", start.blocks, ""),
        ("weights_of_each_rank", start.weights if len(start.weights) > 1 else [], " GiB"),
    ):
        if printed:
            shown = ", ".join(format_number(each.value, 12) for each in printed[:8])
            more = f" and {len(printed) - 8} more" if len(printed) > 8 else ""
            stated[name] = f"{shown}{unit}{more}"
    return stated


def _findings(start: _Start) -> tuple[Finding, ...]:
    if start.failed is not None:
        return (
            Finding(
                NOT_MEASURED,
                start.failed,
                "the engine did not start: the KV cache does not hold one request of full context",
                "its figures are of a deployment that never served; start it with a shorter "
                "context, more memory or more devices",
            ),
        )
    if not start.tokens and not start.sequences:
        return (
            Finding(
                NOT_MEASURED,
                start.at,
                "the log ends, or was cut, before the engine says what its KV cache holds",
                "add the whole log, up to the line after which requests are served",
                "warning",
            ),
        )
    return ()
