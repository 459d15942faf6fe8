"""A row in the making: what every format does with a number that its file states.

A number is taken with its place; one that is no number, not finite or below zero becomes a
finding and no figure; one that can be recomputed is, and a disagreement becomes a finding.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from upheld.corpus.strict_json import Json, Keys, Special
from upheld.measured.course import Course, course_of
from upheld.measured.places import Places
from upheld.measured.reading import AxisValue, Figure, Mean, Requests, Row, TestOutcome
from upheld.measured.recompute import TOLERANCE, agrees
from upheld.records.finding import Finding, Place, Severity
from upheld.records.units import format_number

DISAGREES = "UPH502"
NOT_MEASURED = "UPH504"
IMPOSSIBLE = "UPH507"

UNTOUCHED = "add the file as the tool wrote it, or run the benchmark again"


class RowDraft:
    """Collects a row's figures and findings. `record` is the object at `keys` of a document."""

    def __init__(
        self,
        content: Places,
        document: int,
        keys: Keys,
        record: dict[str, Json],
        case: str | None = None,
    ) -> None:
        self.record = record
        self.case = case
        self.envelope: dict[str, AxisValue] = {}
        self.stated: dict[str, str] = {}
        self.samples: dict[str, int] = {}
        self.means: dict[str, Mean] = {}
        self.tests: dict[str, TestOutcome] = {}
        self.doubts: dict[str, str] = {}
        self.unlimited: set[str] = set()
        self.asked: dict[str, Fraction] = {}
        self.counted: dict[str, dict[str, int]] = {}
        self.courses: dict[str, Course] = {}
        self._content = content
        self._document = document
        self._keys = keys
        self._figures: dict[str, Figure] = {}
        self._findings: list[Finding] = []

    def place(self, *keys: str | int) -> Place:
        """Where the value at `keys` of this row stands in the file."""
        return self._content.place(self._document, self._keys + keys)

    def find(
        self,
        rule: str,
        message: str,
        help_text: str,
        *keys: str | int,
        severity: Severity = "error",
    ) -> None:
        """Note a finding at the value at `keys`."""
        self._findings.append(Finding(rule, self.place(*keys), message, help_text, severity))

    def get(self, *keys: str | int) -> Json:
        """The value at `keys` of this row, None where it is absent."""
        value: Json = self.record
        for key in keys:
            if isinstance(value, dict) and isinstance(key, str):
                value = value.get(key)
            elif isinstance(value, list) and isinstance(key, int) and key < len(value):
                value = value[key]
            else:
                return None
        return value

    def rounding_of(self, value: int | Decimal) -> Fraction:
        """How far the tool's own number can be from what it wrote: JSON has all its digits."""
        return Fraction(0)

    def text(self, *keys: str | int) -> str | None:
        """The text at `keys`, None where there is none or it is empty."""
        value = self.get(*keys)
        return value if isinstance(value, str) and value else None

    def number(self, *keys: str | int) -> int | Decimal | None:
        """A finite number that is not negative, or None; anything else is a finding."""
        value = self.get(*keys)
        name = ".".join(str(key) for key in keys)
        if value is None:
            return None
        if isinstance(value, Special):
            self.find(
                NOT_MEASURED,
                f"{name} is {value.value}: it was not measured",
                "there is no figure for it; run the benchmark so that it is measured",
                *keys,
                severity="warning",
            )
            return None
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            self.find(IMPOSSIBLE, f"{name} is not a number", UNTOUCHED, *keys)
            return None
        if value < 0:
            self.find(IMPOSSIBLE, f"{name} is negative", UNTOUCHED, *keys)
            return None
        return value

    def count(self, *keys: str | int) -> int | None:
        """A whole number that is not negative, or None; anything else is a finding."""
        value = self.number(*keys)
        if value is None or isinstance(value, int):
            return value
        if value == value.to_integral_value():
            return int(value)
        name = ".".join(str(key) for key in keys)
        self.find(IMPOSSIBLE, f"{name} is a count but not whole", UNTOUCHED, *keys)
        return None

    def report(
        self,
        name: str,
        unit: str,
        *keys: str | int,
        note: str | None = None,
        rounding: Fraction = Fraction(0),
    ) -> None:
        """A figure that the file states and that nothing else in it can confirm.

        `rounding`: how far what the tool knew can be from what it states.
        """
        value = self.number(*keys)
        if value is None:
            return
        earlier = self._figures.get(name)
        if earlier is None:
            stated = Fraction(value)
            rounding = rounding or self.rounding_of(value)
            self._figures[name] = Figure(name, stated, unit, "reported", stated, note, rounding)
        elif not agrees(earlier.value, value):
            self._disagreement(name, unit, earlier.value, value, keys)

    def report_as(self, name: str, value: Fraction, unit: str, rounding: Fraction) -> None:
        """A figure that the file states in another unit or a name of its own."""
        self._figures[name] = Figure(name, value, unit, "reported", value, None, rounding)

    def recompute(
        self,
        name: str,
        unit: str,
        value: Fraction,
        *keys: str | int,
        note: str | None = None,
        magnitude: Fraction = Fraction(0),
        rounding: Fraction = Fraction(0),
    ) -> None:
        """A figure worked out from the file, beside what its summary says at `keys`, if it does.

        `magnitude`: see recompute.agrees. `rounding`: how far the value can be from what the tool
        knew, because it is worked out from numbers that were printed rounded.
        """
        reported = self.number(*keys) if keys else None
        if (
            reported is not None
            and abs(value - Fraction(reported)) > rounding
            and not agrees(value, reported, magnitude)
        ):
            self._disagreement(name, unit, value, reported, keys)
        if name not in self._figures:
            stated = None if reported is None else Fraction(reported)
            self._figures[name] = Figure(name, value, unit, "recomputed", stated, note, rounding)

    def figure(self, name: str) -> Figure | None:
        """A figure that the row has by now."""
        return self._figures.get(name)

    def cross_check(self, what: str, value: Fraction, *keys: str | int) -> None:
        """A number at `keys` that is no figure: a finding where the file itself gives another.

        `what` says how the other number comes about, such as `count over send_duration`.
        """
        stated = self.number(*keys)
        if stated is not None and not agrees(value, stated):
            self.find(
                DISAGREES,
                f"{'.'.join(str(key) for key in keys)} says {apart(Fraction(stated), value)}, "
                f"but {what} is {apart(value, Fraction(stated))}",
                UNTOUCHED,
                *keys,
            )

    def note_course(
        self,
        name: str,
        values: Sequence[int | Decimal],
        opening: int = 1,
        scale: Fraction = Fraction(1),
    ) -> None:
        """How the values of a distribution went, in the order in which they were measured.

        `opening` and `scale`: see course.course_of.
        """
        course = course_of(values, opening, scale)
        if course is not None:
            self.courses[name] = course

    def value(self, name: str) -> Fraction | None:
        """The value of a figure that the row has by now."""
        figure = self._figures.get(name)
        return None if figure is None else figure.value

    def refuse_far_median(self, base: str, *keys: str | int) -> None:
        """A finding where mean and median of `base` are further apart than its deviation.

        That can't be, whatever the values are (Hotelling and Solomons, 1932).
        """
        mean, median = self.figure(f"{base}.mean"), self.figure(f"{base}.p50")
        deviation = self.figure(f"{base}.std")
        if mean is None or median is None or deviation is None:
            return
        slack = TOLERANCE * max(mean.value, median.value)
        slack += mean.rounding + median.rounding + deviation.rounding
        if abs(mean.value - median.value) > deviation.value + slack:
            self.find(
                IMPOSSIBLE,
                f"mean and median of {base} are further apart than its standard deviation, "
                "which no values allow",
                UNTOUCHED,
                *keys,
            )

    def adopt(self, part: RowDraft) -> bool:
        """Take over the findings, if any, of a part of the same row that was read on its own."""
        self._findings += part._findings
        return bool(part._findings)

    def finish(self, not_stated: tuple[str, ...], requests: Requests | None = None) -> Row:
        """The row, complete."""
        return Row(
            case=self.case,
            place=self.place(),
            figures=tuple(self._figures.values()),
            envelope=self.envelope,
            stated=self.stated,
            not_stated=not_stated,
            requests=requests,
            samples=self.samples,
            means=self.means,
            doubts=self.doubts,
            unlimited=frozenset(self.unlimited),
            asked=self.asked,
            counted=self.counted,
            courses=self.courses,
            findings=tuple(self._findings),
            tests=self.tests,
        )

    def _disagreement(
        self, name: str, unit: str, value: Fraction, reported: int | Decimal, keys: Keys
    ) -> None:
        self.find(
            DISAGREES,
            f"{'.'.join(str(key) for key in keys)} says {apart(Fraction(reported), value)} {unit}, "
            f"but the file's own records give {name} = {apart(value, Fraction(reported))} {unit}",
            f"the recomputed value is used; {UNTOUCHED}",
            *keys,
        )


def apart(value: Fraction, other: Fraction) -> str:
    """The value in as many digits as tell it from the other."""
    return next(
        (
            format_number(value, digits)
            for digits in (6, 9, 12)
            if format_number(value, digits) != format_number(other, digits)
        ),
        format_number(value, 17),
    )
