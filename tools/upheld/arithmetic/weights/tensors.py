"""One tensor as one rank holds it, and tensors that are built together."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod


@dataclass(frozen=True, slots=True)
class Tensor:
    """(outputs, inputs) of a matrix, with the experts before them, or (elements,) of a vector.

    `linear` says that weight quantisation applies to it; `fields` are those of the model that
    its size depends on. `element` is the bytes of an element where weight dtypes do not decide
    them. The first layer builds the rotary table after the tensor that is marked
    `before_rotary_table`.

    Some are no parameters: `scalars` says that each element is an fp32 tensor of its own, `copy`
    that it is a 16-bit copy made only where the weights are quantised, `view` that such a copy
    is not made all the same, and `buffer` that it is worked out, not loaded.
    """

    name: str
    shape: tuple[int, ...]
    fields: tuple[str, ...]
    linear: bool = False
    note: str = ""
    scalars: bool = False
    copy: bool = False
    view: bool = False
    element: int = 0
    buffer: bool = False
    before_rotary_table: bool = False

    @property
    def elements(self) -> int:
        """Elements in the tensor."""
        return prod(self.shape)

    @property
    def parameters(self) -> int:
        """Parameters of the model in the tensor."""
        return 0 if self.scalars or self.copy or self.buffer else self.elements


@dataclass(frozen=True, slots=True)
class Layer:
    """Tensors in the order in which they are built, and how many times over."""

    tensors: tuple[Tensor, ...]
    times: int = 1
