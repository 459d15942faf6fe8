"""UPH504, UPH506: a statistic that is absent, or that rests on too few values."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil

from upheld.measured.reading import Row, distribution_of
from upheld.measured.sufficiency.shortcoming import Shortcoming


def statistic_absent(row: Row, name: str) -> Shortcoming | None:
    """The row has no such figure."""
    if row.figure(name) is not None:
        return None
    stem = distribution_of(name)
    others = [figure.name for figure in row.figures if figure.distribution == stem]
    there = f"; it has {', '.join(others)}" if others else ""
    return Shortcoming(
        "UPH504",
        f"the file has no {name}{there}",
        "claim a statistic that the file has, or run the benchmark so that it reports this one",
    )


def too_few_for_percentile(row: Row, name: str) -> Shortcoming | None:
    """A percentile q needs 1/(1-q) values, a low one 1/q, before any of them lies beyond it."""
    needed = values_needed(name)
    if needed is None:
        return None
    count = row.samples.get(distribution_of(name))
    if count is None:
        return Shortcoming(
            "UPH506",
            f"the file does not say how many values are behind {name}, which needs {needed:,}",
            "save the single requests beside the summary (vLLM: --save-detailed)",
        )
    if count < needed:
        return Shortcoming(
            "UPH506",
            f"{name} rests on {count:,} values; it needs at least {needed:,}",
            f"measure at least {needed:,}, or claim a lower percentile",
        )
    return None


def single_value(row: Row, name: str) -> Shortcoming | None:
    """One value has no spread."""
    if name.rpartition(".")[2] != "std":
        return None
    if (row.samples.get(distribution_of(name)) or 0) != 1:
        return None
    return Shortcoming(
        "UPH506", f"{name} rests on a single value, which has no spread", "measure more than once"
    )


def measured_once(row: Row, name: str) -> Shortcoming | None:
    """One request or one round may be any of those that there could be."""
    stem = distribution_of(name)
    if name == f"{stem}.std" or values_needed(name) is not None:
        return None
    count = row.samples.get(stem)
    if stem.startswith("throughput.") and row.requests is not None:
        count = row.requests.completed
    if count != 1:
        return None
    return Shortcoming("UPH506", f"{name} rests on a single measurement", "measure more than once")


def percentiles_of_too_few(row: Row) -> Iterator[Shortcoming]:
    """The percentiles of a row that are known to rest on too few values."""
    few: dict[tuple[int, int], list[str]] = {}
    for figure in row.figures:
        needed = values_needed(figure.name)
        count = row.samples.get(figure.distribution)
        if needed is not None and count is not None and count < needed:
            few.setdefault((needed, count), []).append(figure.name)
    for (needed, count), names in few.items():
        yield Shortcoming(
            "UPH506",
            f"{count:,} values are too few for {', '.join(names)}: at least {needed:,} are needed",
            f"measure at least {needed:,}, or claim a lower percentile",
        )


def values_needed(name: str) -> int | None:
    """The fewest values for a percentile: 100 for `latency.ttft.p99`, and as many for `.p1`.

    None for other figures, and for p0, which is the least value.
    """
    statistic = name.removeprefix(distribution_of(name)).removeprefix(".")
    if not statistic.startswith("p"):
        return None
    share = Fraction(statistic[1:]) / 100
    beyond = min(share, 1 - share)
    return ceil(1 / beyond) if beyond else None
