"""Weights on one device, as vLLM counts them: "Model loading took X GiB".

Three parts: every fused tensor of the rank (`decoder`, stored as `formats` says), the rotary
cos/sin table (`rotary`), and what PyTorch's caching allocator counts beyond the tensors
(`allocator`). vLLM prints the bytes of the allocator's blocks (vllm/utils/mem_utils.py,
DeviceMemoryProfiler), not those of the tensors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from upheld.arithmetic.engines.vllm import stage_sizes
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.facts import Choices, Shape, choice_inputs
from upheld.arithmetic.terms import Term, leaf, total
from upheld.arithmetic.weights.allocator import CachingAllocator
from upheld.arithmetic.weights.decoder import (
    MAX_LAYERS,
    Decoder,
    ExpertRanks,
    decoder,
    padded_vocabulary,
)
from upheld.arithmetic.weights.formats import Stored, stored
from upheld.arithmetic.weights.kept import keep
from upheld.arithmetic.weights.rotary import RotaryTable, local_rotary_table, rotary_table
from upheld.arithmetic.weights.structure import Structure, known_inputs, stated_fact
from upheld.arithmetic.weights.tensors import Tensor
from upheld.arithmetic.weights.towers import TOWER_FIELDS

__all__ = ["MAX_LAYERS", "count_parameters", "weights"]

StageSizes = Callable[[int, int], list[int]]

# vLLM looks at every back end for latent attention, and FlashInfer's takes this when it is imported
# (v1/attention/backends/mla/flashinfer_mla.py, g_fi_workspace; platforms/cuda.py; read in 0.19.0).
LATENT_WORKSPACE = 128 * 1024 * 1024
_TABLE = "rotary table"
_LOCAL_TABLE = "rotary table of layers that slide"


def count_parameters(model: Shape) -> int:
    """Parameters of the whole model, whatever it is stored as and split over.

    Raises:
        ShapeError: the shape does not work.
    """
    structure = Structure.of(model)
    whole = decoder(structure, tensor_parallel=1, vocabulary=structure.vocab_size)
    repeated = [(layer.times, layer.tensors) for layer in whole.tower]
    repeated += [(kind.layers, kind.tensors) for kind in whole.kinds]
    return sum(tensor.parameters for tensor in whole.before + whole.after) + sum(
        times * tensor.parameters for times, tensors in repeated for tensor in tensors
    )


def weights(
    deployment: Choices,
    model: Shape,
    tensor_parallel: int,
    *,
    pipeline_parallel: int = 1,
    stage: int = 0,
    stage_sizes: StageSizes = stage_sizes,
    as_allocated: bool = True,
    experts: ExpertRanks | None = None,
) -> Term:
    """What the weights take on one device: of `tensor_parallel`, in one pipeline stage.

    The first stage holds the embedding, the last one the norm and the output head; each holds
    the rotary table. Facts that a model may have beside those of `Shape` are in `Structure`.
    `stage_sizes` shares layers out as the engine does. Where `as_allocated` is off, the tensors of
    the model alone are counted, and nothing that is vLLM's own. `experts` says who shares them,
    where that is not the tensor-parallel ranks alone.

    Raises:
        ShapeError: the shape does not work, can't be split so, has another count of parameters
            than the model states, or lacks a fact that the figure depends on.
    """
    if model.weights_unknown is not None:
        raise ShapeError("weights", model.weights_unknown)
    structure = Structure.of(model)
    counted = count_parameters(model)
    published = stated_fact(model, "parameters")
    if published is not None and published != counted:
        raise ShapeError("parameters", f"{published:,} are stated, but the shape has {counted:,}")
    vocabulary = padded_vocabulary(structure, tensor_parallel)
    rank = decoder(structure, tensor_parallel, vocabulary, experts)
    rank = replace(rank, kinds=keep(rank.kinds, structure.modules_to_not_convert))
    rank = _stage(rank, structure, pipeline_parallel, stage, stage_sizes)
    tables = _rotary_tables(structure, deployment.weight_dtype)

    def term(tensor: Tensor, layers: int | None = None) -> Term:
        kept = stored(tensor, deployment)
        times = "" if layers is None else f"{layers:,} layers × "
        in_decoder = layers is not None and tensor.fields != TOWER_FIELDS
        fields = ("num_hidden_layers", *tensor.fields) if in_decoder else tensor.fields
        return leaf(
            tensor.name,
            (1 if layers is None else layers) * kept.bytes,
            times + kept.formula + tensor.note,
            known_inputs(model, *fields) + choice_inputs(deployment, *kept.choices),
        )

    def terms(repeated: Iterable[tuple[Sequence[Tensor], int]]) -> list[Term]:
        held: Counter[Tensor] = Counter()
        for tensors, times in repeated:
            held.update(dict.fromkeys(tensors, times))
        return [term(tensor, count if count > 1 else None) for tensor, count in held.items()]

    layers = terms((kind.tensors, kind.layers) for kind in rank.kinds)
    tower = terms((layer.tensors, layer.times) for layer in rank.tower)
    tensors = [total("vision tower", tower)] if tower else []
    tensors += [*map(term, rank.before), total("layers", layers), *map(term, rank.after)]
    if not as_allocated:
        return total("weights", tensors)
    table_terms = [
        leaf(
            name,
            table.bytes,
            table.formula,
            known_inputs(model, *table.fields) + choice_inputs(deployment, "weight_dtype"),
        )
        for name, table in tables.items()
    ]
    counted_bytes, allocations = _allocate(rank, tables, deployment)
    beyond = counted_bytes - sum(part.bytes for part in (*tensors, *table_terms))
    rounding = leaf(
        "allocator rounding",
        beyond,
        f"blocks of PyTorch's caching allocator for {allocations:,} tensors, less the tensors",
        known_inputs(model, "num_hidden_layers")
        + choice_inputs(deployment, "weight_dtype", "tensor_parallel"),
    )
    workspace = []
    if structure.attention == "latent":
        words = "a buffer of 128 MiB that FlashInfer's latent attention takes when it is imported"
        inputs = known_inputs(model, "attention")
        workspace.append(leaf("latent workspace", LATENT_WORKSPACE, words, inputs))
    return total("weights", [*tensors, *table_terms, *workspace, rounding])


def _rotary_tables(model: Structure, weight_dtype: str) -> dict[str, RotaryTable]:
    tables = {_TABLE: rotary_table(model, weight_dtype)}
    if local := local_rotary_table(model, weight_dtype):
        tables[_LOCAL_TABLE] = local
    return tables


def _stage(
    whole: Decoder, model: Structure, stages: int, stage: int, stage_sizes: StageSizes
) -> Decoder:
    layers = model.num_hidden_layers
    if not 1 <= stages <= layers:
        raise ShapeError("pipeline_parallel", f"{stages} stages can't share {layers:,} layers")
    if not 0 <= stage < stages:
        raise ShapeError("stage", f"{stage} is none of {stages} stages, counted from 0")
    sizes = stage_sizes(layers, stages)
    start = sum(sizes[:stage])
    last = stage == stages - 1
    # A tied head is the embedding, so the last stage holds it too.
    holds_embedding = stage == 0 or (last and model.tie_word_embeddings)
    return Decoder(
        tower=whole.tower,
        before=whole.before if holds_embedding else (),
        kinds=tuple(
            part for kind in whole.kinds if (part := kind.within(start, start + sizes[stage]))
        ),
        after=whole.after if last else (),
    )


def _allocate(
    rank: Decoder, tables: Mapping[str, RotaryTable], deployment: Choices
) -> tuple[int, int]:
    """Bytes of all blocks once the model is built in vLLM's order, and how many tensors it has."""
    allocator = CachingAllocator()
    count = 0

    def build(tensors: Sequence[tuple[Tensor, Stored]]) -> Iterator[Tensor]:
        nonlocal count
        for tensor, kept in tensors:
            for size in kept.allocations:
                allocator.allocate(size)
                count += 1
            yield tensor

    def sized(tensors: Sequence[Tensor]) -> list[tuple[Tensor, Stored]]:
        return [(tensor, stored(tensor, deployment)) for tensor in tensors]

    for layer in rank.tower:
        list(build(sized(layer.tensors) * layer.times))
    list(build(sized(rank.before)))
    unbuilt = dict(tables)
    for kind in rank.kinds:
        tensors = sized(kind.tensors)
        name = _LOCAL_TABLE if kind.local else _TABLE
        for _ in range(kind.layers):
            for tensor in build(tensors):
                # The first layer that needs a table builds it; the later ones share it.
                if tensor.before_rotary_table and (table := unbuilt.pop(name, None)):
                    table.build(allocator)
                    count += bool(table.bytes)
    list(build(sized(rank.after)))
    return allocator.allocated, count
