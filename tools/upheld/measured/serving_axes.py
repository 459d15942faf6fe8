"""The axes that matter for a served model and that no general load tool knows of."""

from __future__ import annotations

from collections.abc import Mapping

SERVING_AXES = (
    "model", "model_revision", "engine", "engine_version", "weight_dtype", "kv_cache_dtype",
    "device", "device_count", "tensor_parallel", "max_model_len", "input_tokens", "output_tokens",
    "concurrency", "request_rate", "prefix_caching", "speculative_decoding",
)  # fmt: skip


def left_open(envelope: Mapping[str, object]) -> tuple[str, ...]:
    """The serving axes that an envelope does not state."""
    return tuple(axis for axis in SERVING_AXES if axis not in envelope)
