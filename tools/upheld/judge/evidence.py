"""The raw files behind each run: read once, held against their digests, their rows as evidence."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from upheld.corpus.entry import Entry
from upheld.corpus.files import FileError, open_inside, read_inside
from upheld.corpus.load import Corpus
from upheld.judge.captures import captured_axes, contradicting_captures
from upheld.judge.figures import plain
from upheld.judge.names import Names
from upheld.measured.dates import IMPOSSIBLE_DATE, day_in, day_of
from upheld.measured.envelope import contradictions
from upheld.measured.mapping.mapped import Mapped
from upheld.measured.read import read_file, read_mapped_file
from upheld.measured.reading import Capture, FileReading, Row
from upheld.records.envelope import AXES
from upheld.records.finding import Finding
from upheld.records.mapping import FORMS
from upheld.records.run import KeptFile, RawFile, Run
from upheld.records.units import format_number


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """A row of a raw file, with its envelope as the file and the run record state it together."""

    row: Row
    file: FileReading
    envelope: dict[str, Any]


@dataclass(frozen=True, slots=True)
class RunEvidence:
    """What a run gives: the readings of its files, their rows, and what is wrong with them."""

    run: Run
    readings: tuple[FileReading, ...]
    rows: tuple[EvidenceRow, ...]
    findings: tuple[Finding, ...]

    @property
    def measured(self) -> date:
        """The day of the measurement: the earliest that the record or a file states."""
        facts = [row.row.stated for row in self.rows] + [each.stated for each in self.captures]
        stated = (day_in(each.get("date", "")) for each in facts)
        return min([self.run.date, *(day for day in stated if day is not None)])

    @property
    def captures(self) -> list[Capture]:
        """What was noted around the run, file by file."""
        return [each.capture for each in self.readings if each.capture is not None]

    @property
    def sound(self) -> bool:
        """Whether every file is there, unchanged and readable, and the run completed."""
        broken = any(finding.severity == "error" for finding in self.findings)
        return self.run.outcome == "completed" and not broken


def read_runs(corpus: Corpus, names: Names) -> dict[str, RunEvidence]:
    """The evidence of every run in the corpus, by the run's id."""
    files: dict[str, _RawFile | FileError] = {}
    entries = {run.id: corpus.entries[run.id] for run in corpus.of(Run)}
    found = {id_: _read_run(corpus, entry, names, files) for id_, entry in entries.items()}
    for id_, conflicting in _measured_elsewhere(corpus, entries, names).items():
        found[id_] = replace(found[id_], findings=(*found[id_].findings, *conflicting))
    return found


def _measured_elsewhere(
    corpus: Corpus, entries: dict[str, Entry], names: Names
) -> dict[str, list[Finding]]:
    """Runs that state one raw file to be from two places: at most one of them is right."""
    found: dict[str, dict[str, Finding]] = {}
    # What the first run to state an axis of a file says of it.
    said: dict[tuple[str, str], tuple[str, Any]] = {}

    def differ(run: str, other: str, axis: str, own: object, others: object) -> None:
        finding = Finding(
            "UPH509",
            entries[run].document.place(("states", axis)),
            f"the run states the {AXES[axis].title} as {plain(own)}, but {other} states it as "
            f"{plain(others)} for the same file",
            "correct the one that is wrong; what one file holds was measured in one place",
        )
        found.setdefault(run, {}).setdefault(axis, finding)

    for run in corpus.of(Run):
        stated = run.states.stated()
        for digest in dict.fromkeys(raw.sha256 for raw in run.files):
            for axis, value in stated.items():
                first, before = said.setdefault((digest, axis), (run.id, value))
                if contradictions({axis: before}, {axis: value}, names.normal):
                    differ(run.id, first, axis, value, before)
                    differ(first, run.id, axis, before, value)
    return {id_: list(by_axis.values()) for id_, by_axis in found.items()}


@dataclass(frozen=True, slots=True)
class _RawFile:
    """A raw file as it is now, which may be another than the one that was recorded."""

    sha256: str
    reading: FileReading


