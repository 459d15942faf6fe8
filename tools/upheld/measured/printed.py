"""Text that tools print: its numbers exactly, each with the line where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from upheld.corpus.strict_json import Json, Special
from upheld.measured.content import NOT_READABLE, Content
from upheld.measured.draft import DISAGREES, UNTOUCHED, RowDraft
from upheld.measured.recompute import Values
from upheld.records.finding import Finding, Place
from upheld.records.units import MAX_DIGITS, MAX_EXPONENT, format_number

LONGEST_LINE = 20_000
LONGEST_SHOWN = 200

_NUMBER = re.compile(
    r"[-+]?(?P<whole>\d{1,3}(?:,\d{3}){1,9}|\d+)(?P<part>\.\d*)?(?:[eE](?P<exponent>[-+]?\d{1,3}))?",
    re.ASCII,
)
_SPECIAL = {
    "nan": Special.NAN, "inf": Special.INFINITY, "+inf": Special.INFINITY,
    "-inf": Special.MINUS_INFINITY,
}  # fmt: skip


def exact(text: str) -> Json:
    """The number that a text prints, `8,589` or `6.49e-09`; the text itself where it is none.

    A number of more digits or a larger exponent than a record may have stays text.
    """
    plain = text.strip()
    if plain.casefold() in _SPECIAL:
        return _SPECIAL[plain.casefold()]
    found = _NUMBER.fullmatch(plain) if len(plain) <= 2 * MAX_DIGITS else None
    if found is None:
        return plain
    digits = len(found["whole"].replace(",", "")) + len(found["part"] or "")
    if digits > MAX_DIGITS or abs(int(found["exponent"] or 0)) > MAX_EXPONENT:
        return plain
    number = plain.replace(",", "")
    return Decimal(number) if found["part"] or found["exponent"] else int(number)


def is_number(value: Json) -> bool:
    """Whether the value is a finite number that is not negative."""
    return isinstance(value, int | Decimal) and not isinstance(value, bool) and value >= 0


def half_of_last_digit(number: int | Decimal) -> Fraction:
    """How far a value can be from the number that a tool printed for it: 0.005 for 8.59."""
    if isinstance(number, int):
        return Fraction(1, 2)
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int), "only finite numbers are printed"
    return Fraction(10) ** exponent / 2


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a text, without its end, and where it is."""

    place: Place
    text: str


def lines_in(content: Content) -> Iterator[Line]:
    """Every line, cut where no tool's line goes on."""
    for number, text in enumerate(content.text.split("\n"), start=1):
        yield Line(Place(content.path, number), text[:LONGEST_LINE].rstrip("\r"))


def is_text(content: Content) -> bool:
    """Whether the content is readable and no JSON."""
    return not content.documents and content.refusal is None


def damaged(place: Place, message: str) -> Finding:
    """A finding about text that is not complete, or not as its tool writes it."""
    return Finding(NOT_READABLE, place, message, "add the file as its tool wrote it, complete")


def shown(text: str) -> str:
    """A name or message out of a file, short enough to be shown."""
    plain = " ".join(text.split())
    return plain if len(plain) <= LONGEST_SHOWN else plain[: LONGEST_SHOWN - 1] + "…"


class PrintedDraft(RowDraft):
    """A row of a text: its record holds what is printed under each label."""

    def __init__(self, content: Content, at: Place, case: str | None = None) -> None:
        super().__init__(content, 0, (), {}, case)
        self._at = at
        self._places: dict[str | int, Place] = {}

    def put(self, label: str, text: str, place: Place | None = None) -> None:
        """Keep the number that stands beside a label, and where it does."""
        self.record[label] = exact(text)
        self._places[label] = place or self._at

    def keep(self, label: str, value: Json, place: Place) -> None:
        """Keep a value that was parsed, and where it stands."""
        self.record[label] = value
        self._places[label] = place

    def place(self, *keys: str | int) -> Place:
        """Where the label stands, or the row where it is not in the text."""
        return self._places.get(keys[0], self._at) if keys else self._at

    def confirm(self, label: str, value: Fraction, unit: str, rounding: Fraction, why: str) -> None:
        """A finding where what is printed beside the label is not the value that follows.

        For figures that are printed with more digits than what they follow from, such as a rate
        beside a duration in whole seconds. `rounding` is how far the value may be off by that.
        """
        printed = self.number(label)
        if printed is None:
            return
        allowed = rounding + half_of_last_digit(printed) + value / 10**9
        if abs(Fraction(printed) - value) > allowed:
            self.find(
                DISAGREES,
                f"{label} says {printed} {unit}, but {why} give {format_number(value, 9)} {unit}",
                UNTOUCHED,
                label,
            )

    def over(self, name: str, unit: str, numbers: list[int | Decimal]) -> None:
        """Figures over the readings of one quantity: mean, middle, least, most; or the one."""
        if not numbers:
            return
        values = Values(numbers)
        self.samples[name] = len(values)
        if len(values) == 1:
            self.keep(name, numbers[0], self._at)
            self.report(f"{name}.mean", unit, name, note="one reading")
        elif values.smallest == values.largest:
            self.recompute(f"{name}.mean", unit, values.mean, note="the same in every reading")
        else:
            self.recompute(f"{name}.mean", unit, values.mean)
            self.recompute(f"{name}.p50", unit, values.percentile(Fraction(50)))
            self.recompute(f"{name}.min", unit, values.smallest)
            self.recompute(f"{name}.max", unit, values.largest)
