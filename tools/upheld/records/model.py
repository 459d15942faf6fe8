"""A language model's shape, in the words of its config.json."""

from __future__ import annotations

from typing import Literal

from pydantic import field_validator

from upheld.records.types import (
    Count,
    Flag,
    Line,
    OriginRef,
    Record,
    Text,
    Tokens,
    check_origins,
)

TorchDtype = Literal["float32", "bfloat16", "float16"]


class Model(Record):
    """Shape of a dense decoder with full attention.

    Field names are those of Transformers' config.json. `origin` says where the facts came from;
    `origins` says so for single fields that came from elsewhere. `parameters`, where it is
    stated, is compared with the count that the shape gives.
    """

    kind: Literal["model"]
    aliases: list[Line] = []
    revision: Line | None = None
    architecture: Line
    attention: Literal["full"]
    num_hidden_layers: Count
    num_attention_heads: Count
    num_key_value_heads: Count
    head_dim: Count
    hidden_size: Count
    intermediate_size: Count
    vocab_size: Count
    max_position_embeddings: Tokens
    tie_word_embeddings: Flag
    qkv_bias: Flag = False
    qk_norm: Flag = False
    torch_dtype: TorchDtype
    parameters: Count | None = None
    origin: OriginRef
    origins: dict[str, OriginRef] = {}
    notes: Text | None = None

    @field_validator("origins")
    @classmethod
    def _name_fields(cls, origins: dict[str, OriginRef]) -> dict[str, OriginRef]:
        return check_origins(cls, origins)
