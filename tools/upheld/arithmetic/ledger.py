"""The memory ledger: what one device of a deployment holds, and what then fits.

Follows vLLM: the KV cache gets what is left of `memory × gpu_memory_utilization` after weights
and runtime, in whole blocks; a sequence takes whole blocks. Source: vLLM's kv_cache_utils.py
and, before V1, worker.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor

from upheld.arithmetic.dtypes import cache_dtype
from upheld.arithmetic.engines.vllm import KV_CACHE_DTYPES
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.facts import (
    Accelerator,
    Choices,
    Shape,
    choice_inputs,
    fact_inputs,
    whole_tokens,
)
from upheld.arithmetic.layouts.full import FullAttention, blocks_of
from upheld.arithmetic.terms import Input, Term, leaf
from upheld.arithmetic.weights import weights
from upheld.records.units import count

ENGINES = ("vllm",)


@dataclass(frozen=True, slots=True)
class Ledger:
    """What one device holds. Memory is in bytes, exact; `runtime` is None where nobody stated it.

    `kv_cache` is what the stated sequences of full length need; the capacities are about what is
    left for the cache, which is another figure. `devices` is the least that one replica needs,
    or None where it fits on no number of devices. `given` names the origins of all facts.
    """

    weights: Term
    kv_cache: Term
    runtime: Term | None
    budget: Term
    kv_bytes_per_token: int
    kv_token_formula: str
    block_size: int
    max_model_len: int
    max_num_seqs: int
    tensor_parallel: int
    devices: int | None
    given: tuple[str, ...]

    @property
    def terms(self) -> tuple[Term, ...]:
        """The terms that `device_total` sums: weights, KV cache and, where stated, runtime."""
        stated = () if self.runtime is None else (self.runtime,)
        return (self.weights, self.kv_cache, *stated)

    @property
    def device_total(self) -> int:
        """Bytes of all terms. Without `runtime` it is less than the device will hold."""
        return sum(term.bytes for term in self.terms)

    @property
    def fits(self) -> bool:
        """Whether all terms are within the budget."""
        return self.device_total <= self.budget.bytes

    @property
    def block_bytes(self) -> int:
        """Bytes of one block in all layers."""
        return self.kv_bytes_per_token * self.block_size

    @property
    def available_kv(self) -> int:
        """Bytes of the budget that are left for the KV cache; negative where none are."""
        return self.budget.bytes - (self.device_total - self.kv_cache.bytes)

    @property
    def blocks(self) -> int:
        """Whole blocks in what is left for the KV cache."""
        return blocks_within(self.available_kv, self.block_bytes)

    @property
    def tokens(self) -> int:
        """Tokens in those blocks: the figure that vLLM prints as `GPU KV cache size`."""
        return self.blocks * self.block_size

    @property
    def max_concurrency(self) -> Fraction:
        """Tokens over the context limit: what vLLM prints as `Maximum concurrency`."""
        return Fraction(self.tokens, self.max_model_len)

    @property
    def sequences(self) -> int:
        """Sequences of full length that the blocks hold at once."""
        return self.blocks // -(-self.max_model_len // self.block_size)


def ledger(deployment: Choices, model: Shape, device: Accelerator) -> Ledger:
    """The ledger of one device.

    Raises:
        ShapeError: the engine is not known, or the shape and the choices do not go together.
    """
    found = _ledger(deployment, model, device, deployment.tensor_parallel)
    return replace(found, devices=devices_needed(deployment, model, device))


def devices_needed(deployment: Choices, model: Shape, device: Accelerator) -> int | None:
    """The smallest degree of tensor parallelism, a power of two, at which one replica fits.

    Degrees that do not divide the shape are passed over. None: it fits at no degree.
    """
    degree = 1
    while model.num_attention_heads % degree == 0:
        try:
            if _ledger(deployment, model, device, degree).fits:
                return degree
        except ShapeError:
            if degree == 1:
                raise
        degree *= 2
    return None


def blocks_within(available: int, block_bytes: int) -> int:
    """Whole blocks of `block_bytes` in `available` bytes; none where that is negative."""
    return max(0, available // block_bytes)


def tokens_within(available: int, kv_bytes_per_token: int, block_size: int) -> int:
    """The tokens that vLLM prints, from the bytes that it found available for the KV cache."""
    return blocks_within(available, kv_bytes_per_token * block_size) * block_size


def _devices(found: Ledger) -> Fraction:
    if found.devices is None:
        raise ShapeError("tensor_parallel", "the replica fits at no degree that divides its heads")
    return Fraction(found.devices)


# The metrics of records/metrics.py that arithmetic carries, in base units. memory.runtime is
# stated and never worked out, so it is not here.
METRICS: dict[str, Callable[[Ledger], Fraction]] = {
    "memory.weights": lambda found: Fraction(found.weights.bytes),
    "memory.kv_cache": lambda found: Fraction(found.kv_cache.bytes),
    "memory.kv_cache_per_token": lambda found: Fraction(found.kv_bytes_per_token),
    "memory.device_total": lambda found: Fraction(found.device_total),
    "capacity.tokens": lambda found: Fraction(found.tokens),
    "capacity.sequences": lambda found: Fraction(found.sequences),
    "capacity.devices": _devices,
}


def _ledger(deployment: Choices, model: Shape, device: Accelerator, tensor_parallel: int) -> Ledger:
    if deployment.engine.casefold() not in ENGINES:
        raise ShapeError(
            "engine", f"{deployment.engine!r} is not known; known: {', '.join(ENGINES)}"
        )
    stored = weights(deployment, model, tensor_parallel)
    attention = FullAttention(
        model.num_hidden_layers, model.num_key_value_heads, model.head_dim, model.head_dim
    )
    if deployment.kv_cache_dtype not in KV_CACHE_DTYPES:
        known = ", ".join(KV_CACHE_DTYPES)
        raise ShapeError("kv_cache_dtype", f"{deployment.kv_cache_dtype!r} is none of {known}")
    dtype = cache_dtype(deployment.kv_cache_dtype)
    per_token = int(attention.layers * attention.token_bytes(dtype, tensor_parallel))
    length = whole_tokens(deployment)
    blocks = blocks_of(length, deployment.block_size)
    token_formula = (
        f"{attention.layers:,} layers × {attention.kv_heads_on_rank(tensor_parallel):,} KV heads × "
        f"{model.head_dim:,} × 2 (K and V) × {dtype.element} B"
    )
    kv_cache = leaf(
        "kv_cache",
        deployment.max_num_seqs * blocks * deployment.block_size * per_token,
        f"{count(deployment.max_num_seqs, 'sequence')} × {count(blocks, 'block')} × "
        f"{count(deployment.block_size, 'token')} × {token_formula}",
        fact_inputs(model, "num_hidden_layers", "num_key_value_heads", "head_dim")
        + choice_inputs(
            deployment,
            "max_num_seqs",
            "max_model_len",
            "block_size",
            "kv_cache_dtype",
            "tensor_parallel",
        ),
    )
    runtime = _runtime(deployment)
    budget = leaf(
        "budget",
        floor(device.memory.base * deployment.gpu_memory_utilization),
        "memory × gpu_memory_utilization, rounded down",
        fact_inputs(device, "memory") + choice_inputs(deployment, "gpu_memory_utilization"),
    )
    terms = [stored, kv_cache, budget, *([runtime] if runtime else [])]
    given = {origin for term in terms for origin in term.given} | set(deployment.assumes)
    return Ledger(
        weights=stored,
        kv_cache=kv_cache,
        runtime=runtime,
        budget=budget,
        kv_bytes_per_token=per_token,
        kv_token_formula=token_formula,
        block_size=deployment.block_size,
        max_model_len=length,
        max_num_seqs=deployment.max_num_seqs,
        tensor_parallel=tensor_parallel,
        devices=None,
        given=tuple(sorted(given)),
    )


def _runtime(deployment: Choices) -> Term | None:
    stated = deployment.runtime_memory
    if stated is None:
        return None
    size = ceil(stated.size.base)
    fact = Input("runtime_memory", size, stated.origin, given=True)
    return leaf("runtime", size, "stated, not worked out", [fact])
