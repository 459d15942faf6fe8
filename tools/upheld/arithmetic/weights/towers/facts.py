"""The fields of a vision_config, each checked as it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from upheld.arithmetic.errors import ShapeError

# Far above any tower: bounds what a hostile file can ask for.
MAX_WIDTH = 10**6
MAX_LAYERS = 1_000


@dataclass(frozen=True, slots=True)
class VisionFacts:
    """A vision_config, with the fields of the whole config beside it that a projector needs."""

    values: Mapping[str, Any]

    def count(self, name: str, default: int, most: int = MAX_WIDTH) -> int:
        """A whole number of at least 1; `default` is that of the configuration class.

        Raises:
            ShapeError: it is none.
        """
        value = self.values.get(name)
        if value is None:
            return default
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
            raise ShapeError(f"vision_config.{name}", f"wants a whole number from 1 to {most:,}")
        return value

    def layers(self, default: int) -> int:
        """Layers of the tower."""
        return self.count("num_hidden_layers", default, MAX_LAYERS)

    def flag(self, name: str, default: bool) -> bool:
        """True or false.

        Raises:
            ShapeError: it is neither.
        """
        value = self.values.get(name, default)
        if not isinstance(value, bool):
            raise ShapeError(f"vision_config.{name}", "wants true or false")
        return value

    def pair(self, name: str, default: tuple[int, int]) -> tuple[int, int]:
        """Two whole numbers of at least 1.

        Raises:
            ShapeError: it is no such list.
        """
        value = self.values.get(name, default)
        if (
            isinstance(value, list | tuple)
            and len(value) == 2
            and all(isinstance(each, int) and 1 <= each <= MAX_WIDTH for each in value)
        ):
            return value[0], value[1]
        raise ShapeError(f"vision_config.{name}", "wants two whole numbers")
