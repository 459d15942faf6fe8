"""Weights on one device, as vLLM counts them: "Model loading took X GiB".

Three parts: every fused tensor of the rank (`decoder`, stored as `formats` says), the rotary
cos/sin table (`rotary`), and what PyTorch's caching allocator counts beyond the tensors
(`allocator`). vLLM prints the bytes of the allocator's blocks (vllm/utils/mem_utils.py,
DeviceMemoryProfiler), not those of the tensors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from upheld.arithmetic.engines.vllm import stage_sizes
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.facts import Choices, Shape, choice_inputs
from upheld.arithmetic.terms import Term, leaf, total
from upheld.arithmetic.weights.allocator import CachingAllocator
from upheld.arithmetic.weights.decoder import Decoder, decoder, padded_vocabulary
from upheld.arithmetic.weights.formats import Stored, stored
from upheld.arithmetic.weights.rotary import RotaryTable, rotary_table
from upheld.arithmetic.weights.structure import Structure, known_inputs
from upheld.arithmetic.weights.tensors import Tensor

__all__ = ["MAX_LAYERS", "count_parameters", "weights"]

StageSizes = Callable[[int, int], list[int]]

# vLLM looks at every back end for latent attention, and FlashInfer's takes this when it is imported
# (v1/attention/backends/mla/flashinfer_mla.py, g_fi_workspace; platforms/cuda.py; read in 0.19.0).
LATENT_WORKSPACE = 128 * 1024 * 1024
# The allocator is followed tensor by tensor, so a shape may not ask for any number of them.
MAX_LAYERS = 10_000


def count_parameters(model: Shape) -> int:
    """Parameters of the whole model, whatever it is stored as and split over.

    Raises:
        ShapeError: the shape does not work.
    """
    whole = decoder(Structure.of(model), tensor_parallel=1, vocabulary=model.vocab_size)
    return sum(tensor.parameters for tensor in whole.before + whole.after) + sum(
        kind.layers * tensor.parameters for kind in whole.kinds for tensor in kind.tensors
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
) -> Term:
    """What the weights take on one device: of `tensor_parallel`, in one pipeline stage.

    The first stage holds the embedding, the last one the norm and the output head; each holds
    the rotary table. Facts that a model may have beside those of `Shape` are in `Structure`.
    `stage_sizes` shares layers out as the engine does. Where `as_allocated` is off, the tensors of
    the model alone are counted, and nothing that is vLLM's own.

    Raises:
        ShapeError: the shape does not work, can't be split so, has another count of parameters
            than the model states, or lacks a fact that the figure depends on.
    """
    if model.weights_unknown is not None:
        raise ShapeError("weights", model.weights_unknown)
    structure = Structure.of(model)
    counted = count_parameters(model)
    if model.parameters is not None and model.parameters != counted:
        raise ShapeError(
            "parameters", f"{model.parameters:,} are stated, but the shape has {counted:,}"
        )
    rank = decoder(structure, tensor_parallel, padded_vocabulary(structure, tensor_parallel))
    rank = _stage(rank, structure, pipeline_parallel, stage, stage_sizes)
    table = rotary_table(structure, deployment.weight_dtype)

    def term(tensor: Tensor, layers: int | None = None) -> Term:
        kept = stored(tensor, deployment)
        times = "" if layers is None else f"{layers:,} layers × "
        fields = tensor.fields if layers is None else ("num_hidden_layers", *tensor.fields)
        return leaf(
            tensor.name,
            (1 if layers is None else layers) * kept.bytes,
            times + kept.formula + tensor.note,
            known_inputs(model, *fields) + choice_inputs(deployment, *kept.choices),
        )

    held: Counter[Tensor] = Counter()
    for kind in rank.kinds:
        held.update(dict.fromkeys(kind.tensors, kind.layers))
    layers = [term(tensor, count) for tensor, count in held.items()]
    tensors = [*map(term, rank.before), total("layers", layers), *map(term, rank.after)]
    if not as_allocated:
        return total("weights", tensors)
    table_term = leaf(
        "rotary table",
        table.bytes,
        table.formula,
        known_inputs(model, *table.fields) + choice_inputs(deployment, "weight_dtype"),
    )
    counted_bytes, allocations = _allocate(rank, table, deployment)
    beyond = counted_bytes - sum(part.bytes for part in tensors) - table.bytes
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
    return total("weights", [*tensors, table_term, *workspace, rounding])


def _stage(
    whole: Decoder, model: Structure, stages: int, stage: int, stage_sizes: StageSizes
) -> Decoder:
    layers = model.num_hidden_layers
    if not 1 <= stages <= layers:
        raise ShapeError("pipeline_parallel", f"{stages} stages can't share {layers:,} layers")
    if not 0 <= stage < stages:
        raise ShapeError("stage", f"{stage} is none of {stages} stages, counted from 0")
    if layers > MAX_LAYERS:
        raise ShapeError("num_hidden_layers", f"{layers:,} are more than {MAX_LAYERS:,}")
    sizes = stage_sizes(layers, stages)
    start = sum(sizes[:stage])
    last = stage == stages - 1
    # A tied head is the embedding, so the last stage holds it too.
    holds_embedding = stage == 0 or (last and model.tie_word_embeddings)
    return Decoder(
        before=whole.before if holds_embedding else (),
        kinds=tuple(
            part for kind in whole.kinds if (part := kind.within(start, start + sizes[stage]))
        ),
        after=whole.after if last else (),
    )


def _allocate(rank: Decoder, table: RotaryTable, deployment: Choices) -> tuple[int, int]:
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

    list(build(sized(rank.before)))
    table_is_built = False
    for kind in rank.kinds:
        tensors = sized(kind.tensors)
        for _ in range(kind.layers):
            for tensor in build(tensors):
                if tensor.before_rotary_table and not table_is_built:
                    # The first layer builds the table; the later ones share it.
                    table.build(allocator)
                    table_is_built = True
                    count += bool(table.bytes)
    list(build(sized(rank.after)))
    return allocator.allocated, count
