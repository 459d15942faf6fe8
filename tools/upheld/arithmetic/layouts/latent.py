"""Multi-head latent attention (DeepSeek): one latent and one rotary key a token, for K and V."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from upheld.arithmetic.dtypes import CacheDtype
from upheld.arithmetic.layouts.full import FullAttention


@dataclass(frozen=True, slots=True)
class LatentAttention:
    """A row of `latent + rope` elements a token and layer, which every rank holds whole.

    `index_dim` is the width of the sparse indexer's key (DeepSeek Sparse Attention), 0 without.
    `heads`, `qk_nope` and `v_head` say what the latent expands to, where an engine keeps that.
    """

    layers: int
    latent: int
    rope: int
    index_dim: int = 0
    heads: int = 0
    qk_nope: int = 0
    v_head: int = 0

    @property
    def width(self) -> int:
        """Elements of one token's row in one layer."""
        return self.latent + self.rope

    def token_bytes(self, dtype: CacheDtype, tensor_parallel: int = 1) -> Fraction:
        """Bytes of one token's row in one layer; the same on every rank."""
        return dtype.head_bytes(self.width)

    def tokens_held(self, tokens: int, batched_tokens: int) -> int:
        """All of them."""
        return tokens

    def expanded(self) -> FullAttention:
        """The full keys and values that an engine without latent caching keeps instead."""
        return FullAttention(self.layers, self.heads, self.qk_nope + self.rope, self.v_head)
