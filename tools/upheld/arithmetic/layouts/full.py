"""Full attention: each token of a sequence has a key and a value in every layer, for good."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from upheld.arithmetic.dtypes import CacheDtype
from upheld.arithmetic.errors import ShapeError


@dataclass(frozen=True, slots=True)
class FullAttention:
    """Multi-head, grouped-query and multi-query attention; widths are elements of one head.

    A rank of a tensor-parallel group holds an equal share of the KV heads, or one whole copy
    where there are fewer heads than ranks (vLLM: `max(1, total_num_kv_heads // tp)`).
    """

    layers: int
    kv_heads: int
    k_dim: int
    v_dim: int

    def kv_heads_on_rank(self, tensor_parallel: int) -> int:
        """KV heads that one device holds, copies included.

        Raises:
            ShapeError: the heads can't be shared out, or copied, evenly.
        """
        few, many = sorted((self.kv_heads, tensor_parallel))
        if few < 1 or many % few:
            raise ShapeError(
                "num_key_value_heads",
                f"{self.kv_heads} KV heads can't be shared out evenly over "
                f"{tensor_parallel} devices",
            )
        return max(1, self.kv_heads // tensor_parallel)

    def key_bytes(self, dtype: CacheDtype, tensor_parallel: int = 1) -> Fraction:
        """Bytes of one token's keys in one layer on one rank."""
        return self.kv_heads_on_rank(tensor_parallel) * dtype.head_bytes(self.k_dim)

    def value_bytes(self, dtype: CacheDtype, tensor_parallel: int = 1) -> Fraction:
        """Bytes of one token's values in one layer on one rank."""
        return self.kv_heads_on_rank(tensor_parallel) * dtype.head_bytes(self.v_dim)

    def token_bytes(self, dtype: CacheDtype, tensor_parallel: int = 1) -> Fraction:
        """Bytes of one token's keys and values in one layer on one rank."""
        return self.key_bytes(dtype, tensor_parallel) + self.value_bytes(dtype, tensor_parallel)

    def tokens_held(self, tokens: int, batched_tokens: int) -> int:
        """Of a sequence of `tokens`, how many stay in the cache at most."""
        return tokens


def blocks_of(tokens: int, block_size: int) -> int:
    """Blocks that hold `tokens`: the last one is held whole, however full."""
    return -(-tokens // block_size)
