"""How an engine lays out the cache of one device: what every engine's plan can be asked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from upheld.arithmetic.dtypes import CacheDtype
from upheld.arithmetic.layouts import Layers


@dataclass(frozen=True, slots=True)
class Start:
    """What an engine is started with, as far as its cache depends on it.

    `engine_version` is as it was written, or None. `block_size` is in tokens. `conv_element` and
    `state_element` are bytes of an element of recurrent layers' convolution and state, the latter
    None where the model leaves it to the engine. `max_num_batched_tokens` is 0 where the engine's
    cache does not depend on it.
    """

    engine_version: str | None
    kv_cache_dtype: CacheDtype
    block_size: int
    tensor_parallel: int
    decode_context_parallel: int
    max_num_batched_tokens: int
    max_num_seqs: int
    prefix_caching: bool
    conv_element: Fraction
    state_element: Fraction | None


@dataclass(frozen=True, slots=True)
class Need:
    """What layers of one kind need on one device: bytes, and the sum behind them."""

    layout: Layers
    bytes: int
    formula: str


@dataclass(frozen=True)
class CachePlan(ABC):
    """The cache of one device, handed out in blocks.

    A block is the least that the engine hands out: a block of tokens, one token, or the whole
    room of one sequence. `block_size` is its tokens and `block_bytes` its bytes; `token_bytes` are
    those of one token in all layers that have attention.
    """

    layouts: tuple[Layers, ...]
    block_size: int
    block_bytes: int
    token_bytes: int

    @property
    def choices(self) -> tuple[str, ...]:
        """Choices of the deployment that this plan depends on, beside those that every plan does.

        Every plan depends on the dtype, the block size, tensor parallelism and the sequences.
        """
        return ()

    @abstractmethod
    def blocks_for(self, tokens: int) -> int:
        """Blocks that one sequence of `tokens` takes."""

    @abstractmethod
    def needs(self, sequences: int, tokens: int) -> Sequence[Need]:
        """What that many sequences of `tokens` need, by kind of layer."""

    def block_tokens(self, max_model_len: int) -> int:
        """Tokens of a block, where no sequence is longer than `max_model_len`."""
        return self.block_size

    def blocks(self, available: int) -> int:
        """Blocks in the bytes that are available for the cache."""
        return max(0, available // self.block_bytes)

    def tokens(self, blocks: int, max_model_len: int) -> int:
        """Tokens in those blocks, as the engine counts them."""
        return blocks * self.block_size

    def tokens_words(self, blocks: int, max_model_len: int) -> str:
        """How the tokens follow from the blocks, but for the figure itself."""
        return f"× {self.block_size} tokens a block"

    def concurrency(self, blocks: int, max_model_len: int) -> Fraction:
        """Sequences of full length that the blocks hold, as the engine counts them."""
        return Fraction(blocks, self.blocks_for(max_model_len))

    def sequences(self, available: int, tokens: int) -> int:
        """Whole sequences of `tokens` that the available bytes hold at once."""
        return self.blocks(available) // self.blocks_for(tokens)
