"""A derived figure: a named formula over claims of the same record and assumed values."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, model_validator

from upheld.records.formulas import FORMULAS
from upheld.records.shorten import shorten
from upheld.records.types import AssumptionRef, Id, Line, Part


def _known(name: str) -> str:
    if name not in FORMULAS:
        raise ValueError(f"unknown formula {shorten(name)!r}; known: {', '.join(FORMULAS)}")
    return name


FormulaName = Annotated[Line, AfterValidator(_known)]


class Input(Part):
    """Where one value comes from: a claim of the same record, or the `value` of an assumption."""

    claim: Id | None = None
    assumption: AssumptionRef | None = None

    @model_validator(mode="after")
    def _has_one_origin(self) -> Input:
        if (self.claim is None) == (self.assumption is None):
            raise ValueError("an input comes from a claim or from an assumption: name one of them")
        return self


class Derived(Part):
    """The formula, and where each of its inputs comes from."""

    formula: FormulaName
    inputs: dict[str, Input]

    @model_validator(mode="after")
    def _has_the_inputs_of_its_formula(self) -> Derived:
        wanted = FORMULAS[self.formula].inputs
        missing = [name for name in wanted if name not in self.inputs]
        spare = [name for name in self.inputs if name not in wanted]
        if missing or spare:
            wrong = f"lacks {', '.join(missing)}" if missing else f"has no {shorten(spare[0])!r}"
            raise ValueError(f"{self.formula} {wrong}; its inputs: {', '.join(wanted)}")
        for name in FORMULAS[self.formula].measured:
            if self.inputs[name].claim is None:
                raise ValueError(f"{name} is a figure of hardware: name the claim that it is of")
        return self
