"""The raw files behind each run: read once, held against their digests, their rows as evidence."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any

from upheld.corpus.entry import Entry
from upheld.corpus.files import FileError, read_inside
from upheld.corpus.load import Corpus
from upheld.judge.names import Names
from upheld.measured.envelope import contradictions
from upheld.measured.read import read_file
from upheld.measured.reading import FileReading, Row
from upheld.records.envelope import AXES
from upheld.records.finding import Finding
from upheld.records.run import Run
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
    def sound(self) -> bool:
        """Whether every file is there, unchanged and readable, and the run completed."""
        broken = any(finding.severity == "error" for finding in self.findings)
        return self.run.outcome == "completed" and not broken


def read_runs(corpus: Corpus, names: Names) -> dict[str, RunEvidence]:
    """The evidence of every run in the corpus, by the run's id."""
    files: dict[str, _RawFile | FileError] = {}
    entries = {run.id: corpus.entries[run.id] for run in corpus.of(Run)}
    return {id_: _read_run(corpus, entry, names, files) for id_, entry in entries.items()}


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
        if raw.path not in files:
            files[raw.path] = _read_raw(corpus, raw.path)
        file = files[raw.path]
        if isinstance(file, FileError):
            findings.append(Finding("UPH801", place, str(file), file.help))
            continue
        if file.sha256 != raw.sha256:
            findings.append(
                Finding(
                    "UPH802",
                    entry.document.place(("files", index, "sha256")),
                    f"{raw.path} has the digest {file.sha256[:12]}…, not the recorded "
                    f"{raw.sha256[:12]}…: the file was changed",
                    "restore the file; a new measurement is a new run",
                )
            )
            continue
        reading = file.reading
        readings.append(reading)
        findings.extend(reading.findings)
        findings.extend(finding for row in reading.rows for finding in row.findings)
        if reading.format not in (raw.format, "unknown"):
            findings.append(
                Finding(
                    "UPH508",
                    entry.document.place(("files", index, "format")),
                    f"{raw.path} is {reading.format}, not {raw.format}",
                    f"write format: {reading.format}",
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
    # The same contradiction in every row of a file is one thing to mend.
    unique = list(dict.fromkeys(replace(finding) for finding in findings))
    return RunEvidence(run, tuple(readings), tuple(rows), tuple(unique))


def _read_raw(corpus: Corpus, path: str) -> _RawFile | FileError:
    try:
        data = read_inside(corpus.root, path)
    except FileError as error:
        return error
    return _RawFile(hashlib.sha256(data).hexdigest(), read_file(path, data))
