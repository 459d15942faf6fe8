"""What a raw file says once it has been read: rows of figures, their envelope, their gaps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from upheld.measured.course import Course
from upheld.records.finding import Finding, Place
from upheld.records.units import find_unit

Origin = Literal["recomputed", "reported"]
AxisValue = str | int | Fraction | bool


@dataclass(frozen=True, slots=True)
class Figure:
    """One number under its canonical name, such as `latency.ttft.p99`, in a unit of units.py.

    `recomputed` figures were worked out from other parts of the file; `reported` ones are only
    what its summary says. `reported` is the summary's own number, None where it has none.
    `rounding` is how far what the tool knew can be from a number that it printed rounded.
    """

    name: str
    value: Fraction
    unit: str
    origin: Origin
    reported: Fraction | None = None
    note: str | None = None
    rounding: Fraction = Fraction(0)

    @property
    def distribution(self) -> str:
        """The figure's name without its statistic: the key into `Row.samples`."""
        return distribution_of(self.name)


@dataclass(frozen=True, slots=True)
class Requests:
    """How many requests a row rests on; None is unknown, which is not zero.

    `failed_are_timed`: the tool counts the times of failed requests among its latencies.
    """

    completed: int | None
    failed: int | None
    attempted: int | None
    failed_are_timed: bool = False


@dataclass(frozen=True, slots=True)
class Mean:
    """An axis of which a file gives the mean alone; `varies` where requests are seen to differ."""

    value: Fraction
    varies: bool


@dataclass(frozen=True, slots=True)
class Startup:
    """What an engine printed while it started, digit for digit, to be held against arithmetic.

    `engine` is a short name, such as `vllm`. `settings` are what it was started with, under the
    engine's own names. `printed` has the numbers of each kind of line, by name, as they were
    printed: `{"pool": ({"tokens": "20480", "k": "0.12", "v": "0.12"},)}`.
    """

    engine: str
    settings: Mapping[str, str] = field(default_factory=dict)
    printed: Mapping[str, tuple[Mapping[str, str], ...]] = field(default_factory=dict)


TestOutcome = Literal["passed", "failed", "error", "skipped"]


@dataclass(frozen=True, slots=True)
class Row:
    """One run, operating point or test of a file.

    `envelope` holds axes of records/envelope.py and nothing else; `stated` any other fact worth
    showing; `not_stated` the axes that matter for the format and that the file leaves open.
    `requests` is None where the tool sends no requests. `samples` says how many values are
    behind each distribution, such as `latency.ttft`, or at most can be. `means` are axes that the
    envelope lacks because no single value holds for all requests, or none is known to. `doubts`
    say, by distribution, why its figures are not what their name says. `unlimited` are axes of the
    load on which the client held nothing back. `asked` are lengths that it asked for, `counted` a
    number of tokens by each who counted it, by the figure's name. `courses` say how distributions
    went over the run. `startup` is there where the row is a start of an engine; `tests` where it
    is a report of tests, with the outcome of each by its full name, the worst where a name is
    there more than once.
    """

    case: str | None
    place: Place
    figures: tuple[Figure, ...]
    envelope: Mapping[str, AxisValue] = field(default_factory=dict)
    stated: Mapping[str, str] = field(default_factory=dict)
    not_stated: tuple[str, ...] = ()
    requests: Requests | None = None
    samples: Mapping[str, int] = field(default_factory=dict)
    means: Mapping[str, Mean] = field(default_factory=dict)
    doubts: Mapping[str, str] = field(default_factory=dict)
    unlimited: frozenset[str] = frozenset()
    asked: Mapping[str, Fraction] = field(default_factory=dict)
    counted: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    courses: Mapping[str, Course] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    startup: Startup | None = None
    tests: Mapping[str, TestOutcome] = field(default_factory=dict)

    def figure(self, name: str) -> Figure | None:
        """The figure of that name, if the row has it."""
        return next((figure for figure in self.figures if figure.name == name), None)

    def value(self, name: str, unit: str) -> Fraction | None:
        """The figure of that name in `unit`, which must be of its dimension; None without one."""
        figure = self.figure(name)
        if figure is None:
            return None
        return figure.value * find_unit(figure.unit).factor / find_unit(unit).factor


@dataclass(frozen=True, slots=True)
class Capture:
    """What was noted around a command while it ran: no figure, but where all files beside it hold.

    `outcome` is that of the worst execution: `completed`, `failed` or `interrupted`. `envelope`
    holds axes of records/envelope.py, `stated` any other fact.
    """

    outcome: str
    envelope: Mapping[str, AxisValue]
    stated: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a format module makes of a file's content."""

    rows: tuple[Row, ...]
    tool_version: str | None = None
    findings: tuple[Finding, ...] = ()
    capture: Capture | None = None


@dataclass(frozen=True, slots=True)
class FileReading:
    """A file as it was read. `format` is `unknown` where no format recognises the content."""

    path: str
    sha256: str
    format: str
    tool: str | None
    tool_version: str | None
    rows: tuple[Row, ...]
    findings: tuple[Finding, ...]
    capture: Capture | None = None

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        """The findings on the file and on each of its rows, in the order of the file."""
        found = [*self.findings, *(each for row in self.rows for each in row.findings)]
        return tuple(sorted(found, key=lambda each: each.place))


def distribution_of(name: str) -> str:
    """`latency.ttft` of `latency.ttft.p99.9`; a name without a statistic is its own."""
    from upheld.records.metrics import METRICS

    stem = name
    while stem and stem not in METRICS:
        stem = stem.rpartition(".")[0]
    return stem or name
