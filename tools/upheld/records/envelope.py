"""The axes of an envelope: where a statement holds.

A claim has an envelope and so has evidence. Evidence counts only where it covers the claim on
every axis that the claim states; how one axis is compared is part of the axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Comparison = Literal["name", "version", "number"]


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: its title, and how two values on it are compared.

    `name` values are equal after normalisation, `number` values are equal exactly, `version`
    values are equal in every part that the claim names (a claim of 0.11 covers 0.11.2).
    """

    name: str
    title: str
    comparison: Comparison


AXES: dict[str, Axis] = {
    axis.name: axis
    for axis in (
        Axis("model", "model", "name"),
        Axis("model_revision", "model revision", "name"),
        Axis("engine", "engine", "name"),
        Axis("engine_version", "engine version", "version"),
        Axis("weight_dtype", "weight dtype", "name"),
        Axis("kv_cache_dtype", "KV cache dtype", "name"),
        Axis("device", "device", "name"),
        Axis("device_count", "device count", "number"),
        Axis("tensor_parallel", "tensor parallel size", "number"),
        Axis("max_model_len", "context limit", "number"),
        Axis("input_tokens", "input tokens per request", "number"),
        Axis("output_tokens", "output tokens per request", "number"),
        Axis("concurrency", "concurrent requests", "number"),
        Axis("request_rate", "request rate", "number"),
        Axis("prefix_caching", "prefix caching", "name"),
        Axis("speculative_decoding", "speculative decoding", "name"),
        Axis("benchmark", "benchmark", "name"),
        Axis("python_version", "Python version", "version"),
        Axis("processor", "processor", "name"),
        Axis("processor_count", "processor count", "number"),
        Axis("operating_system", "operating system", "name"),
    )
}
