"""Layers with a state of constant size for each sequence: convolution columns and a memory.

A layout gives elements; bytes follow from two dtypes, that of the convolution (the model's) and
that of the state (often fp32). Sources: vLLM's MambaStateShapeCalculator.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from upheld.arithmetic.shares import share


@dataclass(frozen=True, slots=True)
class StateLayers:
    """What all layouts with a state have: how many layers, and taps of the convolution."""

    layers: int
    conv_kernel: int

    def channels(self, tensor_parallel: int = 1) -> int:
        """Channels of the convolution on one rank."""
        raise NotImplementedError

    def state_elements(self, tensor_parallel: int = 1) -> int:
        """Elements of the recurrent state of one sequence in one layer on one rank."""
        raise NotImplementedError

    def conv_elements(self, tensor_parallel: int = 1, draft_tokens: int = 0) -> int:
        """Elements of the kept convolution columns; each drafted token needs one more column."""
        return (self.conv_kernel - 1 + draft_tokens) * self.channels(tensor_parallel)

    def sequence_bytes(
        self,
        conv_element: Fraction,
        state_element: Fraction,
        tensor_parallel: int = 1,
        draft_tokens: int = 0,
    ) -> int:
        """Bytes of one sequence in one layer on one rank, however long the sequence is."""
        conv = self.conv_elements(tensor_parallel, draft_tokens) * conv_element
        return int(conv + self.state_elements(tensor_parallel) * state_element)


@dataclass(frozen=True, slots=True)
class GatedDeltaNet(StateLayers):
    """Gated delta rule (Qwen3-Next, Qwen3.5): a matrix of k_dim × v_dim for each value head."""

    v_heads: int
    k_heads: int
    k_dim: int
    v_dim: int

    def channels(self, tensor_parallel: int = 1) -> int:
        """Queries, keys and values go through the convolution."""
        k_heads = share("key heads", self.k_heads, tensor_parallel)
        v_heads = share("value heads", self.v_heads, tensor_parallel)
        return 2 * k_heads * self.k_dim + v_heads * self.v_dim

    def state_elements(self, tensor_parallel: int = 1) -> int:
        """One matrix a value head."""
        return share("value heads", self.v_heads, tensor_parallel) * self.k_dim * self.v_dim


@dataclass(frozen=True, slots=True)
class Mamba2(StateLayers):
    """State-space duality (Nemotron-H, Granite 4): head_dim × state for each head.

    Groups are extended to one a rank where they do not divide, as vLLM and SGLang do.
    """

    heads: int
    head_dim: int
    state: int
    n_groups: int

    def channels(self, tensor_parallel: int = 1) -> int:
        """The inner width, and B and C of each group."""
        heads = share("heads", self.heads, tensor_parallel)
        groups = max(1, -(-self.n_groups // tensor_parallel))
        return heads * self.head_dim + 2 * groups * self.state

    def state_elements(self, tensor_parallel: int = 1) -> int:
        """One matrix a head."""
        return share("heads", self.heads, tensor_parallel) * self.head_dim * self.state


@dataclass(frozen=True, slots=True)
class Mamba1(StateLayers):
    """Selective state spaces (Mamba, Jamba): `state` elements for each inner channel."""

    d_inner: int
    state: int

    def channels(self, tensor_parallel: int = 1) -> int:
        """The inner width."""
        return share("inner channels", self.d_inner, tensor_parallel)

    def state_elements(self, tensor_parallel: int = 1) -> int:
        """`state` an inner channel."""
        return self.channels(tensor_parallel) * self.state


@dataclass(frozen=True, slots=True)
class ShortConvolution(StateLayers):
    """A gated short convolution (LFM2): its columns are all that is kept."""

    width: int

    def channels(self, tensor_parallel: int = 1) -> int:
        """The hidden width."""
        return share("channels", self.width, tensor_parallel)

    def state_elements(self, tensor_parallel: int = 1) -> int:
        """None: there is no recurrent state."""
        return 0
