"""How many bytes an element takes: weights and KV cache are separate tables on purpose.

Quantising the weights does not change how the cache is stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from upheld.arithmetic.errors import ShapeError

WEIGHT_BYTES: dict[str, Fraction] = {
    "fp32": Fraction(4),
    "bf16": Fraction(2),
    "fp16": Fraction(2),
    "fp8": Fraction(1),
    "fp8_tensor": Fraction(1),
    "fp8_block": Fraction(1),
    "int8": Fraction(1),
    "int4": Fraction(1, 2),
    "int4_awq": Fraction(1, 2),
    "int4_gptq": Fraction(1, 2),
    "mxfp4": Fraction(1, 2),
    "nvfp4": Fraction(1, 2),
    "nf4": Fraction(1, 2),
}


@dataclass(frozen=True, slots=True)
class CacheDtype:
    """A dtype of the KV cache: bytes of an element, and bytes of scales beside each head's row."""

    name: str
    element: Fraction
    scales: int = 0

    def head_bytes(self, width: int) -> Fraction:
        """Bytes of one row of `width` elements, as one head has of one token."""
        return width * self.element + self.scales


KV_CACHE: dict[str, CacheDtype] = {
    dtype.name: dtype
    for dtype in (
        CacheDtype("fp32", Fraction(4)),
        CacheDtype("bf16", Fraction(2)),
        CacheDtype("fp16", Fraction(2)),
        CacheDtype("fp8", Fraction(1)),
        CacheDtype("int8", Fraction(1)),
        CacheDtype("int4", Fraction(1, 2)),
        # One scale of a byte for each 16 packed elements (SGLang's fp4 KV).
        CacheDtype("fp4", Fraction(1, 2) + Fraction(1, 16)),
        # A scale of 4 bytes beside each head's row (vLLM).
        CacheDtype("int8_per_token_head", Fraction(1), 4),
        CacheDtype("fp8_per_token_head", Fraction(1), 4),
        CacheDtype("int4_per_token_head", Fraction(1, 2), 4),
        # GGML blocks of 32 elements with their scales, and minima where the name ends in 1.
        CacheDtype("q8_0", Fraction(34, 32)),
        CacheDtype("q5_1", Fraction(24, 32)),
        CacheDtype("q5_0", Fraction(22, 32)),
        CacheDtype("q4_1", Fraction(20, 32)),
        CacheDtype("q4_0", Fraction(18, 32)),
        CacheDtype("iq4_nl", Fraction(18, 32)),
    )
}

# Other names in use, each for one of the above.
KV_CACHE_ALIASES: dict[str, str] = {
    "float32": "fp32", "f32": "fp32", "bfloat16": "bf16", "float16": "fp16", "half": "fp16",
    "f16": "fp16", "fp8_e4m3": "fp8", "fp8_e5m2": "fp8", "fp8_inc": "fp8", "fp4_e2m1": "fp4",
}  # fmt: skip

# The model's own dtype, as config.json names it, in the words of a deployment.
OF_TORCH: dict[str, str] = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}


def weight_bytes(dtype: str) -> Fraction:
    """Bytes of one element of a linear layer's weights, without scales.

    Raises:
        ShapeError: no such weight dtype.
    """
    try:
        return WEIGHT_BYTES[dtype]
    except KeyError:
        known = ", ".join(WEIGHT_BYTES)
        raise ShapeError("weight_dtype", f"{dtype!r} is none of {known}") from None


def cache_dtype(name: str) -> CacheDtype:
    """The KV cache dtype of that name or alias.

    Raises:
        ShapeError: no such KV cache dtype.
    """
    try:
        return KV_CACHE[KV_CACHE_ALIASES.get(name, name)]
    except KeyError:
        known = ", ".join(KV_CACHE)
        raise ShapeError("kv_cache_dtype", f"{name!r} is none of {known}") from None
