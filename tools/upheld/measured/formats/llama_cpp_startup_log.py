"""llama.cpp: the log of a start, its own or inside that of Ollama; one row a context.

What it prints of memory: buffers of the weights and of the caches, each on its device, in MiB of
2**20 bytes (2023 wrote MB and meant the same). Functions were renamed over the years, what they
say stayed: `llm_load_tensors`, then `load_tensors`; `llama_kv_cache_init`,
`llama_kv_cache_unified`, then `llama_kv_cache`; `llama_new_context_with_model`, then
`llama_context`. Of a log of Ollama only models that llama.cpp serves are read here; those of its
own engine are `ollama_startup_log`.
Since 2026 llama-server prints these lines with `--verbose` alone, and tries the settings first with
a model that takes no memory (`--fit`): what it prints of that trial is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from upheld.measured.content import Content
from upheld.measured.draft import NOT_MEASURED
from upheld.measured.engine_log import is_text, lines_of, whole
from upheld.measured.reading import AxisValue, Figure, Reading, Row
from upheld.records.finding import Finding, Place
from upheld.records.units import format_number

NAME = "llama-cpp-startup-log"
TOOL = "llama.cpp"
TITLE = "llama.cpp, its own or inside Ollama: start-up log, text"

_SIZE = r"(?P<value>\d{1,9}(?:\.\d{1,6})?) ?(?P<unit>B|KiB|MiB|MB|GiB)\b"

_WEIGHTS = re.compile(
    rf"\b(?:llm_)?load_tensors: +(?P<device>\S{{1,80}}) (?:model )?buffer size = +{_SIZE}"
)
_CACHE = re.compile(rf"\w: +(?P<device>\S{{1,80}}) (?P<kind>KV|RS) buffer size = +{_SIZE}")
_WHOLE_CACHE = re.compile(
    r"\b(?:kv self size +=|llama_(?P<kind>kv_cache\w{0,20}|memory_recurrent): size =) +" + _SIZE,
    re.IGNORECASE,
)
_DTYPES = re.compile(r"\bK \((?P<k>\w{1,20})\): .{1,40} V \((?P<v>\w{1,20})\):")
_LOADS = re.compile(
    r"\bllama_model_loader: loaded meta data with .{1,80} from (?P<file>.{1,1000}) \(version"
    r"|\bllama\.cpp: loading model from (?P<old_file>.{1,1000})"
)
_SETTING = re.compile(
    r"\bllama_(?:context|new_context_with_model|init_from_model|model_load_internal): "
    r"(?P<name>n_ctx|n_ctx_seq|n_ctx_per_seq|n_seq_max|kv_unified|flash_attn) += "
    r"(?P<value>\w{1,20})\s*$"
)
_MODEL = re.compile(
    r"\b(?:print_info|llm_load_print_meta): (?P<name>general\.name|file type|model ftype)"
    r" += (?P<value>\S.{0,200})"
)
_TRIAL = re.compile(r"\bprint_info: no_alloc += 1$")
_BUILD = re.compile(
    r"\b(?:build|version)(?: =|:)? (?P<number>\d{3,6}) \((?:[0-9a-f]{6,40}|unknown)\)"
)
_OLLAMA = re.compile(r"\blevel=[A-Z]+ source=\w+\.go:\d+ msg=")
_OLLAMA_VERSION = re.compile(r"\bListening on \S+ \(version (?P<version>[\w.+-]{1,40})\)")
_FAILED = re.compile(
    r"\b(?:failed to create context|failed to initialize the context|error loading model"
    r"|exiting due to model loading error|quantized V cache requires"
    r"|failed to allocate (?:buffer for (?:kv|rs) cache|compute (?:pp )?buffers))"
)

_UNITS = {"B": 0, "KiB": 1, "MiB": 2, "MB": 2, "GiB": 3}
# A buffer of a device may lie apart for how it is used; it is still on that device.
_USE = re.compile(r"_(?:Mapped|Split|Private)$")
_HOST = re.compile(r"CPU|.*_Host$|BLAS$")
_CACHE_DTYPES = {"f32": "fp32", "f16": "fp16"}
_WEIGHT_DTYPES = {"all F32": "fp32", "F16": "fp16", "BF16": "bf16"}
_AXES = (
    "model", "model_revision", "engine", "engine_version", "weight_dtype", "kv_cache_dtype",
    "device", "device_count", "max_model_len", "prefix_caching", "speculative_decoding",
)  # fmt: skip
_HOST_NAME = "the host"


@dataclass(slots=True)
class _Size:
    """Bytes of one or more buffers; `rounding` is what their last digits leave open."""

    value: Fraction = Fraction(0)
    rounding: Fraction = Fraction(0)

    def add(self, other: _Size) -> None:
        self.value += other.value
        self.rounding += other.rounding


@dataclass(slots=True)
class _Model:
    """A model that was loaded, for all the contexts that are made with it."""

    facts: dict[str, str] = field(default_factory=dict)
    weights: dict[str, _Size] = field(default_factory=dict)
    trial: bool = False


@dataclass(slots=True)
class _Context:
    """What the lines of one context say, in their order."""

    at: Place
    model: _Model
    settings: dict[str, str] = field(default_factory=dict)
    buffers: dict[str, _Size] = field(default_factory=dict)
    whole: _Size | None = None
    dtypes: set[tuple[str, str]] = field(default_factory=set)
    has_tokens: bool = False
    failed: Place | None = None


@dataclass(slots=True)
class _Engine:
    """Which program wrote the log."""

    builds: set[str] = field(default_factory=set)
    ollama: bool = False
    ollama_versions: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        return "Ollama" if self.ollama else "llama.cpp"

    @property
    def build(self) -> str | None:
        """The one build of llama.cpp that the log names."""
        return next(iter(self.builds)) if len(self.builds) == 1 else None

    @property
    def version(self) -> str | None:
        """The build of llama.cpp, or the version of Ollama where that wrote the log."""
        if not self.ollama:
            return self.build
        return next(iter(self.ollama_versions)) if len(self.ollama_versions) == 1 else None


def recognise(content: Content) -> bool:
    """Text that holds a line of llama.cpp on what weights or a cache take."""
    if not is_text(content) or not any(
        words in content.text for words in ("buffer size", "self size", "llama_")
    ):
        return False
    return any(
        pattern.search(line)
        for _, line in lines_of(content)
        for pattern in (_WEIGHTS, _CACHE, _WHOLE_CACHE)
    )


def read(content: Content) -> Reading:
    """One row a context; a model that was loaded, and no context made, has a row of its own."""
    engine = _Engine()
    contexts: list[_Context] = []
    for number, line in lines_of(content):
        _take_engine(engine, line)
        _take(contexts, line, Place(content.path, number))
    contexts = [each for each in contexts if _says_something(each)]
    rows = tuple(
        _row(each, engine, f"context {number}" if len(contexts) > 1 else None)
        for number, each in enumerate(contexts, start=1)
    )
    return Reading(rows, engine.build)


def _take_engine(engine: _Engine, line: str) -> None:
    if found := _BUILD.search(line):
        engine.builds.add(f"b{found['number']}")
    if _OLLAMA.search(line):
        engine.ollama = True
    if found := _OLLAMA_VERSION.search(line):
        engine.ollama_versions.add(found["version"])


def _take(contexts: list[_Context], line: str, place: Place) -> None:
    if found := _LOADS.search(line):
        file = found["file"] or found["old_file"]
        contexts.append(_Context(place, _Model({"file": re.split(r"[/\\]", file)[-1]})))
        return
    if found := _SETTING.search(line):
        _context_for(contexts, found["name"], place).settings[found["name"]] = found["value"]
        return
    context = contexts[-1] if contexts else _Context(place, _Model())
    # One line may say a size and the dtypes.
    taken = [_take_sizes(context, line), _take_words(context, line, place)]
    if any(taken) and not contexts:
        contexts.append(context)


def _context_for(contexts: list[_Context], setting: str, place: Place) -> _Context:
    """The context that a setting is of: a new one where the last has that setting already."""
    if not contexts:
        contexts.append(_Context(place, _Model()))
    elif setting in contexts[-1].settings or contexts[-1].buffers:
        contexts.append(_Context(place, contexts[-1].model))
    return contexts[-1]


def _take_sizes(context: _Context, line: str) -> bool:
    if found := _WEIGHTS.search(line):
        _add(context.model.weights, found)
    elif found := _CACHE.search(line):
        _add(context.buffers, found)
        context.has_tokens |= found["kind"] == "KV"
    elif found := _WHOLE_CACHE.search(line):
        context.whole = context.whole or _Size()
        context.whole.add(_size(found))
        context.has_tokens |= found["kind"] != "memory_recurrent"
    else:
        return False
    return True


def _take_words(context: _Context, line: str, place: Place) -> bool:
    if found := _DTYPES.search(line):
        context.dtypes.add((found["k"], found["v"]))
    elif found := _MODEL.search(line):
        if found["value"] != "n/a":
            context.model.facts[found["name"]] = found["value"]
    elif _TRIAL.search(line):
        context.model.trial = True
    elif _FAILED.search(line):
        context.failed = context.failed or place
    else:
        return False
    return True


def _add(sizes: dict[str, _Size], found: re.Match[str]) -> None:
    sizes.setdefault(_device(found["device"]), _Size()).add(_size(found))


def _device(buffer: str) -> str:
    """The device that a buffer is on; all memory of the host is one."""
    return _HOST_NAME if _HOST.match(buffer) else _USE.sub("", buffer)


def _size(found: re.Match[str]) -> _Size:
    unit = 1024 ** _UNITS[found["unit"]]
    places = len(found["value"].partition(".")[2])
    return _Size(Fraction(found["value"]) * unit, Fraction(unit, 2 * 10**places))


def _says_something(context: _Context) -> bool:
    said = context.model.weights or context.buffers or context.whole or context.failed
    return bool(said) and not context.model.trial


def _row(context: _Context, engine: _Engine, case: str | None) -> Row:
    envelope = _envelope(context, engine)
    return Row(
        case=case,
        place=context.at,
        figures=tuple(_figures(context)),
        envelope=envelope,
        stated=_stated(context),
        not_stated=tuple(axis for axis in _AXES if axis not in envelope),
        findings=_findings(context),
    )


def _figures(context: _Context) -> Iterator[Figure]:
    if context.model.weights:
        yield _on_one_device("memory.weights", context.model.weights)
    if context.buffers:
        yield _on_one_device("memory.kv_cache", context.buffers)
    elif context.whole is not None:
        note = "of all devices: the log does not print one apart"
        yield _figure("memory.kv_cache", context.whole, note)
    tokens = whole(context.settings.get("n_ctx"))
    if tokens is not None and context.has_tokens:
        yield Figure("capacity.tokens", Fraction(tokens), "tokens", "reported", Fraction(tokens))
        limit = _limit(context)
        if limit is not None:
            yield Figure(
                "capacity.sequences", Fraction(tokens // limit), "sequences", "reported",
                note=f"{tokens:,} tokens in all, {limit:,} for one sequence",
            )  # fmt: skip


def _on_one_device(name: str, sizes: Mapping[str, _Size]) -> Figure:
    """The most that one accelerator holds, or what the host holds where there is none."""
    accelerators = {device: size for device, size in sizes.items() if device != _HOST_NAME}
    among = accelerators or sizes
    device = max(among, key=lambda each: among[each].value)
    note = f"on {device}"
    if len(accelerators) > 1:
        note += f", the most of {len(accelerators)} devices"
    if accelerators and _HOST_NAME in sizes:
        note += f"; {format_number(sizes[_HOST_NAME].value / 1024**2, 12)} MiB more on the host"
    return _figure(name, among[device], note)


def _figure(name: str, size: _Size, note: str) -> Figure:
    value, rounding = size.value / 1024**2, size.rounding / 1024**2
    return Figure(name, value, "MiB", "reported", value, note, rounding)


def _limit(context: _Context) -> int | None:
    """Tokens that one sequence can have, where the log says it."""
    settings = context.settings
    return whole(settings.get("n_ctx_seq") or settings.get("n_ctx_per_seq"))


def _envelope(context: _Context, engine: _Engine) -> dict[str, AxisValue]:
    axes: dict[str, AxisValue] = {"engine": engine.name}
    if engine.version is not None:
        axes["engine_version"] = engine.version
    facts = context.model.facts
    name = facts.get("general.name") or facts.get("file")
    if name is not None:
        axes["model"] = name
    weights = _WEIGHT_DTYPES.get(_file_type(facts) or "")
    if weights is not None:
        axes["weight_dtype"] = weights
    if len(context.dtypes) == 1:
        ((k, v),) = context.dtypes
        if k == v:
            axes["kv_cache_dtype"] = _CACHE_DTYPES.get(k, k)
    devices = {*context.model.weights, *context.buffers} - {_HOST_NAME}
    if devices:
        axes["device_count"] = len(devices)
    limit = _limit(context)
    if limit is not None:
        axes["max_model_len"] = limit
    return axes


def _file_type(facts: Mapping[str, str]) -> str | None:
    return facts.get("file type") or facts.get("model ftype")


def _stated(context: _Context) -> dict[str, str]:
    stated = {
        name: context.settings[key]
        for name, key in (
            ("context_of_all_sequences", "n_ctx"),
            ("sequences", "n_seq_max"),
            ("one_cache_for_all_sequences", "kv_unified"),
            ("flash_attention", "flash_attn"),
        )
        if key in context.settings
    }
    facts = context.model.facts
    if "file" in facts:
        stated["file"] = facts["file"]
    file_type = _file_type(facts)
    if file_type is not None:
        stated["file_type"] = file_type
    if any(k != v for k, v in context.dtypes) or len(context.dtypes) > 1:
        stated["k_and_v_dtypes"] = ", ".join(f"{k} and {v}" for k, v in sorted(context.dtypes))
    for name, sizes in (("weights", context.model.weights), ("kv_cache", context.buffers)):
        if len(sizes) > 1:
            shown = ", ".join(
                f"{device} {format_number(size.value / 1024**2, 12)} MiB"
                for device, size in list(sizes.items())[:8]
            )
            more = f" and {len(sizes) - 8} more" if len(sizes) > 8 else ""
            stated[f"{name}_of_each_device"] = shown + more
    return stated


def _findings(context: _Context) -> tuple[Finding, ...]:
    if context.failed is not None:
        return (
            Finding(
                NOT_MEASURED,
                context.failed,
                "the engine did not start: the model or its context could not be made",
                "its figures are of a deployment that never served; mend what the log says there, "
                "and add the log of a start that served",
            ),
        )
    if not context.buffers and context.whole is None:
        return (
            Finding(
                NOT_MEASURED,
                context.at,
                "the log does not say what the cache takes: it ends, or was cut, before, or the "
                "engine was not asked for these lines",
                "add the whole log; llama-server prints the lines with --verbose",
                "warning",
            ),
        )
    return ()
