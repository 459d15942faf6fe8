"""A deployment with some choices changed, without a copy of the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from upheld.arithmetic.facts import Choices


class Varied:
    """The choices of `deployment`, those in `changes` before them; cast it to Choices to use it."""

    def __init__(self, deployment: Choices, changes: Mapping[str, Any]) -> None:
        self._deployment = deployment
        self._changes = changes

    def __getattr__(self, name: str) -> Any:
        if name in self._changes:
            return self._changes[name]
        return getattr(self._deployment, name)
