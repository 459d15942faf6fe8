"""Why a row is not enough for a figure, one named check a file, in plain sentences.

A check of a row has a function `check(row)` that gives its shortcomings; each names the figures
that it is about. Checks of one figure take its name too, and hold whether or not a row has it.
What is not known is never taken for zero: a check is silent about it, or says that it is open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from upheld.measured.reading import Row
from upheld.measured.sufficiency import (
    cold_start,
    counts_differ,
    drift,
    first_token_too_soon,
    identities,
    lengths,
    load_not_reached,
    mean_uncertain,
    other_meaning,
    rate_not_held,
    sent_at_once,
    statistics,
    throttled,
)
from upheld.measured.sufficiency.requests import nothing_completed, requests_failed
from upheld.measured.sufficiency.shortcoming import Shortcoming
from upheld.measured.sufficiency.values import (
    measured_once,
    percentiles_of_too_few,
    single_value,
    statistic_absent,
    too_few_for_percentile,
    values_needed,
)

__all__ = [
    "Shortcoming",
    "shortcomings",
    "shortcomings_of_row",
    "statistic_absent",
    "values_needed",
]

OF_A_FIGURE: tuple[Callable[[Row, str], Shortcoming | None], ...] = (
    nothing_completed,
    requests_failed,
    statistic_absent,
    too_few_for_percentile,
    single_value,
    measured_once,
)

OF_A_ROW: tuple[Callable[[Row], Iterable[Shortcoming]], ...] = (
    load_not_reached.check,
    mean_uncertain.check,
    other_meaning.check,
    rate_not_held.check,
    sent_at_once.check,
    lengths.check,
    cold_start.check,
    drift.check,
    first_token_too_soon.check,
    identities.check,
    counts_differ.check,
    throttled.check,
)


def shortcomings(row: Row, name: str) -> tuple[Shortcoming, ...]:
    """Every reason why the row does not suffice for the figure `name`, none if it does."""
    of_figure = (check(row, name) for check in OF_A_FIGURE)
    of_row = (each for check in OF_A_ROW for each in check(row) if each.weakens(name))
    return (*(each for each in of_figure if each is not None), *of_row)


def shortcomings_of_row(row: Row) -> tuple[Shortcoming, ...]:
    """The reasons that hold whatever is claimed, and those that are about a figure of the row.

    With them come statistics that no values have: an error, which makes a run unsound before any
    claim is weighed.
    """
    whole = (check(row, "") for check in (nothing_completed, requests_failed))
    alone = (single_value(row, figure.name) for figure in row.figures)
    return (
        *(each for each in (*whole, *alone) if each is not None),
        *percentiles_of_too_few(row),
        *statistics.check(row),
        *(each for check in OF_A_ROW for each in check(row)),
    )
