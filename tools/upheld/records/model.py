"""A language model's shape, in the words of its config.json."""

from __future__ import annotations

from typing import Literal

from pydantic import field_validator, model_validator

from upheld.records.types import (
    Count,
    Flag,
    Line,
    OriginRef,
    Part,
    Record,
    Text,
    Tokens,
    check_origins,
)

TorchDtype = Literal["float32", "bfloat16", "float16"]


class CachedLayers(Part):
    """Layers that leave something behind, by kind. Widths are elements; `window` is tokens.

    `latent` layers keep one row of `latent + rope` for K and V together; the last four kinds keep
    a state of constant size for each sequence.
    """

    kind: Literal[
        "full",
        "sliding",
        "chunked",
        "latent",
        "gated_delta_net",
        "mamba2",
        "mamba",
        "short_convolution",
    ]
    layers: Count
    kv_heads: Count | None = None
    k_dim: Count | None = None
    v_dim: Count | None = None
    window: Count | None = None
    latent: Count | None = None
    rope: Count | None = None
    index_dim: Count | None = None
    conv_kernel: Count | None = None
    channels: Count | None = None
    heads: Count | None = None
    head_dim: Count | None = None
    state: Count | None = None
    groups: Count | None = None
    v_heads: Count | None = None
    k_heads: Count | None = None

    @model_validator(mode="after")
    def _has_what_its_kind_needs(self) -> CachedLayers:
        needed = _NEEDED[self.kind]
        given = {name for name in type(self).model_fields if getattr(self, name) is not None}
        missing = [name for name in needed if name not in given]
        if missing:
            raise ValueError(f"layers of kind {self.kind} need {', '.join(missing)}")
        spare = given - {"kind", "layers", *needed, *_OPTIONAL.get(self.kind, ())}
        if spare:
            raise ValueError(f"layers of kind {self.kind} have no {', '.join(sorted(spare))}")
        return self


_HEADS = ("kv_heads", "k_dim", "v_dim")
_NEEDED: dict[str, tuple[str, ...]] = {
    "full": _HEADS,
    "sliding": (*_HEADS, "window"),
    "chunked": (*_HEADS, "window"),
    "latent": ("latent", "rope"),
    "gated_delta_net": ("conv_kernel", "v_heads", "k_heads", "k_dim", "v_dim"),
    "mamba2": ("conv_kernel", "heads", "head_dim", "state", "groups"),
    "mamba": ("conv_kernel", "channels", "state"),
    "short_convolution": ("conv_kernel", "channels"),
}
_STATES = ("gated_delta_net", "mamba2", "mamba", "short_convolution")
_OF_ATTENTION = (
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "intermediate_size",
    "max_position_embeddings",
)
_OPTIONAL: dict[str, tuple[str, ...]] = {"latent": ("index_dim",)}


class Model(Record):
    """Shape of a decoder.

    With `attention: full` every layer caches keys and values of `num_key_value_heads` heads; with
    `attention: listed` the layers with a cache are those of `cached_layers`.
    A model whose cached layers all keep a state may have no heads, no feed-forward part
    and no positions.
    Field names are those of Transformers' config.json. `origin` says where the facts came from;
    `origins` says so for single fields that came from elsewhere. `parameters`, where it is
    stated, is compared with the count that the shape gives.
    """

    kind: Literal["model"]
    aliases: list[Line] = []
    revision: Line | None = None
    architecture: Line
    attention: Literal["full", "listed"]
    cached_layers: list[CachedLayers] = []
    num_hidden_layers: Count
    num_attention_heads: Count | None = None
    num_key_value_heads: Count | None = None
    head_dim: Count | None = None
    hidden_size: Count
    intermediate_size: Count | None = None
    vocab_size: Count
    max_position_embeddings: Tokens | None = None
    tie_word_embeddings: Flag
    qkv_bias: Flag = False
    qk_norm: Flag = False
    torch_dtype: TorchDtype
    state_dtype: TorchDtype | None = None
    parameters: Count | None = None
    origin: OriginRef
    origins: dict[str, OriginRef] = {}
    notes: Text | None = None

    @field_validator("origins")
    @classmethod
    def _name_fields(cls, origins: dict[str, OriginRef]) -> dict[str, OriginRef]:
        return check_origins(cls, origins)

    @model_validator(mode="after")
    def _lists_layers_where_it_says_so(self) -> Model:
        if (self.attention == "listed") != bool(self.cached_layers):
            raise ValueError("cached_layers goes with attention: listed, and only with it")
        return self

    @model_validator(mode="after")
    def _has_heads_where_it_attends(self) -> Model:
        missing = [name for name in _OF_ATTENTION if getattr(self, name) is None]
        states_alone = all(each.kind in _STATES for each in self.cached_layers)
        if missing and not (self.cached_layers and states_alone):
            raise ValueError(
                f"{', '.join(missing)}: needed of a model with attention; only one whose cached "
                "layers all keep a state may leave them out"
            )
        return self

    @property
    def weights_unknown(self) -> str | None:
        """Why the weights can't be worked out from the shape, or None where they can."""
        if self.attention == "full":
            return None
        return "of a model with listed layers they are stated, in the deployment's weight_memory"
