"""A distribution worked out again from the single values that a file keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

from upheld.corpus.strict_json import Json, Keys
from upheld.measured.draft import IMPOSSIBLE, UNTOUCHED, RowDraft
from upheld.measured.reading import Mean
from upheld.measured.recompute import Values

CLAIMED = ("mean", "min", "max", "std", "p50", "p90", "p95", "p99")
"""The statistics that people claim: given wherever the single values are there."""


def recompute(
    draft: RowDraft,
    name: str,
    unit: str,
    values: Values,
    ddof: int,
    summary: Mapping[str, Keys],
    note: str | None = None,
) -> None:
    """The figures `name.mean`, `name.p99` and so on, each beside what the summary says of it.

    `summary` has the keys of the summary's numbers by statistic; percentiles are interpolated
    as NumPy and pandas do it by default. `ddof` is 0 where the tool takes the deviation of a
    population, 1 where it takes that of a sample.
    """
    draft.samples[name] = len(values)
    for statistic in dict.fromkeys((*CLAIMED, *summary)):
        if statistic == "std" and len(values) <= ddof:
            continue
        draft.recompute(
            f"{name}.{statistic}",
            unit,
            _statistic(values, statistic, ddof),
            *summary.get(statistic, ()),
            note=note,
            magnitude=values.mean,
        )


def _statistic(values: Values, statistic: str, ddof: int) -> Fraction:
    match statistic:
        case "mean":
            return values.mean
        case "min":
            return values.smallest
        case "max":
            return values.largest
        case "std":
            return values.deviation(ddof)
        case _:
            return values.percentile(Fraction(statistic.removeprefix("p")))


def column(
    draft: RowDraft, entries: Sequence[tuple[Keys, dict[str, Json]]], key: str
) -> list[int | Decimal] | None:
    """The number at `key` of each entry; None where one of them is no number, which is a finding.

    Each entry comes with the keys at which it stands in the row. None without a finding where no
    entry has the key.
    """
    if not any(key in entry for _, entry in entries):
        return None
    numbers: list[int | Decimal] = []
    for keys, entry in entries:
        value = entry.get(key)
        if isinstance(value, bool) or not isinstance(value, int | Decimal) or value < 0:
            draft.find(
                IMPOSSIBLE,
                f"{key} of one entry is no number, or negative",
                f"nothing is recomputed from it; {UNTOUCHED}",
                *keys,
                key,
            )
            return None
        numbers.append(value)
    return numbers


def numbers_of(*values: Json) -> list[int | Decimal] | None:
    """The values, where all of them are numbers."""
    numbers = [
        value
        for value in values
        if isinstance(value, int | Decimal) and not isinstance(value, bool)
    ]
    return numbers if len(numbers) == len(values) else None


def read_lengths(
    draft: RowDraft, axis: str, entries: Sequence[tuple[Keys, dict[str, Json]]], key: str
) -> Values | None:
    """The lengths of requests on an axis: one where all are alike, else their mean and range.

    None, and nothing on the axis, where the entries have no such number.
    """
    numbers = column(draft, entries, key)
    if not numbers:
        return None
    lengths = Values(numbers)
    if lengths.smallest == lengths.largest:
        draft.envelope[axis] = int(lengths.smallest)
    else:
        draft.means[axis] = Mean(lengths.mean, varies=True)
        draft.stated[axis] = f"from {int(lengths.smallest):,} to {int(lengths.largest):,}"
    return lengths
