"""How many bytes one element takes: weights and KV cache are separate tables on purpose.

Quantising the weights does not change how the cache is stored. Scales are counted where they
are stored: those of weights in weights.py; the cache dtypes here have none per token.
"""

from __future__ import annotations

from fractions import Fraction

from upheld.arithmetic.errors import ShapeError

WEIGHT_BYTES: dict[str, Fraction] = {
    "fp32": Fraction(4),
    "bf16": Fraction(2),
    "fp16": Fraction(2),
    "fp8": Fraction(1),
    "int8": Fraction(1),
    "int4": Fraction(1, 2),
}

KV_CACHE_BYTES: dict[str, Fraction] = {
    "fp32": Fraction(4),
    "bf16": Fraction(2),
    "fp16": Fraction(2),
    "fp8": Fraction(1),
    "int8": Fraction(1),
}

# The model's own dtype, as config.json names it, in the words of a deployment.
OF_TORCH: dict[str, str] = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}


def weight_bytes(dtype: str) -> Fraction:
    """Bytes of one element of a linear layer's weights, without scales.

    Raises:
        ShapeError: no such weight dtype.
    """
    return _look_up(WEIGHT_BYTES, "weight_dtype", dtype)


def kv_cache_bytes(dtype: str) -> Fraction:
    """Bytes of one element of a cached key or value.

    Raises:
        ShapeError: no such KV cache dtype.
    """
    return _look_up(KV_CACHE_BYTES, "kv_cache_dtype", dtype)


def _look_up(table: dict[str, Fraction], field: str, dtype: str) -> Fraction:
    try:
        return table[dtype]
    except KeyError:
        raise ShapeError(field, f"{dtype!r} is none of {', '.join(table)}") from None
