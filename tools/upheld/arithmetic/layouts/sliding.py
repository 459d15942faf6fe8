"""Sliding-window attention: a token is needed for as long as it is in somebody's window."""

from __future__ import annotations

from dataclasses import dataclass

from upheld.arithmetic.layouts.full import FullAttention


@dataclass(frozen=True, slots=True)
class SlidingAttention(FullAttention):
    """Attention to the last `window` tokens alone."""

    window: int

    def tokens_held(self, tokens: int, batched_tokens: int) -> int:
        """The window before a batch, and the batch itself, while that is computed."""
        return min(self.window - 1 + batched_tokens, tokens)
