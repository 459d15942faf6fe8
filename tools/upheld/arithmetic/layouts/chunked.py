"""Chunked local attention (Llama 4): a token sees its own chunk and nothing before it."""

from __future__ import annotations

from dataclasses import dataclass

from upheld.arithmetic.layouts.full import FullAttention


@dataclass(frozen=True, slots=True)
class ChunkedAttention(FullAttention):
    """Attention within chunks of `chunk` tokens."""

    chunk: int

    def tokens_held(self, tokens: int, batched_tokens: int) -> int:
        """The chunk that a batch begins in, and the batch."""
        return min(self.chunk + batched_tokens, tokens)
