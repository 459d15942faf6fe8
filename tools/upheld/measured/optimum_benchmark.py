"""optimum-benchmark: the configuration of a benchmark, alone or beside its report."""

from __future__ import annotations

import re

from upheld.corpus.strict_json import Json, Keys
from upheld.measured.draft import RowDraft
from upheld.measured.reading import AxisValue

TOOL = "optimum-benchmark"

_CONFIG = {"backend", "scenario", "launcher", "environment"}
_BACKEND = ("task", "library", "torch_dtype", "dtype", "quantization_scheme", "attn_implementation",
            "torch_compile", "device")  # fmt: skip
_SCENARIO = ("name", "iterations", "duration", "warmup_runs")
_AXES = (
    "model", "model_revision", "engine", "engine_version", "weight_dtype", "kv_cache_dtype",
    "device", "device_count", "max_model_len", "input_tokens", "output_tokens", "python_version",
    "processor", "operating_system",
)  # fmt: skip
_NUMBER = re.compile(r" *[0-9]{1,4} *")
_DTYPES = {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32"}


def is_config(value: Json) -> bool:
    """Whether a JSON value is the configuration of a benchmark."""
    return (
        isinstance(value, dict)
        and value.keys() >= _CONFIG
        and all(isinstance(value[key], dict) for key in _CONFIG)
    )


def read_config(draft: RowDraft, *at: str) -> str | None:
    """Put what the configuration at `at` states into the row; the tool's version."""
    backend, environment = (*at, "backend"), (*at, "environment")
    axes: dict[str, AxisValue | None] = {
        "model": draft.text(*backend, "model"),
        "engine": draft.text(*backend, "name"),
        "engine_version": draft.text(*backend, "version"),
        "weight_dtype": _weight_dtype(draft, backend),
        "python_version": draft.text(*environment, "python_version"),
        "processor": (draft.text(*environment, "cpu") or "").strip() or None,
        "processor_count": draft.count(*environment, "cpu_count") or None,
        "operating_system": draft.text(*environment, "system"),
    }
    axes |= _devices(draft, backend, environment) | _lengths(draft, (*at, "scenario"))
    draft.envelope.update({axis: value for axis, value in axes.items() if value is not None})
    for holder, keys in ((backend, _BACKEND), ((*at, "scenario"), _SCENARIO)):
        for key in keys:
            _state(draft, key if holder is backend else f"scenario_{key}", (*holder, key))
    for key in ("batch_size", "sequence_length"):
        _state(draft, key, (*at, "scenario", "input_shapes", key))
    return draft.text(*environment, "optimum_benchmark_version")


def not_stated(draft: RowDraft) -> tuple[str, ...]:
    """The axes that matter and that the file leaves open."""
    return tuple(axis for axis in _AXES if axis not in draft.envelope)


def _state(draft: RowDraft, name: str, keys: Keys) -> None:
    value = draft.get(*keys)
    if isinstance(value, bool):
        draft.stated[name] = "yes" if value else "no"
    elif isinstance(value, int | str) and value != "":
        draft.stated[name] = str(value)


def _weight_dtype(draft: RowDraft, backend: tuple[str, ...]) -> str | None:
    """The dtype that the backend was told; None where a quantisation stores the weights."""
    if draft.text(*backend, "quantization_scheme") or draft.text(*backend, "quantize"):
        return None
    dtype = draft.text(*backend, "torch_dtype") or draft.text(*backend, "dtype")
    return None if dtype is None else _DTYPES.get(dtype, dtype)


def _devices(
    draft: RowDraft, backend: tuple[str, ...], environment: tuple[str, ...]
) -> dict[str, AxisValue | None]:
    """The accelerators that were used, not all that the machine has."""
    used = draft.text(*backend, "device_ids")
    there = draft.get(*environment, "gpu")
    if draft.text(*backend, "device") != "cuda" or used is None or not isinstance(there, list):
        return {}
    numbers = [int(each) for each in used.split(",") if _NUMBER.fullmatch(each)]
    names = [there[number] for number in numbers if number < len(there)]
    name = names[0] if names and all(each == names[0] for each in names) else None
    return {
        "device_count": len(numbers) or None,
        "device": name if isinstance(name, str) else None,
    }


def _lengths(draft: RowDraft, scenario: tuple[str, ...]) -> dict[str, AxisValue | None]:
    most = draft.count(*scenario, "generate_kwargs", "max_new_tokens")
    least = draft.count(*scenario, "generate_kwargs", "min_new_tokens")
    return {
        "input_tokens": draft.count(*scenario, "input_shapes", "sequence_length") or None,
        "output_tokens": most if most == least else None,
        "concurrency": draft.count(*scenario, "input_shapes", "batch_size") or None,
    }
