"""The one error of arithmetic: a shape or a choice that does not work."""

from __future__ import annotations


class ShapeError(ValueError):
    """A field has a value from which no memory can be worked out.

    `field` is its name as records and config.json write it, so that a caller can point at it.
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem
