"""What a client that only sends requests cannot see of the server that answers them."""

from __future__ import annotations

SERVER_AXES = (
    "model_revision", "engine", "engine_version", "weight_dtype", "kv_cache_dtype", "device",
    "device_count", "tensor_parallel", "max_model_len", "prefix_caching", "speculative_decoding",
)  # fmt: skip
"""The axes of an envelope that such a client leaves open; the model it has to name."""
