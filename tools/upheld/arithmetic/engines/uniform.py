"""Blocks of as many tokens in every layer: the plain paged cache that several engines share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from upheld.arithmetic.cache import name_of, token_formula
from upheld.arithmetic.dtypes import CacheDtype
from upheld.arithmetic.engines.plan import CachePlan, Need, Start
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.layouts import Layers, TokenLayers
from upheld.arithmetic.layouts.full import blocks_of
from upheld.arithmetic.layouts.state import StateLayers
from upheld.records.units import count


@dataclass(frozen=True)
class UniformPlan(CachePlan):
    """Blocks that hold the same tokens in all layers; `formula` is the sum of one token."""

    formula: str

    def blocks_for(self, tokens: int) -> int:
        """Whole blocks, the last one however full."""
        return blocks_of(tokens, self.block_size)

    def needs(self, sequences: int, tokens: int) -> Sequence[Need]:
        """Whole blocks, of all layers together."""
        blocks = self.blocks_for(tokens)
        formula = (
            f"{count(sequences, 'sequence')} × {count(blocks, 'block')} × "
            f"{count(self.block_size, 'token')} × {self.formula}"
        )
        return [Need(self.layouts[0], sequences * blocks * self.block_bytes, formula)]


def of_one_token(
    layers: Sequence[TokenLayers], dtype: CacheDtype, tensor_parallel: int
) -> tuple[Fraction, str]:
    """Bytes of one token in all of the layers on one rank, and the sum."""
    size = sum(
        (each.layers * each.token_bytes(dtype, tensor_parallel) for each in layers), Fraction(0)
    )
    formulas = [token_formula(each, dtype, tensor_parallel) for each in layers]
    return size, formulas[0] if len(formulas) == 1 else f"({' + '.join(formulas)})"


def only(kinds: tuple[type, ...], layers: Sequence[Layers], engine: str) -> tuple[TokenLayers, ...]:
    """The layers, all of them of those kinds.

    Raises:
        ShapeError: a layer of another kind, whose cache in that engine is not known, or none.
    """
    kept = tuple(each for each in layers if each.layers and not isinstance(each, StateLayers))
    for each in layers:
        if type(each) not in kinds:
            raise ShapeError("engine", f"how {engine} caches {name_of(each)} layers is not known")
    if not kept:
        raise ShapeError("layers", "no attention layer has a cache")
    return kept


def uniform_plan(layers: Sequence[TokenLayers], start: Start, dtype: CacheDtype) -> UniformPlan:
    """A plan of blocks of `start.block_size` tokens in layers of `dtype`."""
    size, formula = of_one_token(layers, dtype, start.tensor_parallel)
    block = int(start.block_size * size)
    return UniformPlan(tuple(layers), start.block_size, block, int(size), formula)
