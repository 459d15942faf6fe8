"""SGLang: the log of a server that starts, one row a start.

"GB" in it is 2**30 bytes: sglang/srt/utils, `get_available_gpu_memory` divides by `1 << 30`, and
sglang/srt/mem_cache/memory_pool.py has `GB = 1024 * 1024 * 1024` (read in 0.4.0, 0.4.6 and 0.5.6).
Each rank prints what loading the weights took and each pool that it allots; rank 0 alone prints
`max_total_num_tokens`. Pools fill what memory is left, so their size is stated and no figure.
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
    listed,
    of_a_token,
    over_ranks,
    settings_in,
    whole,
)
from upheld.measured.reading import AxisValue, Figure, Reading, Row
from upheld.records.finding import Place

NAME = "sglang-startup-log"
TOOL = "SGLang"
TITLE = "SGLang: start-up log, text"

# [2026-02-26 16:41:18 DP0 TP2] …; without ranks where there is one process.
_LINE = re.compile(
    r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?P<rank>(?: [A-Z]{2,8}\d{1,4}){0,4})\] (?P<says>.*)"
)
_ARGUMENTS = re.compile(r"server_args=ServerArgs\((?P<arguments>.*)")
_NUMBERS = {
    "weights": re.compile(
        r"Load weight end\. (?:elapsed=[\d.]+ s, )?type=(?P<type>\w{1,80}), "
        r"(?:dtype=(?P<dtype>[\w.]{1,40}), )?.{0,200}?"
        rf"avail mem={NUMBER} GB(?:, mem usage=(?P<value>-?{NUMBER}) GB)?"
    ),
    "pool": re.compile(
        r"KV Cache is allocated\. (?:dtype: (?P<dtype>[\w.]{1,40}), )?"
        r"#tokens: (?P<tokens>\d{1,12}), "
        rf"(?:K size: (?P<k>{NUMBER}) GB, V size: (?P<v>{NUMBER}) GB"
        rf"|KV size: (?P<kv>{NUMBER}) GB)"
    ),
    "states": re.compile(
        r"Mamba Cache is allocated\. (?:max_mamba_cache_size: (?P<slots>\d{1,9}), )?"
        rf"conv_state size: (?P<conv>{NUMBER})GB, ssm_state size: (?P<ssm>{NUMBER})GB"
    ),
    "tokens": re.compile(r"\bmax_total_num_tokens=(?P<value>\d{1,12})\b"),
    "length": re.compile(r"\bmax_total_num_tokens=.{1,300}\bcontext_len=(?P<value>\d{1,9})\b"),
    "requests": re.compile(
        r"\bmax_total_num_tokens=.{1,300}\bmax_running_requests=(?P<value>\d{1,9})\b"
    ),
    "cache_dtype": re.compile(r"Using KV cache dtype: (?P<dtype>[\w.]{1,40})"),
}
_FAILED = re.compile(r"Not enough memory\. Please try to increase --mem-fraction-static")
_AXES = (
    "model", "model_revision", "engine", "engine_version", "weight_dtype", "kv_cache_dtype",
    "device", "device_count", "tensor_parallel", "max_model_len", "prefix_caching",
    "speculative_decoding",
)  # fmt: skip


def recognise(content: Content) -> bool:
    """Text with a line in SGLang's log form that says what the weights or a pool take."""
    if not is_text(content):
        return False
    if not any(words in content.text for words in ("Load weight end.", "KV Cache is allocated.")):
        return False
    return any(
        _NUMBERS[kind].search(says)
        for _, _, says in _lines(content)
        for kind in ("weights", "pool")
    )


def read(content: Content) -> Reading:
    """One row a start. A log that begins later than its start has a row without settings."""
    starts: list[Start] = []
    for place, rank, says in _lines(content):
        arguments = _ARGUMENTS.search(says)
        if arguments:
            starts.append(Start(place, settings_in(arguments["arguments"])))
        elif not starts:
            starts.append(Start(place))
        starts[-1].take(_NUMBERS, says, rank=rank)
        if starts[-1].failed is None and _FAILED.search(says):
            starts[-1].failed = (place, "no memory is left for the KV cache")
    if len(starts) > 1 and starts[0].empty:
        del starts[0]
    rows = tuple(
        _row(start, f"start {number}" if len(starts) > 1 else None)
        for number, start in enumerate(starts, start=1)
    )
    return Reading(rows)


def _lines(content: Content) -> Iterator[tuple[Place, str, str]]:
    for number, plain in lines_of(content):
        found = _LINE.search(plain)
        if found:
            yield Place(content.path, number), found["rank"].strip(), found["says"]
        elif _FAILED.search(plain):  # a traceback's last line stands alone
            yield Place(content.path, number), "", plain


