"""The settings that llama.cpp is started with, by what is varied."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

K_V_TYPES = ("f32", "f16", "bf16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl")
VARIED = {
    "context": "Context (`--ctx-size`)",
    "sequences": "Sequences (`--parallel`), a cache for each or one for all (`--kv-unified`)",
    "batch": "Batches (`--batch-size`, `--ubatch-size`)",
    "dtypes": "Dtypes of keys and values (`--cache-type-k`, `--cache-type-v`)",
    "window": "Windows, whole (`--swa-full`) or not, with batches and sequences",
    "flash-attention": "Flash attention (`--flash-attn`) off",
    "families": "Other families, tiny models with random weights",
}
Settings = dict[str, Any]


def of_the_real_model() -> Iterator[tuple[str, Settings]]:
    """What is varied, and the settings; what is not named is one sequence, else the default."""
    for n_ctx in (1, 100, 256, 257, 512, 700, 1024, 2000, 4096, 8192, 10_000, 32_768):
        yield "context", {"n_ctx": n_ctx}
    for n_ctx, n_seq, unified in product((1000, 8192), (1, 2, 3, 4, 5, 8, 16), (False, True)):
        yield "sequences", {"n_ctx": n_ctx, "n_seq": n_seq, "unified": unified}
    for n_batch, n_ubatch in product((128, 2048), (1, 64, 300, 512, 2048)):
        yield "batch", {"n_ctx": 4096, "n_batch": n_batch, "n_ubatch": n_ubatch}
    for k_type, v_type in _dtypes():
        yield "dtypes", {"n_ctx": 4096, "k_type": k_type, "v_type": v_type}
    for n_ctx, n_seq, unified, n_ubatch, swa_full in product(
        (2048, 8192), (1, 3), (False, True), (64, 512), (False, True)
    ):
        yield (
            "window",
            {
                "n_ctx": n_ctx,
                "n_seq": n_seq,
                "unified": unified,
                "n_ubatch": n_ubatch,
                "swa_full": swa_full,
            },
        )
    for k_type, v_type in (("f16", "f16"), ("q8_0", "f16"), ("f16", "f32"), ("f16", "q8_0")):
        yield (
            "flash-attention",
            {"n_ctx": 4096, "k_type": k_type, "v_type": v_type, "flash_attention": False},
        )


def _dtypes() -> Iterator[tuple[str, str]]:
    for name in K_V_TYPES:
        yield name, name
    for name in K_V_TYPES:
        if name != "f16":
            yield name, "f16"
            yield "f16", name


def of_a_family() -> Iterator[tuple[str, Settings]]:
    """A few of each kind, for models of other families."""
    for settings in (
        {"n_ctx": 4096},
        {"n_ctx": 3000, "n_seq": 3},
        {"n_ctx": 3000, "n_seq": 3, "unified": True},
        {"n_ctx": 4096, "k_type": "q8_0", "v_type": "q8_0"},
        {"n_ctx": 4096, "k_type": "q8_0", "v_type": "f16"},
        {"n_ctx": 4096, "swa_full": True},
        {"n_ctx": 4096, "flash_attention": False},
    ):
        yield "families", settings
