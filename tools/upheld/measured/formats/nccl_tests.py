"""nccl-tests: what `all_reduce_perf` and its siblings print, one row a collective.

algbw is size over time; busbw is algbw times a factor of the collective, 2(n-1)/n for all_reduce,
so that it can be held against the hardware; the average is that of all sizes, in place and out of
place (nccl-tests, commit a0b82b2 of July 2026, `src/util.cu` and `GetBw` of each collective). GB is
10^9 bytes.
Small sizes are bound by latency and pull the average down: it is not the peak.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from upheld.measured.content import Content
from upheld.measured.draft import IMPOSSIBLE, UNTOUCHED
from upheld.measured.printed import (
    Line,
    PrintedDraft,
    damaged,
    exact,
    half_of_last_digit,
    is_number,
    is_text,
    lines_in,
    shown,
)
from upheld.measured.reading import Reading, Row
from upheld.records.finding import Finding, Place
from upheld.records.units import format_number

NAME = "nccl-tests"
TOOL = "nccl-tests"
TITLE = "nccl-tests: output of a collective, text"

_VERSION = re.compile(
    r"# nccl-tests version (?P<tests>[\w.]+) nccl-headers=\d+ nccl-library=(?P<nccl>\d+)"
)
_COLLECTIVE = re.compile(r"# Collective test starting: (?P<name>\w+)")
_BEGINS = re.compile(r"# nThread \d+ nGpus \d+ minBytes .*")
_DEVICE = re.compile(r"#\s+Rank\s+\d+ .*?\bon\s+(?P<host>\S+) device\s+\d+ \[\S+\] (?P<name>.+)")
_WRONG = re.compile(r"# Out of bounds values : (?P<count>\d+) (?P<says>\w+)")
_AVERAGE = "# Avg bus bandwidth"
_COLUMNS = 13
_FACTORS = {
    "all_reduce": lambda ranks: Fraction(2 * (ranks - 1), ranks),
    "all_gather": lambda ranks: Fraction(ranks - 1, ranks),
    "reduce_scatter": lambda ranks: Fraction(ranks - 1, ranks),
    "alltoall": lambda ranks: Fraction(ranks - 1, ranks),
    "gather": lambda ranks: Fraction(ranks - 1, ranks),
    "scatter": lambda ranks: Fraction(ranks - 1, ranks),
    "sendrecv": lambda ranks: Fraction(1),
    "broadcast": lambda ranks: Fraction(1),
    "reduce": lambda ranks: Fraction(1),
}


@dataclass(slots=True)
class _Run:
    at: Place
    words: dict[str, str]
    devices: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)
    table: list[tuple[Line, list[str]]] = field(default_factory=list)
    average: Line | None = None
    wrong: tuple[Place, int] | None = None


def recognise(content: Content) -> bool:
    """Text with the header of a test and the columns of bandwidth."""
    return is_text(content) and "# nThread " in content.text and "busbw" in content.text


def read(content: Content) -> Reading:
    """One row a test that ran to its end; the cases are numbered from 0, as they stand."""
    runs: list[_Run] = []
    words: dict[str, str] = {}
    for line in lines_in(content):
        if found := _VERSION.match(line.text):
            words |= {"tests": found["tests"], "nccl": found["nccl"]}
        elif found := _COLLECTIVE.match(line.text):
            words["collective"] = found["name"]
        elif _BEGINS.match(line.text):
            runs.append(_Run(line.place, words | {"settings": line.text.lstrip("# ")}))
            words = {}
        elif runs:
            _take(runs[-1], line)
    rows: list[Row] = []
    findings: list[Finding] = []
    for number, run in enumerate(runs):
        if run.average is None or not run.table:
            findings.append(damaged(run.at, "the test ends before its average bus bandwidth"))
        else:
            rows.append(_row(content, run, str(number)))
    if not runs:
        findings.append(damaged(Place(content.path), "no test has begun"))
    versions = {run.words.get("tests") for run in runs}
    return Reading(tuple(rows), versions.pop() if len(versions) == 1 else None, tuple(findings))


def _take(run: _Run, line: Line) -> None:
    if found := _DEVICE.match(line.text):
        run.devices.append(shown(found["name"]))
        run.hosts.add(found["host"])
    elif found := _WRONG.match(line.text):
        run.wrong = (line.place, int(found["count"]) if len(found["count"]) < 10 else 10**9)
    elif line.text.startswith(_AVERAGE):
        run.average = line
    elif re.match(r"\s*\d", line.text) and not line.text.lstrip().startswith("#"):
        cells = line.text.split()
        if len(cells) == _COLUMNS:
            run.table.append((line, cells))


def _row(content: Content, run: _Run, case: str) -> Row:
    assert run.average is not None, "checked before"
    draft = PrintedDraft(content, run.at, case)
    draft.put(_AVERAGE[2:], run.average.text.partition(":")[2], run.average.place)
    draft.report(
        "bandwidth.bus.avg", "GB/s", _AVERAGE[2:],
        note=f"over {len(run.table)} sizes from {_size(run.table[0])} to {_size(run.table[-1])}, "
        "in place and out of place",
    )  # fmt: skip
    bandwidths = _bandwidths(draft, run)
    if bandwidths:
        values = [Fraction(each) for each in bandwidths]
        rounding = sum(map(half_of_last_digit, bandwidths), Fraction(0)) / len(values)
        draft.confirm(
            _AVERAGE[2:], sum(values, Fraction(0)) / len(values), "GB/s", rounding, "its rows"
        )
        best = max(bandwidths)
        draft.recompute(
            "bandwidth.bus.max", "GB/s", Fraction(best), rounding=half_of_last_digit(best),
            note="the best size",
        )  # fmt: skip
    if run.wrong is not None and run.wrong[1]:
        draft.find(
            IMPOSSIBLE,
            f"{run.wrong[1]:,} values came out wrong, so what was transferred is not what was sent",
            "find out why before any of these bandwidths is used",
        )
    if "collective" in run.words:
        draft.envelope["benchmark"] = shown(run.words["collective"])
    names = set(run.devices)
    if len(names) == 1:
        draft.envelope["device"] = names.pop()
        draft.envelope["device_count"] = len(run.devices)
    elif names:
        draft.stated["devices"] = ", ".join(sorted(names))
    for name, fact in (
        ("nccl", run.words.get("nccl")),
        ("hosts", str(len(run.hosts)) if run.hosts else None),
        ("settings", run.words["settings"]),
    ):
        if fact is not None:
            draft.stated[name] = shown(fact)
    return draft.finish(
        tuple(
            axis for axis in ("benchmark", "device", "device_count") if axis not in draft.envelope
        )
    )


def _size(row: tuple[Line, list[str]]) -> str:
    size = exact(row[1][0])
    return f"{format_number(Fraction(size))} B" if isinstance(size, int) else row[1][0]


def _bandwidths(draft: PrintedDraft, run: _Run) -> list[int | Decimal]:
    """Every bus bandwidth of the table, held against size, time and the collective's factor."""
    collective = run.words.get("collective", "").removesuffix("_mpi").removesuffix("_perf")
    factor = _FACTORS.get(collective)
    found: list[int | Decimal] = []
    for line, cells in run.table:
        size = exact(cells[0])
        for time_cell, bus_cell in ((cells[5], cells[7]), (cells[9], cells[11])):
            time, bus = exact(time_cell), exact(bus_cell)
            if not (is_number(size) and is_number(time) and is_number(bus)):
                draft.keep(cells[0], None, line.place)
                draft.find(
                    IMPOSSIBLE,
                    f"the row of size {shown(cells[0])} holds no numbers",
                    UNTOUCHED,
                    cells[0],
                )
                return []
            assert isinstance(size, int | Decimal)
            assert isinstance(time, int | Decimal)
            assert isinstance(bus, int | Decimal)
            found.append(bus)
            if factor is None or not time or not run.devices:
                continue
            label = f"busbw of {cells[0]} B"
            draft.keep(label, bus, line.place)
            given = Fraction(size) / 1000 / Fraction(time) * factor(len(run.devices))
            relative = half_of_last_digit(time) / Fraction(time)
            draft.confirm(label, given, "GB/s", given * relative, "its size and time")
    return found
