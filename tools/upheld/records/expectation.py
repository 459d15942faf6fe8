"""What a claim expects of its metric: `<= 76 GiB`, `>= 16 sequences`, `= 1`, `~ 1.78`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Literal, cast

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from upheld.records.units import Quantity, QuantityError, parse_quantity

Operator = Literal["<", "<=", "=", ">=", ">", "~"]
_EXPECT = re.compile(r"(?P<operator><=|>=|<|>|=|~)\s*(?P<quantity>\S.*)")


@dataclass(frozen=True, slots=True)
class Expectation:
    """A comparison with an exact quantity; `~` is met by whatever rounds to its digits."""

    operator: Operator
    quantity: Quantity

    def met_by(self, value: Fraction) -> bool:
        """Whether `value`, in base units, meets the expectation, exactly."""
        limit = self.quantity.base
        match self.operator:
            case "<":
                return value < limit
            case "<=":
                return value <= limit
            case "=":
                return value == limit
            case ">=":
                return value >= limit
            case ">":
                return value > limit
            case "~":
                return abs(value - limit) <= self._half_of_the_last_digit

    def may_be_met(self, least: Fraction, most: Fraction) -> bool:
        """Whether some value from `least` to `most`, in base units, meets the expectation."""
        nearest = min(max(self.quantity.base, least), most)
        return any(self.met_by(value) for value in (least, nearest, most))

    @property
    def _half_of_the_last_digit(self) -> Fraction:
        number = re.match(r"[^\s%a-zA-Z]*", self.quantity.text)
        decimals = len(number[0].partition(".")[2]) if number else 0
        return Fraction(f"1e-{decimals}") * self.quantity.unit.factor / 2

    def __str__(self) -> str:
        return f"{self.operator} {self.quantity}"


def parse_expectation(text: object) -> Expectation:
    """Read `<= 76 GiB`.

    Raises:
        QuantityError: no operator, or no quantity after it.
    """
    match = _EXPECT.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        raise QuantityError("wants a comparison such as '<= 76 GiB'; operators: < <= = >= > ~")
    quantity = match["quantity"]
    # A bare number compares a ratio: `= 1`.
    bare = re.fullmatch(r"[+-]?[0-9.,]+", quantity) is not None
    operator = cast(Operator, match["operator"])
    return Expectation(operator, parse_quantity(quantity, "ratio" if bare else None))


ExpectationField = Annotated[
    Expectation,
    PlainValidator(parse_expectation),
    PlainSerializer(str),
    WithJsonSchema({"type": "string", "examples": ["<= 76 GiB"]}),
]
