"""UPH512: lengths other than those that were asked for."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from upheld.measured.reading import Row
from upheld.measured.sufficiency.shortcoming import Shortcoming
from upheld.records.envelope import AXES
from upheld.records.units import format_number

_NEAR = Fraction(5, 100)


def check(row: Row) -> Iterator[Shortcoming]:
    """Fires where the mean length is more than 5 % off the one that was asked for.

    It only warns: the figures are right, but of another length, and that is what the envelope has.
    Silent where the file does not say what was asked for.
    """
    for axis, asked in row.asked.items():
        mean = mean_length(row, axis)
        if mean is not None and abs(mean - asked) > _NEAR * asked:
            yield Shortcoming(
                "UPH512",
                f"{format_number(asked)} {AXES[axis].title} were asked for, and their mean is "
                f"{format_number(mean, 4)}",
                "claim the length that was measured, or fix it: a range ratio of 1, and "
                "--ignore-eos for the output",
                only_warns=True,
            )


def mean_length(row: Row, axis: str) -> Fraction | None:
    """The mean of `input_tokens` or `output_tokens` as it was measured; None where it is open."""
    stated = row.envelope.get(axis)
    if isinstance(stated, int | Fraction) and not isinstance(stated, bool):
        return Fraction(stated)
    mean = row.means.get(axis)
    return mean.value if mean is not None else None
