"""Numbers that a tool printed for people: rounded, one a label, each with its place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from upheld.corpus.strict_json import Json, Keys
from upheld.measured.draft import DISAGREES, UNTOUCHED, RowDraft
from upheld.measured.places import Places
from upheld.records.finding import Place
from upheld.records.units import format_number

_NUMBER = re.compile(r"-?(?:\d{1,3}(?:,\d{3})+|\d{1,20})(?:\.\d{1,20})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Labels:
    """Where each label of one printed block stands; `at` is the block's own place."""

    at: Place
    labels: Mapping[Keys, Place]

    def place(self, document: int = 0, keys: Keys = ()) -> Place:
        """The place of a label, or of the nearest thing around it."""
        del document  # a block is one
        while keys and keys not in self.labels:
            keys = keys[:-1]
        return self.labels.get(keys, self.at)


class PrintedDraft(RowDraft):
    """A row of figures that were rounded to be printed: each is as far off as its last digit."""

    def __init__(
        self, places: Places, record: dict[str, Json], case: str | None = None, document: int = 0
    ) -> None:
        super().__init__(places, document, (), record, case)

    def rounding_of(self, value: int | Decimal) -> Fraction:
        """Half a unit of the last digit; a whole number is taken to be counted."""
        if isinstance(value, int):
            return Fraction(0)
        exponent = value.as_tuple().exponent
        assert isinstance(exponent, int), "only finite numbers are read"
        return Fraction(10) ** exponent / 2

    def bounds(self, name: str) -> tuple[Fraction, Fraction] | None:
        """Between which two numbers the tool's own lies, of a figure that the row has."""
        figure = self.figure(name)
        if figure is None:
            return None
        return figure.value - figure.rounding, figure.value + figure.rounding

    def refuse_other_ratio(
        self, name: str, amount: Fraction, time: tuple[Fraction, Fraction], *keys: str | int
    ) -> None:
        """A finding where a rate is not the amount over a time between two bounds.

        A time that may be 0 refuses nothing.
        """
        printed = self.bounds(name)
        if printed is None or time[0] <= 0:
            return
        if printed[1] < amount / time[1] or printed[0] > amount / time[0]:
            figure = self.figure(name)
            assert figure is not None, "it has bounds"
            self.find(
                DISAGREES,
                f"{'.'.join(map(str, keys))} says {format_number(figure.value)} {figure.unit}, but "
                f"amount and time give {format_number(2 * amount / sum(time))}",
                UNTOUCHED,
                *keys,
            )


def printed_number(text: str) -> int | Decimal | str:
    """`57`, `1,146.31` or `0.06` as a number; anything else stays the text that it is."""
    if not _NUMBER.fullmatch(text):
        return text
    digits = text.replace(",", "")
    return Decimal(digits) if "." in digits else int(digits)
