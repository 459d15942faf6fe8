"""How a run went: its values in the order in which they were measured, summed up by thirds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some values in a row, of which there is at least one."""

    count: int
    least: Fraction
    most: Fraction
    mean: Fraction


@dataclass(frozen=True, slots=True)
class Course:
    """At least three values, in the unit of the figures of their distribution.

    `opening` are those that began at once when the run did, `rest` all others; `early` and `late`
    are the first and the last third.
    """

    opening: Stretch
    rest: Stretch
    early: Stretch
    late: Stretch

    @property
    def mean(self) -> Fraction:
        """The mean of all values."""
        opening, rest = self.opening, self.rest
        total = opening.mean * opening.count + rest.mean * rest.count
        return total / (opening.count + rest.count)


def course_of(
    values: Sequence[int | Decimal], opening: int = 1, scale: Fraction = Fraction(1)
) -> Course | None:
    """The course of values as they came, `scale` of which make one in the figures' unit.

    None where there are fewer than three, or where all of them are the opening.
    """
    third = len(values) // 3
    if not third or not 0 < opening < len(values):
        return None
    return Course(
        *(
            _stretch(part, scale)
            for part in (values[:opening], values[opening:], values[:third], values[-third:])
        )
    )


def _stretch(values: Sequence[int | Decimal], scale: Fraction) -> Stretch:
    total = sum(map(Fraction, values), Fraction(0))
    return Stretch(
        len(values),
        Fraction(min(values)) * scale,
        Fraction(max(values)) * scale,
        total / len(values) * scale,
    )
