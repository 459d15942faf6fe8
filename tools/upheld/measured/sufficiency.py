"""Why a row is not enough for a figure, one named check each, in plain sentences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Literal

from upheld.measured.reading import Row, distribution_of
from upheld.records.finding import Severity

Code = Literal["UPH504", "UPH505", "UPH506"]


@dataclass(frozen=True, slots=True)
class Shortcoming:
    """One reason: the rule, a sentence that says why, and how to mend it."""

    rule: Code
    message: str
    help: str
    severity: Severity = "warning"


Check = Callable[[Row, str], Shortcoming | None]


def nothing_completed(row: Row, name: str) -> Shortcoming | None:
    """No request completed, so nothing was measured; or nobody says whether any did."""
    if row.requests is None or name.startswith("requests."):
        return None
    if row.requests.completed is None:
        return Shortcoming(
            "UPH504",
            "the file does not say how many requests completed",
            "add the file as the tool wrote it",
        )
    if row.requests.completed == 0:
        return Shortcoming(
            "UPH504",
            "no request completed, so nothing was measured",
            "mend the server or the client's options and run the benchmark again",
            "error",
        )
    return None


def requests_failed(row: Row, name: str) -> Shortcoming | None:
    """Requests failed: the others were measured under less load, or are the lucky ones."""
    if row.requests is None or name.startswith("requests."):
        return None
    if row.requests.failed is None:
        return Shortcoming(
            "UPH505",
            "nothing says how many requests failed, which is not the same as none",
            "run the benchmark with a version that counts failures",
        )
    if row.requests.failed > 0:
        sent = row.requests.attempted
        of = f" of {sent:,}" if sent is not None else ""
        timed = ""
        if row.requests.failed_are_timed:
            timed = "; their times are among the latencies"
        elif row.requests.completed:
            timed = "; latencies are of the others only"
        return Shortcoming(
            "UPH505",
            f"{row.requests.failed:,}{of} requests failed{timed}",
            "find out why they failed, and measure again without failures",
        )
    return None


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


def not_what_its_name_says(row: Row, name: str) -> Shortcoming | None:
    """The tool works the figure out in a way that other tools, or its own name, do not mean."""
    stem = distribution_of(name)
    if stem not in row.doubts:
        return None
    return Shortcoming(
        "UPH504",
        f"{stem} is not what its name says: {row.doubts[stem]}",
        "claim another figure, or measure with a tool that reports this one",
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


def load_not_reached(row: Row, name: str) -> Shortcoming | None:
    """Fewer requests were sent than were to be open at once, so they never were."""
    limit = row.envelope.get("concurrency")
    if row.requests is None or not isinstance(limit, int):
        return None
    if not name.startswith(("latency.", "throughput.")):
        return None
    sent = row.requests.attempted
    if sent is None or sent >= limit:
        return None
    return Shortcoming(
        "UPH506",
        f"{sent:,} requests were sent, so {limit:,} were never open at once",
        f"send at least {limit:,}, better many times that",
    )


CHECKS: tuple[Check, ...] = (
    nothing_completed,
    requests_failed,
    statistic_absent,
    not_what_its_name_says,
    too_few_for_percentile,
    single_value,
    measured_once,
    load_not_reached,
)


def shortcomings(row: Row, name: str) -> tuple[Shortcoming, ...]:
    """Every reason why the row does not suffice for the figure `name`, none if it does."""
    found = (check(row, name) for check in CHECKS)
    return tuple(each for each in found if each is not None)


def shortcomings_of_row(row: Row) -> tuple[Shortcoming, ...]:
    """The reasons that hold whatever is claimed, and the percentiles known to rest on too few."""
    whole = [check(row, "") for check in (nothing_completed, requests_failed)]
    found = [each for each in whole if each is not None]
    doubted = (not_what_its_name_says(row, name) for name in row.doubts)
    found += [each for each in doubted if each is not None]
    few: dict[tuple[int, int], list[str]] = {}
    for figure in row.figures:
        needed = values_needed(figure.name)
        count = row.samples.get(figure.distribution)
        if needed is not None and count is not None and count < needed:
            few.setdefault((needed, count), []).append(figure.name)
        if (alone := single_value(row, figure.name)) is not None:
            found.append(alone)
    found += [
        Shortcoming(
            "UPH506",
            f"{count:,} values are too few for {', '.join(names)}: at least {needed:,} are needed",
            f"measure at least {needed:,}, or claim a lower percentile",
        )
        for (needed, count), names in few.items()
    ]
    return tuple(found)


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