def _row(start: Start, case: str | None) -> Row:
    figures: list[Figure] = []
    if weights := _weights_of_ranks(start):
        drafted = len(start.printed["weights"]) > len(weights)
        note = "with those of a draft model" if drafted else None
        figures.append(over_ranks("memory.weights", "GiB", weights, "most", note))
    one_pool = _is_one_pool_a_rank(start)
    tokens = start.numbers("tokens") or (start.numbers("pool", "tokens") if one_pool else [])
    if tokens:
        figures.append(over_ranks("capacity.tokens", "tokens", tokens, "fewest"))
    if one_pool and (figure := _of_a_token(start)) is not None:
        figures.append(figure)
    envelope = _envelope(start)
    return Row(
        case=case,
        place=start.at,
        figures=tuple(figures),
        envelope=envelope,
        stated=_stated(start),
        not_stated=tuple(axis for axis in _AXES if axis not in envelope),
        findings=findings_of(start, "pool", "tokens"),
        startup=start.startup("sglang"),
    )


def _weights_of_ranks(start: Start) -> list[Printed]:
    """What loading took on each rank: a draft model is loaded after the model, on the same rank."""
    by_rank: dict[str, list[Printed]] = {}
    for line in start.printed.get("weights", ()):
        if "value" in line:
            by_rank.setdefault(line["rank"], []).append(Printed.of(line["value"]))
    sums = [Printed.sum(loads) for loads in by_rank.values()]
    # A draft model that shares tensors may free more than it takes.
    return [each for each in sums if each.value > 0]


def _is_one_pool_a_rank(start: Start) -> bool:
    ranks = [line["rank"] for line in start.printed.get("pool", ())]
    return len(ranks) == len(set(ranks)) and "states" not in start.printed


def _of_a_token(start: Start) -> Figure | None:
    """A pool's bytes over its rows, one page more than its tokens; None without a page's size."""
    page = whole(start.settings.get("page_size"))
    pools = start.printed.get("pool", ())
    if page is None or not pools:
        return None
    first = pools[0]
    parts = [Printed.of(first[name]) for name in ("k", "v", "kv") if name in first]
    rows = int(first["tokens"]) + page
    return of_a_token(parts, 2**30, rows, "a pool's printed size over its tokens and one page")


def _envelope(start: Start) -> dict[str, AxisValue]:
    axes: dict[str, AxisValue] = {"engine": "SGLang"}
    settings = start.settings
    if settings.get("model_path", "None") != "None":
        axes["model"] = settings["model_path"]
    if settings.get("revision", "None") != "None":
        axes["model_revision"] = settings["revision"]
    loaded = start.printed.get("weights", [{}])[0]
    # The dtype that the model computes in is that of its weights where nothing quantises them.
    plain = settings.get("quantization") == "None"
    dtype = DTYPES.get(loaded.get("dtype") or settings.get("dtype", ""))
    if dtype is not None and plain:
        axes["weight_dtype"] = dtype
    cache = _cache_dtype(start, dtype if plain else None)
    if cache is not None:
        axes["kv_cache_dtype"] = cache
    ranks = whole(settings.get("tp_size"))
    if ranks is not None:
        axes["tensor_parallel"] = ranks
        # With attention that is data parallel the replicas share the ranks.
        shared = settings.get("enable_dp_attention") == "True"
        replicas = 1 if shared else whole(settings.get("dp_size")) or 1
        axes["device_count"] = ranks * (whole(settings.get("pp_size")) or 1) * replicas
    lengths = {int(each.value) for each in start.numbers("length")}
    if len(lengths) == 1:
        (axes["max_model_len"],) = lengths
    radix = settings.get("disable_radix_cache")
    if radix in ("True", "False"):
        axes["prefix_caching"] = radix == "False"
    if settings.get("speculative_algorithm") == "None":
        axes["speculative_decoding"] = "none"
    return axes


def _cache_dtype(start: Start, computed: str | None) -> str | None:
    """As a pool says, the line before it, or the argument; `auto` is what the model computes in."""
    for kind in ("pool", "cache_dtype"):
        for line in start.printed.get(kind, ()):
            if "dtype" in line:
                return DTYPES.get(line["dtype"])
    argument = start.settings.get("kv_cache_dtype")
    if argument == "auto":
        return computed
    return DTYPES.get(argument or "")


def _stated(start: Start) -> dict[str, str]:
    stated = {
        name: start.settings[name]
        for name in ("quantization", "page_size", "mem_fraction_static", "dp_size", "pp_size")
        if start.settings.get(name, "None") != "None"
    }
    if requests := start.numbers("requests"):
        stated["max_running_requests"] = listed(requests)
    if weights := start.printed.get("weights"):
        stated["architecture"] = weights[0]["type"]
    pools = [_pool(line) for line in start.printed.get("pool", ())]
    if pools:
        stated["kv_cache_pools"] = "; ".join(dict.fromkeys(pools))
    states = [_states(line) for line in start.printed.get("states", ())]
    if states:
        stated["state_pools"] = "; ".join(dict.fromkeys(states))
    return stated


def _pool(line: dict[str, str]) -> str:
    size = f"{line['kv']} GiB" if "kv" in line else f"K {line['k']} and V {line['v']} GiB"
    return f"{int(line['tokens']):,} tokens in {size}"


def _states(line: dict[str, str]) -> str:
    slots = f"{int(line['slots']):,} sequences in " if "slots" in line else ""
    return f"{slots}convolution {line['conv']} and state {line['ssm']} GiB"
