"""Verify a snapshot: its digests hold, its raw files are there, its verdicts come out again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from upheld.corpus.files import FileError, read_inside
from upheld.corpus.load import Corpus, load_texts
from upheld.judge.judge import judge_corpus
from upheld.records.finding import Finding
from upheld.records.snapshot import Snapshot
from upheld.snapshot.digest import digest_of, sha256_of


@dataclass(frozen=True, slots=True)
class Verified:
    """What verifying found, and which frozen records have changed in the corpus since."""

    snapshot: Snapshot
    findings: tuple[Finding, ...]
    changed_since: tuple[str, ...]


def verify(corpus: Corpus, snapshot: Snapshot) -> Verified:
    """Hold a snapshot against itself, its raw files, and a fresh judgement of what it froze."""
    findings = tuple(tampered(corpus, snapshot)) or tuple(_judged_otherwise(corpus, snapshot))
    changed = tuple(
        frozen.id
        for frozen in snapshot.records
        if frozen.id not in corpus.entries or corpus.entries[frozen.id].sha256 != frozen.sha256
    )
    return Verified(snapshot, findings, changed)


def tampered(corpus: Corpus, snapshot: Snapshot) -> Iterator[Finding]:
    """Digests of a snapshot that do not hold: its own, its records', its raw files'."""
    document = corpus.entries[snapshot.id].document
    if digest_of(document.value) != snapshot.digest:
        yield Finding(
            "UPH803",
            document.place(("digest",)),
            f"{snapshot.id} was changed after it was frozen: its digest does not hold",
            "restore the file; a later state is a new snapshot",
        )
    for index, frozen in enumerate(snapshot.records):
        if sha256_of(frozen.text) != frozen.sha256:
            yield Finding(
                "UPH803",
                document.place(("records", index, "sha256")),
                f"the text of {frozen.id} is not the one that was frozen",
                "restore the file; a later state is a new snapshot",
            )
    for index, raw in enumerate(snapshot.files):
        place = document.place(("files", index))
        try:
            data = read_inside(corpus.root, raw.path)
        except FileError as error:
            yield Finding("UPH801", place, str(error), error.help)
            continue
        if hashlib.sha256(data).hexdigest() != raw.sha256:
            yield Finding(
                "UPH802",
                place,
                f"{raw.path} was changed after {snapshot.id} was frozen",
                "restore the file; a new measurement is a new run",
            )


def _judged_otherwise(corpus: Corpus, snapshot: Snapshot) -> Iterator[Finding]:
    document = corpus.entries[snapshot.id].document
    frozen = load_texts(corpus.root, {each.path: each.text for each in snapshot.records})
    again = {each.id: each for each in judge_corpus(frozen, snapshot.frozen).judgements}
    for index, was in enumerate(snapshot.verdicts):
        now = again.pop(was.claim, None)
        if now is None or now.verdict != was.verdict:
            comes_out = "is not in the frozen records" if now is None else f"is now {now.verdict}"
            yield Finding(
                "UPH803",
                document.place(("verdicts", index)),
                f"{was.claim} was {was.verdict} when frozen, and {comes_out}",
                "judge with the version that froze it, or find out what changed in the rules",
                claim=was.claim,
            )
    for missing in again:
        yield Finding(
            "UPH803",
            document.place(("verdicts",)),
            f"{missing} is in the frozen records without a frozen verdict",
            "restore the file; a later state is a new snapshot",
            claim=missing,
        )
