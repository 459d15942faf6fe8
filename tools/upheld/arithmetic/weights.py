"""Weights of a dense decoder on one device, tensor by tensor, named as vLLM names them.

Sources: vLLM's VocabParallelEmbedding (the vocabulary is padded to a multiple of 64, then split),
ColumnParallelLinear and RowParallelLinear (outputs and inputs are split), compressed-tensors
(scales). Not counted here: the rotary cos/sin table, and what the PyTorch allocator rounds up.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from upheld.arithmetic.dtypes import weight_bytes
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.facts import Choices, Shape, choice_inputs, fact_inputs
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.terms import Input, Term, leaf, total

VOCABULARY_PADDING = 64
QUANTISED = ("fp8", "int8", "int4")
# int4 weights are packed eight to a 32-bit word, along the input.
INT4_PER_WORD = 8


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor as one rank holds it: (outputs, inputs) of a matrix or (elements,) of a vector.

    `linear` says that weight quantisation applies to it; `fields` are those of the model that
    its size depends on.
    """

    name: str
    shape: tuple[int, ...]
    fields: tuple[str, ...]
    linear: bool = False
    note: str = ""

    @property
    def elements(self) -> int:
        """Parameters in the tensor."""
        return prod(self.shape)


@dataclass(frozen=True, slots=True)
class Decoder:
    """All tensors of one rank: those before the layers, of each layer, and after the layers."""

    before: tuple[Tensor, ...]
    layer: tuple[Tensor, ...]
    after: tuple[Tensor, ...]


def count_parameters(model: Shape) -> int:
    """Parameters of the whole model, whatever it is stored as and split over.

    Raises:
        ShapeError: the shape does not work.
    """
    whole = _decoder(model, tensor_parallel=1, vocabulary=model.vocab_size)
    return sum(tensor.elements for tensor in whole.before + whole.after) + (
        model.num_hidden_layers * sum(tensor.elements for tensor in whole.layer)
    )


