"""Tensors that towers share: matrices and norms with a bias, and vectors."""

from __future__ import annotations

from upheld.arithmetic.weights.tensors import Tensor

TOWER_FIELDS = ("vision",)


def plain(name: str, *shape: int) -> Tensor:
    """A tensor of the tower; weight quantisation leaves it alone."""
    return Tensor(f"vision.{name}", shape, TOWER_FIELDS)


def buffer(name: str, *shape: int, element: int = 4) -> Tensor:
    """A table that is worked out, not loaded, of fp32 unless said otherwise: no parameter."""
    return Tensor(f"vision.{name}", shape, TOWER_FIELDS, element=element, buffer=True)


def biased(name: str, outputs: int, *inputs: int) -> tuple[Tensor, Tensor]:
    """A matrix, a kernel, or a norm where there are no inputs; and its bias."""
    return plain(name, outputs, *inputs), plain(f"{name}.bias", outputs)
