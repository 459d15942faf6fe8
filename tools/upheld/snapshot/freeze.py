"""Freeze a decision: the text of every record that it rests on, raw files by digest, verdicts."""

from __future__ import annotations

from typing import Any

import yaml

from upheld import __version__
from upheld.corpus.files import FileError, read_inside
from upheld.corpus.links import links_of
from upheld.corpus.load import Corpus
from upheld.corpus.yaml_reader import MAX_BYTES
from upheld.judge.judgement import Judged
from upheld.records.adr import Adr
from upheld.records.run import Run
from upheld.snapshot.digest import digest_of, sha256_of

# Decisions beside this one, and earlier snapshots, are not what it rests on.
_BESIDE = ("adr", "snapshot")


class NotFrozen(Exception):
    """The decision can't be frozen; the message says why and `help` what to do."""

    def __init__(self, message: str, help_text: str) -> None:
        super().__init__(message)
        self.help = help_text


def freeze(judged: Judged, adr_id: str, snapshot_id: str) -> str:
    """The text of a snapshot record of the decision `adr_id`, as judged.

    Raises:
        NotFrozen: no such decision, a record that is not valid, or evidence that is not sound.
    """
    corpus = judged.corpus
    adr = corpus.get(adr_id)
    if not isinstance(adr, Adr):
        decisions = ", ".join(each.id for each in corpus.of(Adr)) or "none"
        raise NotFrozen(f"there is no decision {adr_id!r}", f"decisions here: {decisions}")
    ids = reached(corpus, adr_id)
    paths = {corpus.entries[id_].document.path for id_ in ids}
    broken = next(
        (
            finding
            for finding in judged.findings
            if finding.severity == "error" and finding.place.path in paths
        ),
        None,
    )
    if broken is not None:
        raise NotFrozen(
            f"{broken.place}: {broken.rule} {broken.message}",
            "only what stands is frozen; mend this first",
        )
    content: dict[str, Any] = {
        "kind": "snapshot",
        "id": snapshot_id,
        "title": f"{adr_id} as it stood on {judged.as_of}",
        "adr": adr_id,
        "frozen": judged.as_of.isoformat(),
        "upheld_version": __version__,
        "records": [_record(corpus, id_) for id_ in ids],
        "files": _files(corpus, ids),
        "verdicts": [
            {
                "claim": judgement.id,
                "basis": judgement.claim.basis,
                "verdict": judgement.verdict,
                "because": judgement.outcome.because,
                "rests_on": judgement.rests_on,
            }
            for judgement in judged.judgements
            if judgement.holder.id in ids
        ],
    }
    content["digest"] = digest_of(content)
    return _as_yaml(content)


def reached(corpus: Corpus, adr_id: str) -> list[str]:
    """Ids of the decision and of every record below it, sorted, the decision first."""
    pending = [adr_id]
    seen: set[str] = set()
    while pending:
        id_ = pending.pop()
        if id_ in seen or id_ not in corpus.entries:
            continue
        if id_ != adr_id and corpus.entries[id_].kind in _BESIDE:
            continue
        seen.add(id_)
        pending.extend(link.target for link in links_of(corpus.entries[id_].record))
    return [adr_id, *sorted(seen - {adr_id})]


def _record(corpus: Corpus, id_: str) -> dict[str, str]:
    path = corpus.entries[id_].document.path
    try:
        text = read_inside(corpus.root, path, MAX_BYTES).decode("utf-8")
    except FileError as error:
        raise NotFrozen(str(error), error.help) from None
    return {"id": id_, "path": path, "sha256": sha256_of(text), "text": text}


def _files(corpus: Corpus, ids: list[str]) -> list[dict[str, str]]:
    runs = (corpus.get(id_) for id_ in ids)
    return [
        {"path": raw.path, "sha256": raw.sha256}
        for run in runs
        if isinstance(run, Run)
        for raw in run.files
    ]


class _Dumper(yaml.SafeDumper):
    """Text of several lines as a block, so that a frozen record reads as it did."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)


def _as_yaml(content: dict[str, Any]) -> str:
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
