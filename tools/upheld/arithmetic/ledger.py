"""The memory ledger: what one device of a deployment holds, and what then fits.

The KV cache gets what the engine's budget leaves after weights and runtime, in whole blocks; a
sequence takes whole blocks. What a budget and a block are is the engine's: see `engines`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from typing import cast

from upheld.arithmetic.cache import inputs_of, layers_of, name_of, token_formula
from upheld.arithmetic.dtypes import OF_TORCH, cache_dtype
from upheld.arithmetic.engines import engine_of
from upheld.arithmetic.engines.engine import Engine
from upheld.arithmetic.engines.plan import CachePlan, Start
from upheld.arithmetic.engines.vllm import stage_sizes
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
from upheld.arithmetic.layouts import Layers
from upheld.arithmetic.layouts.state import StateLayers
from upheld.arithmetic.parallelism import Parallelism
from upheld.arithmetic.stages import layers_by_stage
from upheld.arithmetic.terms import Input, Term, leaf, total
from upheld.arithmetic.weights import weights
from upheld.arithmetic.weights.formats import PLAIN
from upheld.arithmetic.weights.structure import stated_fact
from upheld.records.units import count


@dataclass(frozen=True)
class Ledger:
    """What one device holds. Memory is in bytes, exact; `runtime` is None where nobody stated it.

    `kv_cache` is what the stated sequences of full length need; the capacities are about what is
    left for the cache, which is another figure, in blocks that `plan` hands out as the engine does.
    Of a replica in several pipeline stages this is the device with the least room; `stages` has
    one of each stage, in order, and is empty where there is one. `devices` is the least that one
    replica needs, or None: `devices_problem` then says why. `given` names the origins of all facts.
    """

    weights: Term
    kv_cache: Term
    runtime: Term | None
    budget: Term
    device_memory: Fraction
    engine: Engine
    plan: CachePlan
    kv_token_formula: str
    max_model_len: int
    max_num_seqs: int
    parallelism: Parallelism
    layers: tuple[Layers, ...]
    devices: int | None
    devices_problem: str | None
    given: tuple[str, ...]
    stages: tuple[Ledger, ...] = ()

    @property
    def each_stage(self) -> tuple[Ledger, ...]:
        """A ledger of one device of each pipeline stage, this one where there is no other."""
        return self.stages or (self,)

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
        """Whether all terms of each device are within its budget, and its memory."""
        return self.excess <= 0

    @property
    def excess(self) -> int:
        """Bytes by which the fullest device goes beyond what it may hold; negative: to spare."""
        return max(
            each.device_total - min(each.budget.bytes, floor(each.device_memory))
            for each in self.each_stage
        )

    @property
    def kv_bytes_per_token(self) -> int:
        """Bytes of one token in all layers of the device that have attention."""
        return self.plan.token_bytes

    @property
    def block_size(self) -> int:
        """Tokens of a block of attention, which a recurrent state may have made larger."""
        return self.plan.block_tokens(self.max_model_len)

    @property
    def block_bytes(self) -> int:
        """Bytes of one block, which one group of layers takes."""
        return self.plan.block_bytes

    @property
    def available_kv(self) -> int:
        """Bytes of the budget that are left for the KV cache; negative where none are."""
        return self.budget.bytes - (self.device_total - self.kv_cache.bytes)

    @property
    def blocks(self) -> int:
        """Whole blocks in what is left for the KV cache."""
        return self.plan.blocks(self.available_kv)

    @property
    def tokens(self) -> int:
        """Tokens in those blocks, as the engine prints them, of one data-parallel group."""
        return self.plan.tokens(self.blocks, self.max_model_len)

    @property
    def blocks_of_a_sequence(self) -> int:
        """Blocks that one sequence of full length takes."""
        return self.plan.blocks_for(self.max_model_len)

    @property
    def max_concurrency(self) -> Fraction:
        """Sequences of full length: what vLLM prints as `Maximum concurrency`."""
        return self.plan.concurrency(self.blocks, self.max_model_len)

    @property
    def sequences(self) -> int:
        """Whole sequences of full length that the blocks hold at once, of one group."""
        return self.plan.sequences(self.available_kv, self.max_model_len)

    @property
    def replica_tokens(self) -> int:
        """Tokens of all data-parallel groups of one replica."""
        return self.parallelism.data * self.tokens

    @property
    def replica_sequences(self) -> int:
        """Sequences of full length of all data-parallel groups of one replica."""
        return self.parallelism.data * self.sequences


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
        needed = 1 if found.fits and found.parallelism.devices == 1 else None
        problem = None if needed else degree_problem(deployment, None)
    return replace(found, devices=needed, devices_problem=problem)


def degree_problem(stated_for: Choices, asked: Choices | None) -> str | None:
    """Why there is no ledger at the degrees of `asked`, or at any other (None).

    Weights that are stated are those of one device, at the degrees that they are stated for.
    """
    if stated_for.weight_memory is None:
        return None
    if asked is not None and _sharing(asked) == _sharing(stated_for):
        return None
    ranks = stated_for.tensor_parallel * stated_for.pipeline_parallel
    return f"weights are stated for {count(ranks, 'device')} a replica alone"


def _sharing(deployment: Choices) -> tuple[int, int]:
    return deployment.tensor_parallel, deployment.pipeline_parallel


def devices_needed(deployment: Choices, model: CachedModel, device: Accelerator) -> int | None:
    """Devices of one replica at the least degree of tensor parallelism at which it fits.

    The degree is a power of two; stages and groups are as the deployment has them. Weights are
    worked out at each degree. Degrees that do not divide the shape are passed over. None: it fits
    at no degree.
    """
    if model.weights_unknown is not None:
        raise ShapeError("weights", model.weights_unknown)
    shape = cast(Shape, model)
    degree = max(1, deployment.decode_context_parallel)
    heads = stated_fact(shape, "num_attention_heads")
    while heads % degree == 0:
        try:
            found = ledger_without_devices(deployment, shape, device, degree)
            if found.fits:
                return found.parallelism.devices
        except ShapeError:
            if degree == deployment.tensor_parallel:
                raise
        degree *= 2
    return None


def _devices(found: Ledger) -> Fraction:
    if found.devices is None:
        raise ShapeError("tensor_parallel", found.devices_problem or "it is not worked out")
    return Fraction(found.devices)


# Of several pipeline stages, each of these is the figure of the device that has most of it.
OF_A_DEVICE: dict[str, Callable[[Ledger], int]] = {
    "memory.weights": lambda found: found.weights.bytes,
    "memory.kv_cache": lambda found: found.kv_cache.bytes,
    "memory.kv_cache_per_token": lambda found: found.kv_bytes_per_token,
    "memory.device_total": lambda found: found.device_total,
}


def _most(figure: Callable[[Ledger], int]) -> Callable[[Ledger], Fraction]:
    return lambda found: Fraction(max(map(figure, found.each_stage)))


# The metrics of records/metrics.py that arithmetic carries, in base units. memory.runtime is
# stated and never worked out, so it is not here.
METRICS: dict[str, Callable[[Ledger], Fraction]] = {
    **{name: _most(figure) for name, figure in OF_A_DEVICE.items()},
    "capacity.tokens": lambda found: Fraction(found.replica_tokens),
    "capacity.sequences": lambda found: Fraction(found.replica_sequences),
    "capacity.devices": _devices,
}


def ledger_without_devices(
    deployment: Choices,
    model: CachedModel,
    device: Accelerator,
    tensor_parallel: int,
    stored: Sequence[Term] = (),
) -> Ledger:
    """The ledger at one degree, `devices` left open.

    `stored` are the weights of each stage, if known already.

    Raises:
        ShapeError: see ledger.
    """
    engine = engine_of(deployment.engine, deployment.engine_version)
    parallelism = Parallelism.of(deployment, tensor_parallel, engine)
    layers = layers_of(model)
    parallelism.check_copies(layers)
    start = _start(engine, deployment, model, device, tensor_parallel)
    split = [layers]
    if parallelism.pipeline > 1 and engine.stages is not None:
        whole = getattr(model, "num_hidden_layers", None) or len(getattr(model, "layer_order", ()))
        split = layers_by_stage(model, engine.stages(whole, parallelism.pipeline))
    found = [
        _of_stage(
            deployment, model, device, engine, parallelism, start, held, stage,
            stored[stage] if stored else None,
        )
        for stage, held in enumerate(split)
    ]  # fmt: skip
    if len(found) == 1:
        return found[0]
    least = min(found, key=lambda each: (each.sequences, each.available_kv - each.kv_cache.bytes))
    return replace(least, stages=tuple(found))


def _of_stage(
    deployment: Choices,
    model: CachedModel,
    device: Accelerator,
    engine: Engine,
    parallelism: Parallelism,
    start: Start,
    layers: tuple[Layers, ...],
    stage: int,
    stored: Term | None,
) -> Ledger:
    if stored is None:
        stored = _stated("weights", deployment.weight_memory) or weights(
            deployment,
            cast(Shape, model),
            parallelism.tensor,
            pipeline_parallel=parallelism.pipeline,
            stage=stage,
            stage_sizes=engine.stages or stage_sizes,
            as_allocated=engine.counts_allocations,
            experts=parallelism.experts,
        )
    plan = _planned(engine, layers, start)
    length = whole_tokens(deployment)
    kv_cache = _kv_cache(deployment, model, start, plan, length)
    runtime = _stated("runtime", deployment.runtime_memory)
    budget = _budget(deployment, device, engine, stored, runtime)
    terms = [stored, kv_cache, budget, *([runtime] if runtime else [])]
    given = {origin for term in terms for origin in term.given} | set(deployment.assumes)
    return Ledger(
        weights=stored,
        kv_cache=kv_cache,
        runtime=runtime,
        budget=budget,
        device_memory=device.memory.base,
        engine=engine,
        plan=plan,
        kv_token_formula=" + ".join(
            token_formula(each, start.kv_cache_dtype, parallelism.tensor)
            for each in layers
            if not isinstance(each, StateLayers)
        )
        or "no layer has attention",
        max_model_len=length,
        max_num_seqs=deployment.max_num_seqs,
        parallelism=parallelism,
        layers=layers,
        devices=None,
        devices_problem="it is not worked out",
        given=tuple(sorted(given)),
    )


@lru_cache(maxsize=1024)
def _planned(engine: Engine, layers: tuple[Layers, ...], start: Start) -> CachePlan:
    """The plan, once for all points of a sweep that share it."""
    return engine.plan(layers, start)


def _budget(
    deployment: Choices, device: Accelerator, engine: Engine, stored: Term, runtime: Term | None
) -> Term:
    used = 0 if runtime is None else runtime.bytes
    stated = _stated("kv_cache", deployment.kv_cache_memory)
    if stated is not None:
        size = stored.bytes + used + stated.bytes
        return leaf("budget", size, "weights + runtime + kv_cache_memory", stated.inputs)
    size = engine.budget.bytes(
        device.memory.base, deployment.gpu_memory_utilization, stored.bytes, used
    )
    return leaf(
        "budget",
        size,
        engine.budget.formula.format(share=engine.share),
        fact_inputs(device, "memory") + choice_inputs(deployment, "gpu_memory_utilization"),
    )


def _start(
    engine: Engine,
    deployment: Choices,
    model: CachedModel,
    device: Accelerator,
    tensor_parallel: int,
) -> Start:
    if deployment.kv_cache_dtype not in engine.kv_cache_dtypes:
        known = ", ".join(engine.kv_cache_dtypes)
        raise ShapeError(
            "kv_cache_dtype", f"{deployment.kv_cache_dtype!r} is none of {engine.title}'s: {known}"
        )
    if deployment.block_size is not None and engine.block is None:
        raise ShapeError("block_size", f"{engine.title} has none")
    # A model computes in the dtype that it is loaded in; quantised weights do not change that.
    stored_as = deployment.weight_dtype
    computed = stored_as if stored_as in PLAIN else model.torch_dtype or "bfloat16"
    state = model.state_dtype
    return Start(
        engine_version=deployment.engine_version,
        kv_cache_dtype=cache_dtype(deployment.kv_cache_dtype),
        block_size=deployment.block_size or engine.default_block_size,
        tensor_parallel=tensor_parallel,
        decode_context_parallel=deployment.decode_context_parallel,
        max_num_batched_tokens=_batched_tokens(engine, deployment, device),
        max_num_seqs=deployment.max_num_seqs,
        prefix_caching=deployment.prefix_caching,
        conv_element=cache_dtype(OF_TORCH.get(computed, computed)).element,
        state_element=cache_dtype(OF_TORCH.get(state, state)).element if state else None,
    )


def _batched_tokens(engine: Engine, deployment: Choices, device: Accelerator) -> int:
    if deployment.max_num_batched_tokens is not None:
        return deployment.max_num_batched_tokens
    if engine.default_batched_tokens is None:
        return 0
    return engine.default_batched_tokens(device.memory.base, deployment.engine_version)


_CACHE_CHOICES = (
    "max_num_seqs", "max_model_len", "block_size", "kv_cache_dtype", "tensor_parallel",
)  # fmt: skip
_DEGREES = ("pipeline_parallel", "decode_context_parallel")


def _cache_inputs(deployment: Choices, start: Start, plan: CachePlan) -> tuple[Input, ...]:
    degrees = (name for name in _DEGREES if getattr(deployment, name) > 1)
    names = [*_CACHE_CHOICES, *degrees, *plan.choices]
    stated = [name for name in names if getattr(deployment, name) is not None]
    inputs = choice_inputs(deployment, *stated)
    if "max_num_batched_tokens" in plan.choices and deployment.max_num_batched_tokens is None:
        origin = "not stated: vllm serve's default for the device's memory"
        inputs += (Input("max_num_batched_tokens", start.max_num_batched_tokens, origin),)
    return inputs


def _kv_cache(
    deployment: Choices, model: CachedModel, start: Start, plan: CachePlan, length: int
) -> Term:
    """What the stated sequences of full length need: a term, with a part for each kind of layer."""
    inputs = inputs_of(model) + _cache_inputs(deployment, start, plan)
    parts = [
        leaf(name_of(need.layout), need.bytes, need.formula, inputs)
        for need in plan.needs(deployment.max_num_seqs, length)
    ]
    if len(parts) == 1:
        return replace(parts[0], name="kv_cache")
    return total("kv_cache", parts)


def _stated(name: str, stated: StatedMemory | None) -> Term | None:
    if stated is None:
        return None
    size = ceil(stated.size.base)
    fact = Input(f"{name}_memory", size, stated.origin, given=True)
    return replace(leaf(name, size, "stated, not worked out", [fact]), stated=True)
