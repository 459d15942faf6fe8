"""Verify a snapshot: its digests hold, its raw files are there, its verdicts come out again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from upheld import __version__
from upheld.corpus.files import FileError, digest_inside, read_inside
from upheld.corpus.load import Corpus, load_texts
from upheld.judge.judge import judge_corpus
from upheld.records.finding import Finding
from upheld.records.snapshot import Snapshot
from upheld.snapshot.complete import incomplete
from upheld.snapshot.digest import digest_of, sha256_of, text_in


@dataclass(frozen=True, slots=True)
class Verified:
    """What verifying found, and which frozen records have changed in the corpus since."""

    snapshot: Snapshot
    findings: tuple[Finding, ...]
    changed_since: tuple[str, ...]


def verify(corpus: Corpus, snapshot: Snapshot) -> Verified:
    """Hold a snapshot against itself, its raw files, and a fresh judgement of what it froze."""
    frozen = load_texts(corpus.root, {each.path: each.text for each in snapshot.records})
    findings = (
        tuple(tampered(corpus, snapshot))
        or tuple(incomplete(corpus, snapshot, frozen))
        or tuple(_judged_otherwise(corpus, snapshot, frozen))
    )
    changed = tuple(
        each.id for each in snapshot.records if _digest_now(corpus, each.id) != each.sha256
    )
    return Verified(snapshot, findings, changed)


def _digest_now(corpus: Corpus, id_: str) -> str | None:
    entry = corpus.entries.get(id_)
    if entry is None:
        return None
    try:
        return sha256_of(text_in(read_inside(corpus.root, entry.document.path)))
    except FileError:
        return None


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
            digest = digest_inside(corpus.root, raw.path)
        except FileError as error:
            yield Finding("UPH801", place, str(error), error.help)
            continue
        if digest != raw.sha256:
            yield Finding(
                "UPH802",
                place,
                f"{raw.path} was changed after {snapshot.id} was frozen",
                "restore the file; a new measurement is a new run",
            )


def _judged_otherwise(corpus: Corpus, snapshot: Snapshot, frozen: Corpus) -> Iterator[Finding]:
    document = corpus.entries[snapshot.id].document
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
            continue
        told_otherwise = [
            name
            for name, told, found in (
                ("basis", was.basis, now.claim.basis),
                ("rests_on", was.rests_on, now.rests_on),
                ("because", was.because, now.outcome.because),
            )
            # Another version may word the same reason otherwise.
            if told != found and (name != "because" or snapshot.upheld_version == __version__)
        ]
        for name in told_otherwise:
            yield Finding(
                "UPH803",
                document.place(("verdicts", index, name)),
                f"the frozen verdict on {was.claim} gives another {name} than the frozen records",
                "restore the file; a later state is a new snapshot",
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
