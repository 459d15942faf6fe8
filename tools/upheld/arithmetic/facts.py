"""What arithmetic asks of a model, a device and a deployment.

Records of these kinds have what is asked; so may any plain object, such as one read from a
config.json. Nothing here loads pydantic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.terms import Input
from upheld.records.units import Quantity


class CachedModel(Protocol):
    """A model of which at least the cached layers are known."""

    @property
    def attention(self) -> str:
        """`full` in all layers, or `listed` in `cached_layers`."""

    @property
    def cached_layers(self) -> Sequence[Any]:
        """Layers with a cache, by kind, where they are listed; see cache.layers_of.

        A model may also have `layer_order`; see stages.layers_by_stage.
        """

    @property
    def torch_dtype(self) -> str | None:
        """The dtype that the model computes in, a key of dtypes.OF_TORCH or its value, or None."""

    @property
    def state_dtype(self) -> str | None:
        """The dtype of recurrent states, likewise, or None: as the model's."""

    @property
    def weights_unknown(self) -> str | None:
        """Why the weights can't be worked out from the shape; None where they can, in a Shape."""

    @property
    def origin(self) -> str:
        """Where the fields came from."""

    @property
    def origins(self) -> Mapping[str, str]:
        """Where single fields came from, if from elsewhere."""


class Shape(CachedModel, Protocol):
    """A dense decoder. Fields are named as in Transformers' config.json."""

    @property
    def num_hidden_layers(self) -> int:
        """Layers, each with attention and a feed-forward part."""

    @property
    def num_attention_heads(self) -> int:
        """Query heads of one layer."""

    @property
    def num_key_value_heads(self) -> int:
        """Heads of one layer whose keys and values are cached."""

    @property
    def head_dim(self) -> int:
        """Elements of one head."""

    @property
    def hidden_size(self) -> int:
        """Elements of one token between layers."""

    @property
    def intermediate_size(self) -> int:
        """Elements inside the feed-forward part."""

    @property
    def vocab_size(self) -> int:
        """Tokens that the vocabulary has, before any engine pads it."""

    @property
    def tie_word_embeddings(self) -> bool:
        """Whether the output head is the embedding itself."""

    @property
    def qkv_bias(self) -> bool:
        """Whether the query, key and value projections have a bias."""

    @property
    def qk_norm(self) -> bool:
        """Whether queries and keys are normalised by head."""

    @property
    def parameters(self) -> int | None:
        """The count that the publisher states, or None."""


class Accelerator(Protocol):
    """One kind of device."""

    @property
    def memory(self) -> Quantity:
        """What the driver reports as total, in bytes."""

    @property
    def origin(self) -> str:
        """Where the fields came from."""

    @property
    def origins(self) -> Mapping[str, str]:
        """Where single fields came from, if from elsewhere."""


class StatedMemory(Protocol):
    """Memory of one device that somebody stated, such as activations, graphs and context."""

    @property
    def size(self) -> Quantity:
        """Bytes on one device."""

    @property
    def origin(self) -> str:
        """Where the figure came from."""


class Choices(Protocol):
    """What somebody chose: how the model is stored, split and bounded.

    A deployment that was not read from a record may have `origins` too, as a shape has.
    """

    @property
    def id(self) -> str:
        """The name of the deployment."""

    @property
    def engine(self) -> str:
        """The engine, such as `vllm`."""

    @property
    def engine_version(self) -> str | None:
        """The engine's version, or None: not stated."""

    @property
    def max_num_batched_tokens(self) -> int | None:
        """Tokens of one step of the scheduler, or None: the engine's default."""

    @property
    def prefix_caching(self) -> bool:
        """Whether blocks of equal prefixes are shared, which decides how states are cached."""

    @property
    def weight_dtype(self) -> str:
        """A key of dtypes.WEIGHT_BYTES."""

    @property
    def weight_group_size(self) -> int | None:
        """Input channels that share one scale; only with int4."""

    @property
    def kv_cache_dtype(self) -> str:
        """A key of dtypes.KV_CACHE."""

    @property
    def block_size(self) -> int | None:
        """Tokens of one block of the KV cache, or None: the engine's default."""

    @property
    def tensor_parallel(self) -> int:
        """Devices that each layer is split over."""

    @property
    def pipeline_parallel(self) -> int:
        """Stages that the layers are shared out to, each on `tensor_parallel` devices."""

    @property
    def data_parallel(self) -> int:
        """Groups of such devices, each with a cache and requests of its own."""

    @property
    def expert_parallel(self) -> bool:
        """Whether ranks share out whole experts, and not parts of each."""

    @property
    def decode_context_parallel(self) -> int:
        """Of the tensor-parallel ranks, how many share the tokens of one sequence."""

    @property
    def gpu_memory_utilization(self) -> Fraction:
        """The share of device memory that the engine may use, whatever the engine calls it."""

    @property
    def kv_cache_memory(self) -> StatedMemory | None:
        """Memory for the cache of one device where it is stated, or None: what the share leaves."""

    @property
    def max_model_len(self) -> Quantity:
        """Tokens of the longest sequence, prompt and output together."""

    @property
    def max_num_seqs(self) -> int:
        """Sequences that are held at once."""

    @property
    def runtime_memory(self) -> StatedMemory | None:
        """What weights and cache leave out, or None: not stated."""

    @property
    def weight_memory(self) -> StatedMemory | None:
        """Weights of one device where they are stated, or None: worked out from the shape."""

    @property
    def assumes(self) -> Sequence[str]:
        """Ids of the assumptions that it rests upon."""


def fact_inputs(record: CachedModel | Accelerator, *fields: str) -> tuple[Input, ...]:
    """Fields of a model or device as inputs: facts, each with its own origin."""
    return tuple(
        Input(
            field,
            _plain(getattr(record, field)),
            record.origins.get(field, record.origin),
            given=True,
        )
        for field in fields
    )


def choice_inputs(deployment: Choices, *fields: str) -> tuple[Input, ...]:
    """Fields of a deployment as inputs: decisions, which come from the deployment itself."""
    origins: Mapping[str, str] = getattr(deployment, "origins", {})
    return tuple(
        Input(field, _plain(getattr(deployment, field)), origins.get(field, deployment.id))
        for field in fields
    )


def whole_tokens(deployment: Choices) -> int:
    """The context limit in tokens.

    Raises:
        ShapeError: it is not a whole number of at least 1.
    """
    tokens = deployment.max_model_len.base
    if tokens < 1 or tokens.denominator != 1:
        raise ShapeError("max_model_len", "wants a whole number of tokens, at least 1")
    return int(tokens)


def _plain(value: int | str | Fraction | Quantity) -> int | str | Fraction:
    if isinstance(value, Quantity):
        value = value.base
    if isinstance(value, Fraction) and value.denominator == 1:
        return int(value)
    return value
