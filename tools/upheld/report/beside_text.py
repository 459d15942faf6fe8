"""A start of an engine beside arithmetic, for people: who says which figure is in the heading."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

import click

from upheld.measured.reading import FileReading
from upheld.records.units import format_number
from upheld.report.beside_json import verdict_of
from upheld.report.escape import printable
from upheld.report.table import aligned

if TYPE_CHECKING:
    from upheld.judge.beside import Beside, Compared

_WIDTH = 96
_WHOLE_FROM = 10
INTERVAL = (
    "Inside the interval: an input is printed rounded, and what it may have been leaves more than "
    "one value open."
)


def beside_text(reading: FileReading, title: str, starts: Sequence[Beside]) -> str:
    """The starts of a file beside arithmetic; text from files has control characters escaped."""
    lines = [f"  {click.style('Beside arithmetic', bold=True)} for {printable(title)}"]
    for start in starts:
        if start.case is not None:
            lines += ["", f"  {printable(start.case)}"]
        lines += ["", *_start(start, reading.tool or "the engine")]
    if any(_is_in_an_interval(each) for start in starts for each in start.compared):
        lines += ["", *_wrapped(INTERVAL)]
    return "\n".join(lines)


def _start(start: Beside, tool: str) -> Iterator[str]:
    if start.compared:
        head = ("figure", "unit", f"printed by {tool}", "by arithmetic, not measured", "verdict")
        rows = [head, *(_row(each) for each in start.compared)]
        heading, *table = aligned([[printable(cell) for cell in row] for row in rows], right=(2, 3))
        yield click.style(f"    {heading}", dim=True)
        for line, each in zip(table, start.compared, strict=True):
            yield "    " + click.style(line, fg="green" if each.check.verdict == "exact" else "red")
        yield ""
    for open_ in start.not_compared:
        unit = f" {open_.unit}" if open_.unit else ""
        yield from _wrapped(f"Not compared: {open_.name}, {open_.printed}{unit}: {open_.why}.")
    if start.problem is not None:
        yield from _wrapped(f"Nothing was compared: {start.problem}.")
    assumed = [each.name.replace("_", " ") for each in start.inputs if each.assumed]
    if start.differs and assumed:
        yield from _wrapped(
            f"Assumed, since the log does not say: {', '.join(assumed)}. A difference may be "
            "theirs; a deployment's record can state them (--deployment)."
        )
    if start.inputs:
        if start.not_compared or start.problem or (start.differs and assumed):
            yield ""
        yield "    Inputs of the arithmetic, and where they came from"
        inputs = [
            (each.name.replace("_", " "), _shown(each.value), each.origin) for each in start.inputs
        ]
        yield from (f"      {printable(line)}" for line in aligned(inputs))


def _row(compared: Compared) -> tuple[str, str, str, str, str]:
    check = compared.check
    predicted = check.predicted or "nothing prints this"
    return check.name, compared.unit, check.printed, predicted, _verdict(compared)


def _verdict(compared: Compared) -> str:
    verdict = verdict_of(compared)
    differs_by = compared.check.differs_by
    if verdict != "differs" or differs_by is None:
        return verdict
    sign = "+" if differs_by > 0 else "−"
    percent = abs(differs_by) * 100
    shown = f"{round(percent):,}" if percent >= _WHOLE_FROM else format_number(percent, 2)
    return f"differs by {sign}{shown} %"


def _is_in_an_interval(compared: Compared) -> bool:
    return verdict_of(compared) == "inside the interval"


def _shown(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _wrapped(text: str) -> list[str]:
    return [f"    {line}" for line in wrap(printable(text), _WIDTH)]