def _read_run(
    corpus: Corpus, entry: Entry, names: Names, files: dict[str, _RawFile | FileError]
) -> RunEvidence:
    run = entry.record
    assert isinstance(run, Run)
    readings: list[FileReading] = []
    rows: list[EvidenceRow] = []
    findings: list[Finding] = []
    for index, raw in enumerate(run.files):
        place = entry.document.place(("files", index, "path"))
        file = _raw_file(corpus, entry, index, files)
        if isinstance(file, FileError):
            findings.append(Finding("UPH801", place, str(file), file.help))
            continue
        if file.sha256 != raw.sha256:
            findings.append(_changed(entry, ("files", index), raw, file.sha256))
            continue
        reading = file.reading
        readings.append(reading)
        findings.extend(reading.findings)
        findings.extend(finding for row in reading.rows for finding in row.findings)
        if reading.format not in (raw.format, "unknown"):
            unapplied = "" if raw.mapping is None else "; its mapping is not applied"
            remove = "" if raw.mapping is None else " and remove the mapping"
            findings.append(
                Finding(
                    "UPH508",
                    entry.document.place(("files", index, "format")),
                    f"{raw.path} is {reading.format}, not {raw.format}{unapplied}",
                    f"write format: {reading.format}{remove}",
                )
            )
        stated = run.states.stated()
        for row in reading.rows:
            for difference in contradictions(row.envelope, stated, names.normal):
                axis = AXES[difference.axis]
                findings.append(
                    Finding(
                        "UPH509",
                        entry.document.place(("states", difference.axis)),
                        f"the run states the {axis.title} as {difference.claimed}, but "
                        f"{raw.path} says {difference.found}",
                        "remove it from states; the file has the last word",
                    )
                )
            findings.extend(_unsaid_speculation(entry, raw.path, row, stated))
            findings.extend(_recorded_too_early(entry, raw.path, row, run.date))
            findings.extend(_load_without_limit(entry, raw.path, row, stated))
            for axis_name, mean in row.means.items():
                claimed = stated.get(axis_name)
                if claimed is not None and (mean.varies or claimed != mean.value):
                    vary = ", and they vary" if mean.varies else ""
                    findings.append(
                        Finding(
                            "UPH509",
                            entry.document.place(("states", axis_name)),
                            f"the run states the {AXES[axis_name].title} as "
                            f"{format_number(claimed)}, but those of {raw.path} average "
                            f"{format_number(mean.value)}{vary}",
                            "remove it from states; the file has the last word",
                        )
                    )
            rows.append(EvidenceRow(row, reading, {**stated, **row.envelope}))
    captured = captured_axes(readings)
    rows = [
        replace(each, envelope={**each.envelope, **captured, **each.row.envelope}) for each in rows
    ]
    findings.extend(contradicting_captures(entry, readings, names))
    findings.extend(_kept_otherwise(corpus, entry, run))
    # The same contradiction in every row of a file is one thing to mend.
    unique = list(dict.fromkeys(replace(finding) for finding in findings))
    return RunEvidence(run, tuple(readings), tuple(rows), tuple(unique))


def _kept_otherwise(corpus: Corpus, entry: Entry, run: Run) -> Iterator[Finding]:
    """Files that are kept beside the evidence, and are missing or were changed."""
    for index, kept in enumerate(run.kept):
        try:
            data = read_inside(corpus.root, kept.path)
        except FileError as error:
            place = entry.document.place(("kept", index, "path"))
            yield Finding("UPH801", place, str(error), error.help)
            continue
        digest = hashlib.sha256(data).hexdigest()
        if digest != kept.sha256:
            yield _changed(entry, ("kept", index), kept, digest)


def _changed(entry: Entry, at: tuple[str, int], file: KeptFile, digest: str) -> Finding:
    return Finding(
        "UPH802",
        entry.document.place((*at, "sha256")),
        f"{file.path} has the digest {digest[:12]}…, not the recorded "
        f"{file.sha256[:12]}…: the file was changed",
        "restore the file; a new measurement is a new run",
    )


def _unsaid_speculation(
    entry: Entry, path: str, row: Row, stated: Mapping[str, Any]
) -> Iterator[Finding]:
    """A file with figures of speculation was not measured without it."""
    spoken = str(stated.get("speculative_decoding", "")).casefold()
    if spoken == "none" and any(each.name.startswith("speculation.") for each in row.figures):
        yield Finding(
            "UPH509",
            entry.document.place(("states", "speculative_decoding")),
            f"the run states no speculative decoding, but {path} counts its drafts",
            "state the method; the file has the last word",
        )


def _recorded_too_early(entry: Entry, path: str, row: Row, recorded: date) -> Iterator[Finding]:
    """A run is not dated before its file was written; a day apart may be two time zones."""
    day = day_of(row)
    if day is not None and (day - recorded).days > 1:
        yield Finding(
            IMPOSSIBLE_DATE,
            entry.document.place(("date",)),
            f"the run is dated {recorded}, but {path} was written later, on {day}",
            "correct the date; if the clock of the machine was wrong, measure again",
        )


def _load_without_limit(
    entry: Entry, path: str, row: Row, stated: Mapping[str, Any]
) -> Iterator[Finding]:
    """A client that held nothing back had no rate, or no limit, that a record could state."""
    for axis in sorted(row.unlimited & stated.keys()):
        yield Finding(
            "UPH509",
            entry.document.place(("states", axis)),
            f"the run states the {AXES[axis].title} as {plain(stated[axis])}, but the client of "
            f"{path} set none",
            "remove it from states; the file has the last word",
        )


def _raw_file(
    corpus: Corpus, entry: Entry, index: int, files: dict[str, _RawFile | FileError]
) -> _RawFile | FileError:
    """A file of a run: read once for all runs, unless a mapping of this one says how."""
    run = entry.record
    assert isinstance(run, Run)
    raw = run.files[index]
    if raw.mapping is not None:
        return _read_by_mapping(corpus, raw.path, _mapped(entry, index, raw))
    if raw.path not in files:
        files[raw.path] = _read_raw(corpus, raw.path)
    return files[raw.path]


def _mapped(entry: Entry, index: int, raw: RawFile) -> Mapped:
    assert raw.mapping is not None, "the file is read by a mapping"
    assert raw.format in FORMS, "a mapping is for these alone"
    return Mapped(
        raw.format,
        raw.mapping,
        lambda path: entry.document.place(("files", index, "mapping", *path)),
    )


def _read_raw(corpus: Corpus, path: str) -> _RawFile | FileError:
    try:
        data = read_inside(corpus.root, path)
    except FileError as error:
        return error
    return _RawFile(hashlib.sha256(data).hexdigest(), read_file(path, data))


def _read_by_mapping(corpus: Corpus, path: str, mapped: Mapped) -> _RawFile | FileError:
    try:
        with open_inside(corpus.root, path) as stream:
            reading = read_mapped_file(path, stream, mapped)
    except FileError as error:
        return error
    return _RawFile(reading.sha256, reading)
