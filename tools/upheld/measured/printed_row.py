"""A row of numbers that a tool printed for people, each as far off as its last digit."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from upheld.measured.draft import DISAGREES, UNTOUCHED, RowDraft
from upheld.records.units import format_number


class PrintedRow(RowDraft):
    """A row whose numbers were rounded to be printed; a whole one was counted."""

    def rounding_of(self, value: int | Decimal) -> Fraction:
        """Half a unit of the last digit."""
        if isinstance(value, int):
            return Fraction(0)
        exponent = value.as_tuple().exponent
        assert isinstance(exponent, int), "only finite numbers are read"
        return Fraction(10) ** exponent / 2

    def hold_rate(
        self, key: str, amount: Fraction, time_key: str, second: Fraction, slack: Fraction
    ) -> None:
        """A finding where the rate at `key` times the time at `time_key` is not `amount`.

        `second` of the printed time make a second; `slack` is how far the amount itself can be
        off. All three are taken as wide as their last digits allow.
        """
        rate, time = self.number(key), self.number(time_key)
        if rate is None or time is None:
            return
        per_second, took = Fraction(rate), Fraction(time) / second
        of_rate, of_time = self.rounding_of(rate), self.rounding_of(time) / second
        least = (per_second - of_rate) * (took - of_time)
        most = (per_second + of_rate) * (took + of_time)
        if least <= amount + slack and amount - slack <= most:
            return
        self.find(
            DISAGREES,
            f"{key} says {rate}, which makes {format_number(per_second * took, 9)} in the printed "
            f"time, not {format_number(amount, 9)}",
            UNTOUCHED,
            key,
        )
