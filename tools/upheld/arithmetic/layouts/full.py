"""Full attention: each token of a sequence has a key and a value in every layer, for good."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from upheld.arithmetic.errors import ShapeError


@dataclass(frozen=True, slots=True)
class FullAttention:
    """The KV cache of multi-head, grouped-query and multi-query attention on one rank.

    Keys and values have the same width. `kv_heads` is the model's; a rank of `tensor_parallel`
    holds an equal share of them, or one whole copy each where there are fewer heads than ranks
    (vLLM: `max(1, total_num_kv_heads // tensor_parallel_size)`).

    Raises:
        ShapeError: the heads can't be shared out, or copied, evenly.
    """

    layers: int
    kv_heads: int
    head_dim: int
    tensor_parallel: int = 1

    def __post_init__(self) -> None:
        few, many = sorted((self.kv_heads, self.tensor_parallel))
        if few < 1 or many % few:
            raise ShapeError(
                "num_key_value_heads",
                f"{self.kv_heads} KV heads can't be shared out evenly over "
                f"{self.tensor_parallel} devices",
            )

    @property
    def kv_heads_on_rank(self) -> int:
        """KV heads that one device holds, copies included."""
        return max(1, self.kv_heads // self.tensor_parallel)

    def bytes_per_token(self, element: Fraction) -> int:
        """Bytes of one token's keys and values in all layers, at `element` bytes each."""
        return int(self.layers * self.kv_heads_on_rank * self.head_dim * 2 * element)

    def blocks(self, tokens: int, block_size: int) -> int:
        """Blocks of one sequence of `tokens`: the last one is held whole, however full."""
        return -(-tokens // block_size)
