"""Ollama: the log of a server that loads models with its own engine, one row a model loaded.

Sizes are in MiB and GiB with one decimal (format/bytes.go, HumanBytes2; ml/device.go,
BackendMemory.Log). The summary at level INFO is of the load that was committed; those at level
DEBUG are of layouts that were tried. The cache is as large as the load needs: `KvSize` tokens for
all slots together. A model that llama.cpp serves inside Ollama prints llama.cpp's own lines, and
is no log of this format.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from upheld.measured.content import Content
from upheld.measured.engine_log import NUMBER, Printed, Start, findings_of, is_text, lines_of, whole
from upheld.measured.formats import llama_cpp_startup_log
from upheld.measured.reading import AxisValue, Figure, Reading, Row
from upheld.records.finding import Place
from upheld.records.units import UNITS

NAME = "ollama-startup-log"
TOOL = "Ollama"
TITLE = "Ollama: log of models that its own engine loads, text"

# time=2026-02-21T14:14:46.128-06:00 level=INFO source=device.go:245 msg="kv cache" device=CUDA0 …
_LINE = re.compile(r"\btime=\S{10,40} level=INFO source=[\w./-]{1,80}:\d+ (?P<says>msg=.*)")
_SIZE = re.compile(
    r'msg="(?P<what>model weights|kv cache|compute graph)" device=(?P<device>[\w.-]{1,40}) '
    rf'size="(?P<value>{NUMBER}) (?P<unit>[KMG]iB|B)"'
)
_TOTAL = re.compile(r'msg="total memory" size="')
_LOAD = re.compile(
    r'msg=load request="\{Operation:commit .{0,200}?Parallel:(?P<parallel>\d{1,6}) .{0,200}?'
    r"KvSize:(?P<size>\d{1,9}) KvCacheType:(?P<type>[\w.]{0,20}) "
)
_VERSION = re.compile(r"Listening on \S{1,200} \(version (?P<value>[\w.+-]{1,40})\)")
_AXES = (
    "model", "engine", "engine_version", "weight_dtype", "kv_cache_dtype", "device",
    "device_count", "max_model_len",
)  # fmt: skip
_CACHE_TYPES = {"": "fp16", "f16": "fp16", "f32": "fp32"}


def recognise(content: Content) -> bool:
    """Text with Ollama's summary of a load, and no cache of llama.cpp's own."""
    if not is_text(content) or 'msg="model weights"' not in content.text:
        return False
    if llama_cpp_startup_log.recognise(content):
        return False
    return any(_SIZE.search(says) for _, says in _lines(content))


def read(content: Content) -> Reading:
    """One row for each summary, which ends with the total."""
    starts: list[Start] = []
    requested: dict[str, str] = {}
    version: str | None = None
    done = True
    for place, says in _lines(content):
        if found := _VERSION.search(says):
            version = found["value"]
        if found := _LOAD.search(says):
            requested = found.groupdict()
        if _SIZE.search(says):
            if done:
                starts.append(Start(place, dict(requested)))
                done = False
            starts[-1].take({"size": _SIZE}, says)
        elif _TOTAL.search(says):
            done = True
            requested = {}
    rows = tuple(
        _row(start, version, f"load {number}" if len(starts) > 1 else None)
        for number, start in enumerate(starts, start=1)
    )
    return Reading(rows, version)


def _lines(content: Content) -> Iterator[tuple[Place, str]]:
    for number, plain in lines_of(content):
        if found := _LINE.search(plain):
            yield Place(content.path, number), found["says"]


def _row(start: Start, version: str | None, case: str | None) -> Row:
    figures = [
        figure
        for name, what in (("memory.weights", "model weights"), ("memory.kv_cache", "kv cache"))
        if (figure := _on_fullest_device(start, name, what)) is not None
    ]
    envelope = _envelope(start, version)
    return Row(
        case=case,
        place=start.at,
        figures=tuple(figures),
        envelope=envelope,
        stated=_stated(start),
        not_stated=tuple(axis for axis in _AXES if axis not in envelope),
        findings=findings_of(start, "size"),
        startup=start.startup("ollama"),
    )


def _on_fullest_device(start: Start, name: str, what: str) -> Figure | None:
    """The figure of the accelerator that holds most; of the host where there is none."""
    lines = [line for line in start.printed["size"] if line["what"] == what]
    if not lines:
        return None
    on_accelerators = [line for line in lines if line["device"] != "CPU"]
    fullest = max(on_accelerators or lines, key=_bytes)
    printed = Printed.of(fullest["value"])
    note = f"on {fullest['device']}, of {len(lines)} that hold some" if len(lines) > 1 else None
    return Figure(
        name, printed.value, fullest["unit"], "reported", printed.value, note, printed.rounding
    )


def _bytes(line: dict[str, str]) -> Fraction:
    return Fraction(line["value"]) * UNITS[line["unit"]].factor


def _envelope(start: Start, version: str | None) -> dict[str, AxisValue]:
    axes: dict[str, AxisValue] = {"engine": "Ollama"}
    if version is not None:
        axes["engine_version"] = version
    devices = {line["device"] for line in start.printed["size"]} - {"CPU"}
    if devices:
        axes["device_count"] = len(devices)
    size, slots = whole(start.settings.get("size")), whole(start.settings.get("parallel"))
    if size is not None and slots is not None:
        axes["max_model_len"] = size // slots
        kind = start.settings["type"]
        axes["kv_cache_dtype"] = _CACHE_TYPES.get(kind, kind)
    return axes


def _stated(start: Start) -> dict[str, str]:
    stated: dict[str, str] = {}
    for what in ("model weights", "kv cache", "compute graph"):
        sizes = [
            f"{line['device']} {line['value']} {line['unit']}"
            for line in start.printed["size"]
            if line["what"] == what
        ]
        if sizes:
            stated[what.replace(" ", "_")] = ", ".join(sizes)
    if "size" in start.settings:
        stated["kv_size"] = f"{start.settings['size']} tokens"
        stated["parallel"] = start.settings["parallel"]
    return stated
