"""Equal shares for the ranks of a tensor-parallel group."""

from __future__ import annotations

from upheld.arithmetic.errors import ShapeError


def share(field: str, size: int, ranks: int) -> int:
    """An equal share of `size` for each rank.

    Raises:
        ShapeError: it does not divide.
    """
    if size % ranks:
        raise ShapeError("tensor_parallel", f"{ranks} devices can't share {size:,} {field} evenly")
    return size // ranks