def weights(deployment: Choices, model: Shape, tensor_parallel: int) -> Term:
    """The weights that one of `tensor_parallel` devices holds.

    fp32, bf16 and fp16 apply to every tensor. fp8, int8 and int4 apply to the linear layers;
    embedding, output head, norms and biases stay at 16 bits.

    Raises:
        ShapeError: the shape does not work, can't be split so, or has another count of
            parameters than the model states.
    """
    counted = count_parameters(model)
    if model.parameters is not None and model.parameters != counted:
        raise ShapeError(
            "parameters", f"{model.parameters:,} are stated, but the shape has {counted:,}"
        )
    padded = -(-model.vocab_size // VOCABULARY_PADDING) * VOCABULARY_PADDING
    rank = _decoder(model, tensor_parallel, _share("vocab_size", padded, tensor_parallel))

    def term(tensor: Tensor) -> Term:
        size, formula = _stored(tensor, deployment)
        return leaf(
            tensor.name,
            size,
            formula + tensor.note,
            fact_inputs(model, *tensor.fields) + _choices(tensor, deployment),
        )

    def term_of_all_layers(tensor: Tensor) -> Term:
        size, formula = _stored(tensor, deployment)
        return leaf(
            tensor.name,
            model.num_hidden_layers * size,
            f"{model.num_hidden_layers:,} layers × {formula}{tensor.note}",
            fact_inputs(model, "num_hidden_layers", *tensor.fields) + _choices(tensor, deployment),
        )

    return total(
        "weights",
        [
            *map(term, rank.before),
            total("layers", map(term_of_all_layers, rank.layer)),
            *map(term, rank.after),
        ],
    )


def _decoder(model: Shape, tensor_parallel: int, vocabulary: int) -> Decoder:
    _check(model)
    hidden = model.hidden_size
    query = _share("num_attention_heads", model.num_attention_heads, tensor_parallel)
    query *= model.head_dim
    attention = FullAttention(
        model.num_hidden_layers, model.num_key_value_heads, model.head_dim, model.head_dim
    )
    qkv = query + 2 * attention.kv_heads_on_rank(tensor_parallel) * model.head_dim
    inner = _share("intermediate_size", model.intermediate_size, tensor_parallel)

    heads = ("num_attention_heads", "head_dim", "hidden_size")
    qkv_fields = ("num_attention_heads", "num_key_value_heads", "head_dim", "hidden_size")
    feed_forward = ("intermediate_size", "hidden_size")
    words = ("vocab_size", "hidden_size")
    padding = ""
    if vocabulary * tensor_parallel != model.vocab_size:
        padding = f", {model.vocab_size:,} rows padded to a multiple of {VOCABULARY_PADDING}"

    layer = [
        Tensor("qkv_proj", (qkv, hidden), qkv_fields, linear=True),
        Tensor("o_proj", (hidden, query), heads, linear=True),
        Tensor("gate_up_proj", (2 * inner, hidden), feed_forward, linear=True),
        Tensor("down_proj", (hidden, inner), feed_forward, linear=True),
        Tensor("input_layernorm", (hidden,), ("hidden_size",)),
        Tensor("post_attention_layernorm", (hidden,), ("hidden_size",)),
    ]
    if model.qkv_bias:
        layer.insert(1, Tensor("qkv_proj.bias", (qkv,), (*qkv_fields[:3], "qkv_bias")))
    if model.qk_norm:
        layer += [
            Tensor("q_norm", (model.head_dim,), ("head_dim", "qk_norm")),
            Tensor("k_norm", (model.head_dim,), ("head_dim", "qk_norm")),
        ]
    after = [Tensor("norm", (hidden,), ("hidden_size",))]
    if not model.tie_word_embeddings:
        head = (*words, "tie_word_embeddings")
        after.append(Tensor("lm_head", (vocabulary, hidden), head, note=padding))
    return Decoder(
        before=(Tensor("embed_tokens", (vocabulary, hidden), words, note=padding),),
        layer=tuple(layer),
        after=tuple(after),
    )


def _check(model: Shape) -> None:
    if model.weights_unknown is not None:
        raise ShapeError("weights", model.weights_unknown)
    for field in (
        "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim",
        "hidden_size", "intermediate_size", "vocab_size",
    ):  # fmt: skip
        if getattr(model, field) < 1:
            raise ShapeError(field, "wants at least 1")
    if model.num_attention_heads % model.num_key_value_heads:
        raise ShapeError(
            "num_key_value_heads",
            f"{model.num_attention_heads} attention heads can't share "
            f"{model.num_key_value_heads} KV heads evenly",
        )


def _share(field: str, size: int, ranks: int) -> int:
    if size % ranks:
        raise ShapeError("tensor_parallel", f"{ranks} devices can't share {size:,} {field} evenly")
    return size // ranks


def _stored(tensor: Tensor, deployment: Choices) -> tuple[int, str]:
    """Bytes of the tensor as it is stored, with its scales, and how they come about."""
    dtype = deployment.weight_dtype
    element = weight_bytes(dtype)
    sizes = " × ".join(f"{size:,}" for size in tensor.shape)
    if dtype not in QUANTISED:
        return int(tensor.elements * element), f"{sizes} × {element} B"
    if not tensor.linear:
        return tensor.elements * 2, f"{sizes} × 2 B (not quantised)"
    outputs, inputs = tensor.shape
    if dtype != "int4":
        return (
            tensor.elements + outputs * 4,
            f"({sizes} × 1 B + {outputs:,} fp32 scales × 4 B)",
        )
    groups = _groups(tensor, inputs, deployment.weight_group_size)
    return (
        tensor.elements // 2 + outputs * groups * 2,
        f"({sizes} × 1/2 B + {outputs:,} × {groups:,} scales × 2 B; symmetric: no zero points)",
    )


def _groups(tensor: Tensor, inputs: int, size: int | None) -> int:
    if size is None:
        raise ShapeError("weight_group_size", "int4 weights need the size of their groups")
    if size % INT4_PER_WORD:
        raise ShapeError(
            "weight_group_size", f"{size} is not a multiple of {INT4_PER_WORD} (one 32-bit word)"
        )
    if inputs % size:
        raise ShapeError(
            "weight_group_size",
            f"the {inputs:,} inputs of {tensor.name} on one device do not divide into groups "
            f"of {size}",
        )
    return inputs // size


def _choices(tensor: Tensor, deployment: Choices) -> tuple[Input, ...]:
    fields = ["weight_dtype", "tensor_parallel"]
    if tensor.linear and deployment.weight_dtype == "int4":
        fields.append("weight_group_size")
    return choice_inputs(deployment, *fields)
