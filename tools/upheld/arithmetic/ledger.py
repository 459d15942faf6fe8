"""The memory ledger: what one device of a deployment holds, and what then fits.

Follows vLLM: the KV cache gets what is left of `memory × gpu_memory_utilization` after weights
and runtime, in whole blocks; a sequence takes whole blocks. Source: vLLM's kv_cache_utils.py
and, before V1, worker.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor
from typing import cast

from upheld.arithmetic.cache import inputs_of, layers_of, name_of, token_formula
from upheld.arithmetic.dtypes import OF_TORCH, cache_dtype
from upheld.arithmetic.engines.vllm import (
    KV_CACHE_DTYPES,
    Group,
    Pool,
    Settings,
    default_batched_tokens,
    pool,
    token_bytes,
    version_of,
)
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.facts import (
    Accelerator,
    CachedModel,
    Choices,
    Shape,
    StatedMemory,
    choice_inputs,
    fact_inputs,
    whole_tokens,
)
from upheld.arithmetic.layouts.chunked import ChunkedAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention
from upheld.arithmetic.layouts.state import StateLayers
from upheld.arithmetic.terms import Input, Term, leaf, total
from upheld.arithmetic.weights import weights
from upheld.arithmetic.weights.formats import PLAIN
from upheld.records.units import count

ENGINES = ("vllm",)


@dataclass(frozen=True)
class Ledger:
    """What one device holds. Memory is in bytes, exact; `runtime` is None where nobody stated it.

    `kv_cache` is what the stated sequences of full length need; the capacities are about what is
    left for the cache, which is another figure, in blocks that `pool` lays out as the engine does.
    `devices` is the least that one replica needs, or None: `devices_problem` then says why.
    `given` names the origins of all facts.
    """

    weights: Term
    kv_cache: Term
    runtime: Term | None
    budget: Term
    device_memory: Fraction
    pool: Pool
    kv_bytes_per_token: int
    kv_token_formula: str
    max_model_len: int
    max_num_seqs: int
    tensor_parallel: int
    devices: int | None
    devices_problem: str | None
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
    def block_size(self) -> int:
        """Tokens of a block of attention, which a recurrent state may have made larger."""
        return self.pool.smallest_block

    @property
    def block_bytes(self) -> int:
        """Bytes of one block, which one group of layers takes."""
        return self.pool.page_bytes * self.pool.group_size

    @property
    def available_kv(self) -> int:
        """Bytes of the budget that are left for the KV cache; negative where none are."""
        return self.budget.bytes - (self.device_total - self.kv_cache.bytes)

    @property
    def blocks(self) -> int:
        """Whole blocks in what is left for the KV cache."""
        return self.pool.blocks(self.available_kv)

    @property
    def tokens(self) -> int:
        """Tokens in those blocks: the figure that vLLM prints as `GPU KV cache size`."""
        return self.pool.tokens(self.blocks, self.max_model_len)

    @property
    def blocks_of_a_sequence(self) -> int:
        """Blocks that one sequence of full length takes."""
        return self.pool.blocks_for(self.max_model_len)

    @property
    def max_concurrency(self) -> Fraction:
        """Sequences of full length: what vLLM prints as `Maximum concurrency`."""
        return self.pool.concurrency(self.blocks, self.max_model_len)

    @property
    def sequences(self) -> int:
        """Whole sequences of full length that the blocks hold at once."""
        return self.blocks // self.blocks_of_a_sequence


def ledger(deployment: Choices, model: CachedModel, device: Accelerator) -> Ledger:
    """The ledger of one device.

    Raises:
        ShapeError: the engine is not known, or the shape and the choices do not go together.
    """
    found = ledger_without_devices(deployment, model, device, deployment.tensor_parallel)
    if deployment.weight_memory is None:
        needed = devices_needed(deployment, model, device)
        problem = None if needed else "the replica fits at no degree that divides its heads"
    else:
        # Weights that are stated are those of one degree, and say nothing of another.
        needed = 1 if found.fits and found.tensor_parallel == 1 else None
        problem = None if needed else degree_problem(deployment, None)
    return replace(found, devices=needed, devices_problem=problem)


def degree_problem(deployment: Choices, tensor_parallel: int | None) -> str | None:
    """Why there is no ledger at that degree, or at any other (None): weights stated for one."""
    if deployment.weight_memory is None or tensor_parallel == deployment.tensor_parallel:
        return None
    return f"weights are stated for {count(deployment.tensor_parallel, 'device')} a replica alone"


def devices_needed(deployment: Choices, model: CachedModel, device: Accelerator) -> int | None:
    """The smallest degree of tensor parallelism, a power of two, at which one replica fits.

    Weights are worked out at each degree. Degrees that do not divide the shape are passed over.
    None: it fits at no degree.
    """
    if model.weights_unknown is not None:
        raise ShapeError("weights", model.weights_unknown)
    shape = cast(Shape, model)
    degree = 1
    while shape.num_attention_heads % degree == 0:
        try:
            if ledger_without_devices(deployment, shape, device, degree).fits:
                return degree
        except ShapeError:
            if degree == 1:
                raise
        degree *= 2
    return None


def _devices(found: Ledger) -> Fraction:
    if found.devices is None:
        raise ShapeError("tensor_parallel", found.devices_problem or "it is not worked out")
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


def ledger_without_devices(
    deployment: Choices,
    model: CachedModel,
    device: Accelerator,
    tensor_parallel: int,
    stored: Term | None = None,
) -> Ledger:
    """The ledger at one degree, `devices` left open; `stored` are its weights, if known already.

    Raises:
        ShapeError: see ledger.
    """
    if deployment.engine.casefold() not in ENGINES:
        raise ShapeError(
            "engine", f"{deployment.engine!r} is not known; known: {', '.join(ENGINES)}"
        )
    if stored is None:
        stated = _stated("weights", deployment.weight_memory)
        stored = stated or weights(deployment, cast(Shape, model), tensor_parallel)
    layers = layers_of(model)
    settings = _settings(deployment, model, device, tensor_parallel)
    laid_out = pool(layers, settings)
    length = whole_tokens(deployment)
    formulas = [
        token_formula(each, settings.kv_cache_dtype, tensor_parallel)
        for each in layers
        if not isinstance(each, StateLayers)
    ]
    kv_cache = _kv_cache(deployment, model, laid_out, length, formulas)
    per_token = sum(each.layers * token_bytes(each, settings) for each in layers)
    runtime = _stated("runtime", deployment.runtime_memory)
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
        device_memory=device.memory.base,
        pool=laid_out,
        kv_bytes_per_token=int(per_token),
        kv_token_formula=" + ".join(formulas),
        max_model_len=length,
        max_num_seqs=deployment.max_num_seqs,
        tensor_parallel=tensor_parallel,
        devices=None,
        devices_problem="it is not worked out",
        given=tuple(sorted(given)),
    )


def _settings(
    deployment: Choices, model: CachedModel, device: Accelerator, tensor_parallel: int
) -> Settings:
    if deployment.kv_cache_dtype not in KV_CACHE_DTYPES:
        known = ", ".join(KV_CACHE_DTYPES)
        raise ShapeError("kv_cache_dtype", f"{deployment.kv_cache_dtype!r} is none of {known}")
    # A model computes in the dtype that it is loaded in; quantised weights do not change that.
    stored_as = deployment.weight_dtype
    computed = stored_as if stored_as in PLAIN else model.torch_dtype or "bfloat16"
    state = model.state_dtype or computed
    return Settings(
        kv_cache_dtype=cache_dtype(deployment.kv_cache_dtype),
        version=version_of(deployment.engine_version),
        block_size=deployment.block_size,
        tensor_parallel_size=tensor_parallel,
        max_num_batched_tokens=(
            deployment.max_num_batched_tokens or default_batched_tokens(device.memory.base)
        ),
        conv_element=cache_dtype(OF_TORCH.get(computed, computed)).element,
        state_element=cache_dtype(OF_TORCH.get(state, state)).element,
        state_mode="align" if deployment.prefix_caching else "none",
    )


_CACHE_CHOICES = (
    "max_num_seqs", "max_model_len", "block_size", "kv_cache_dtype", "tensor_parallel",
)  # fmt: skip


def _layout_inputs(deployment: Choices, laid_out: Pool) -> tuple[Input, ...]:
    """Choices that count only where layers slide, attend in chunks or keep a state."""
    kinds = [group.layout for group in laid_out.groups]
    names = ["engine_version"] if len(kinds) > 1 and deployment.engine_version else []
    if any(isinstance(each, StateLayers) for each in kinds):
        names.append("prefix_caching")
    inputs = choice_inputs(deployment, *names)
    if any(isinstance(each, SlidingAttention | ChunkedAttention) for each in kinds):
        if deployment.max_num_batched_tokens is not None:
            return inputs + choice_inputs(deployment, "max_num_batched_tokens")
        batched = laid_out.settings.max_num_batched_tokens
        origin = "not stated: vllm serve's default for the device's memory"
        inputs += (Input("max_num_batched_tokens", batched, origin),)
    return inputs


def _kv_cache(
    deployment: Choices, model: CachedModel, laid_out: Pool, length: int, formulas: Sequence[str]
) -> Term:
    """What the stated sequences of full length need: a term, with a part for each kind of layer."""
    inputs = inputs_of(model) + choice_inputs(deployment, *_CACHE_CHOICES)
    inputs += _layout_inputs(deployment, laid_out)
    sequences = count(deployment.max_num_seqs, "sequence")
    # Layers of one kind that differ in width have blocks of different sizes.
    by_kind: dict[tuple[str, int], list[Group]] = {}
    for group in laid_out.groups:
        blocks = group.blocks_for(length, laid_out.settings)
        by_kind.setdefault((name_of(group.layout), blocks), []).append(group)
    parts = []
    for (name, blocks), groups in by_kind.items():
        size = laid_out.page_bytes * laid_out.group_size
        formula = f"{sequences} × {count(blocks, 'block')} × "
        if len(laid_out.groups) == 1:
            words = formulas[0] if len(formulas) == 1 else f"({' + '.join(formulas)})"
            formula += f"{count(groups[0].block_size, 'token')} × {words}"
        else:
            formula += (
                f"{count(len(groups), 'group')} of {count(laid_out.group_size, 'layer')} × "
                f"{laid_out.page_bytes:,} B a page"
            )
        total_bytes = deployment.max_num_seqs * blocks * len(groups) * size
        parts.append(leaf(name, total_bytes, formula, inputs))
    if len(parts) == 1:
        return replace(parts[0], name="kv_cache")
    return total("kv_cache", parts)


def _stated(name: str, stated: StatedMemory | None) -> Term | None:
    if stated is None:
        return None
    size = ceil(stated.size.base)
    fact = Input(f"{name}_memory", size, stated.origin, given=True)
    return replace(leaf(name, size, "stated, not worked out", [fact]), stated=True)
