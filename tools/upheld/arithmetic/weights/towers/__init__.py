"""The vision tower and its projector on one rank, by the model_type of the whole model.

Each other module is one tower. A tower is built before the language model, on every stage of a
pipeline, and stays at 16 bits: the formats here quantise the language model alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.weights.tensors import Layer
from upheld.arithmetic.weights.towers.facts import VisionFacts
from upheld.arithmetic.weights.towers.moonvit import moonvit
from upheld.arithmetic.weights.towers.parts import TOWER_FIELDS
from upheld.arithmetic.weights.towers.pixtral import pixtral
from upheld.arithmetic.weights.towers.siglip import siglip

__all__ = ["TOWERS", "TOWER_FIELDS", "tower"]

_Tower = Callable[[VisionFacts, int, int], tuple[Layer, ...]]

TOWERS: dict[str, _Tower] = {"gemma3": siglip, "mistral3": pixtral, "kimi_vl": moonvit}


def tower(vision: Mapping[str, Any], hidden_size: int, tensor_parallel: int) -> tuple[Layer, ...]:
    """The layers of tower and projector, in the order in which vLLM creates them.

    Args:
        vision: vision_config, with the fields of the whole config beside it that the projector
            depends on, and the whole model's model_type.
        hidden_size: elements of one token of the language model.
        tensor_parallel: ranks that each layer is split over.

    Raises:
        ShapeError: a tower that is not known, or a fact that is missing or does not work.
    """
    kind = vision.get("model_type")
    if not isinstance(kind, str) or kind not in TOWERS:
        raise ShapeError(
            "vision_config",
            f"the vision tower of the model_type {str(kind)[:40]} is not known; "
            f"known: {', '.join(TOWERS)}",
        )
    return TOWERS[kind](VisionFacts(vision), hidden_size, tensor_parallel)
