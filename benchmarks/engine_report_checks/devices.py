"""What vLLM takes from the device where nobody states it, by the words a report has for its GPU."""

from __future__ import annotations

import re
from fractions import Fraction

from upheld.arithmetic.engines import vllm

GIB = 2**30
# GiB of devices that reports name without their size; of several that fit, the first.
MEMORY = {"H200": 141, "B200": 180, "B300": 270, "MI300": 192, "H100": 80, "A100": 80, "L40": 48,
          "A6000": 48, "A10": 24, "3090": 24, "4090": 24, "5090": 32, "L4": 24,
          "T4": 16}  # fmt: skip
SIZE = re.compile(r"(\d+(?:\.\d+)?) ?-?(GiB|GB|MiB)")
# Data-centre Blackwell, where FlashInfer's sparse kernel goes before FlashMLA's for an fp8 cache.
PLAIN_SPARSE_LATENTS = re.compile(r"B[123]00")
XPU = re.compile(r"XPU|Arc")
# vllm/platforms/xpu.py: blocks of a hybrid with gated delta rule layers are a multiple of it.
XPU_GATED_DELTA_BLOCK = 64


def batched_tokens(gpu: str, version: tuple[int, ...]) -> int:
    """`max_num_batched_tokens` of `vllm serve` on that device; a large one's where it is not known.

    An A100 has the smaller default whatever its memory is (arg_utils.py).
    """
    if "A100" in gpu:
        return vllm.DEFAULT_BATCHED_TOKENS_OF_A_SMALL_DEVICE
    memory = _memory(gpu)
    if memory is None:
        return vllm.DEFAULT_BATCHED_TOKENS
    return vllm.default_batched_tokens(memory, version)


def _memory(gpu: str) -> Fraction | None:
    if found := SIZE.search(gpu):
        return Fraction(found[1]) * (2**20 if found[2] == "MiB" else GIB)
    return next((Fraction(size * GIB) for name, size in MEMORY.items() if name in gpu), None)
