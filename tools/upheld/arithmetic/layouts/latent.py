"""Multi-head latent attention (DeepSeek): one latent and one rotary key a token, for K and V."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from upheld.arithmetic.dtypes import CacheDtype
from upheld.arithmetic.layouts.full import FullAttention

# Of DeepSeek Sparse Attention: an fp8 latent with its scales (fp8_ds_mla), and an indexer's key of
# a byte an element with an fp32 scale for each 128, whatever the cache's dtype is.
FP8_SPARSE_LATENT_BYTES = 656
INDEXER_BLOCK = 128
INDEXER_SCALE_BYTES = 4


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

    @property
    def indexer_bytes(self) -> int:
        """Bytes of one token's key of the sparse indexer in one layer; 0 without one."""
        return self.index_dim + INDEXER_SCALE_BYTES * -(-self.index_dim // INDEXER_BLOCK)

    def sparse_token_bytes(self, dtype: CacheDtype, *, packed: bool = True) -> Fraction:
        """The row with the sparse indexer's key, as vLLM (deepseek_v2.py) and SGLang keep it.

        `packed` fp8 rows have their scales beside them (fp8_ds_mla); others are plain.
        """
        if self.index_dim and packed and dtype.name == "fp8":
            return Fraction(FP8_SPARSE_LATENT_BYTES + self.indexer_bytes)
        return self.token_bytes(dtype) + self.indexer_bytes

    def tokens_held(self, tokens: int, batched_tokens: int) -> int:
        """All of them."""
        return tokens

    def expanded(self) -> FullAttention:
        """The full keys and values that an engine without latent caching keeps instead."""
        return FullAttention(self.layers, self.heads, self.qk_nope + self.rope, self.v_head)
