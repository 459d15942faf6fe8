"""One tensor as one rank holds it."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod


@dataclass(frozen=True, slots=True)
class Tensor:
    """(outputs, inputs) of a matrix, with the experts before them, or (elements,) of a vector.

    `linear` says that weight quantisation applies to it; `fields` are those of the model that
    its size depends on. `scalars` says that each element is an fp32 tensor of its own, which is
    no parameter; `copy` that it is a 16-bit copy made only where the weights are quantised, which
    is none either. The first layer builds the rotary table after the tensor that is marked
    `before_rotary_table`.
    """

    name: str
    shape: tuple[int, ...]
    fields: tuple[str, ...]
    linear: bool = False
    note: str = ""
    scalars: bool = False
    copy: bool = False
    fp32: bool = False
    before_rotary_table: bool = False

    @property
    def elements(self) -> int:
        """Elements in the tensor."""
        return prod(self.shape)

    @property
    def parameters(self) -> int:
        """Parameters of the model in the tensor."""
        return 0 if self.scalars or self.copy else self.elements
