"""What captures say of the run that they belong to: where all its files hold, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from upheld.corpus.entry import Entry
from upheld.judge.figures import plain
from upheld.judge.names import Names
from upheld.measured.envelope import contradictions
from upheld.measured.reading import AxisValue, FileReading
from upheld.records.envelope import AXES
from upheld.records.finding import Finding
from upheld.records.run import Run


def captured_axes(readings: Sequence[FileReading]) -> dict[str, AxisValue]:
    """The axes that the captures state alike; nobody knows which file belongs to which capture."""
    envelopes = [each.capture.envelope for each in readings if each.capture is not None]
    if not envelopes:
        return {}
    first, *others = envelopes
    return {
        axis: value
        for axis, value in first.items()
        if all(other.get(axis) == value for other in others)
    }


def contradicting_captures(
    entry: Entry, readings: Sequence[FileReading], names: Names
) -> Iterator[Finding]:
    """Where a capture says otherwise than the run record, or than a file beside it."""
    run = entry.record
    assert isinstance(run, Run)
    for reading in readings:
        if reading.capture is None:
            continue
        outcome = reading.capture.outcome
        if run.outcome == "completed" and outcome != "completed":
            yield Finding(
                "UPH509",
                entry.document.place(("outcome",)),
                f"the run is said to be completed, but {reading.path} says {outcome}",
                f"write outcome: {outcome}; a new measurement is a new run",
            )
        captured = reading.capture.envelope
        for difference in contradictions(captured, run.states.stated(), names.normal):
            yield Finding(
                "UPH509",
                entry.document.place(("states", difference.axis)),
                f"the run states the {AXES[difference.axis].title} as "
                f"{plain(difference.claimed)}, but {reading.path} says {plain(difference.found)}",
                "remove it from states; the file has the last word",
            )
        yield from _measured_elsewhere(entry, reading, readings, names)


def _measured_elsewhere(
    entry: Entry, capture: FileReading, readings: Sequence[FileReading], names: Names
) -> Iterator[Finding]:
    assert capture.capture is not None, "it is one"
    for reading in readings:
        for row in reading.rows:
            for difference in contradictions(row.envelope, capture.capture.envelope, names.normal):
                yield Finding(
                    "UPH509",
                    entry.document.place(("files",)),
                    f"{capture.path} says the {AXES[difference.axis].title} is "
                    f"{plain(difference.claimed)}, but {reading.path} says "
                    f"{plain(difference.found)}",
                    "files that were measured in different places are different runs",
                )
