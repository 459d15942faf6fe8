"""Whether a snapshot holds all that its decision rests on, each record as the one it is said to be.

Without this, records could be left out or written twice, and what is left would still judge well.
"""

from __future__ import annotations

from collections.abc import Iterator

from upheld.corpus.links import links_of
from upheld.corpus.load import Corpus
from upheld.records.adr import Adr
from upheld.records.finding import Finding
from upheld.records.run import Run
from upheld.records.snapshot import Snapshot

_RESTORE = "restore the file; a later state is a new snapshot"


def incomplete(corpus: Corpus, snapshot: Snapshot, frozen: Corpus) -> Iterator[Finding]:
    """What is missing from the snapshot; `frozen` is the corpus of its records."""
    place = corpus.entries[snapshot.id].document.place
    if not isinstance(frozen.get(snapshot.adr), Adr):
        yield Finding(
            "UPH803",
            place(("adr",)),
            f"{snapshot.adr} is not among the frozen decisions",
            _RESTORE,
        )
    for index, record in enumerate(snapshot.records):
        entry = frozen.entries.get(record.id)
        if entry is None or (entry.document.path, entry.sha256) != (record.path, record.sha256):
            yield Finding(
                "UPH803",
                place(("records", index)),
                f"the frozen text of {record.path} is no valid record {record.id}",
                _RESTORE,
            )
    for id_, target in _left_out(frozen):
        yield Finding(
            "UPH803",
            place(("records",)),
            f"{id_} names {target}, which is not among the frozen records",
            _RESTORE,
        )
    held = {(raw.path, raw.sha256) for raw in snapshot.files}
    for run in frozen.of(Run):
        for raw in (*run.files, *run.kept):
            if (raw.path, raw.sha256) not in held:
                yield Finding(
                    "UPH803",
                    place(("files",)),
                    f"{raw.path} of {run.id} is not among the frozen files",
                    _RESTORE,
                )


def _left_out(frozen: Corpus) -> Iterator[tuple[str, str]]:
    """Links to a record that is not frozen; other decisions and what is only related may be."""
    for id_, entry in frozen.entries.items():
        for target, kinds in dict.fromkeys(
            (link.target, link.kinds) for link in links_of(entry.record)
        ):
            if target not in frozen.entries and kinds and "adr" not in kinds:
                yield id_, target
