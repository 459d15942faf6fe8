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
from upheld.judge.names import Names
from upheld.records.adr import Adr
from upheld.records.claim import Claim, Within
from upheld.records.run import Run
from upheld.snapshot.digest import digest_of, sha256_of, text_in

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
    ids = _rested_on(judged, adr_id)
    paths = {corpus.entries[id_].document.path for id_ in ids}
    paths |= {file["path"] for file in _files(corpus, ids)}
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
    text = _as_yaml(content)
    if len(text.encode("utf-8")) > MAX_BYTES:
        raise NotFrozen(
            f"the snapshot would be larger than {MAX_BYTES:,} bytes, and could not be read again",
            "shorten what the decision rests on, or split the decision",
        )
    return text


def _rested_on(judged: Judged, adr_id: str) -> list[str]:
    """Ids of all that is needed to judge the decision again, sorted, the decision first.

    Beside the records below it: runs that speak of its claims unasked, and the models and
    devices that give the names by which runs and claims are matched.
    """
    names = Names(judged.corpus)
    ids = reached(judged.corpus, adr_id)
    while True:
        judgements = [each for each in judged.judgements if each.holder.id in ids]
        spoken = {id_ for each in judgements for id_ in each.rests_on}
        axes = [within.stated() for each in judgements for within in _withins(each.claim)]
        runs = (judged.runs[id_] for id_ in (*ids, *spoken) if id_ in judged.runs)
        axes += [row.envelope for run in runs for row in run.rows]
        named = {
            names.normal(axis, stated[axis])
            for stated in axes
            for axis in ("model", "device")
            if axis in stated
        }
        more = reached(judged.corpus, adr_id, *spoken, *named)
        if more == ids:
            return ids
        ids = more


def _withins(claim: Claim) -> tuple[Within, ...]:
    return (claim.within,) if claim.versus is None else (claim.within, claim.versus)


def reached(corpus: Corpus, adr_id: str, *others: str) -> list[str]:
    """Ids of the decision, of others and of every record below, sorted, the decision first."""
    pending = [adr_id, *others]
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
        text = text_in(read_inside(corpus.root, path, MAX_BYTES))
    except FileError as error:
        raise NotFrozen(str(error), error.help) from None
    return {"id": id_, "path": path, "sha256": sha256_of(text), "text": text}


def _files(corpus: Corpus, ids: list[str]) -> list[dict[str, str]]:
    runs = (corpus.get(id_) for id_ in ids)
    return [
        {"path": raw.path, "sha256": raw.sha256}
        for run in runs
        if isinstance(run, Run)
        for raw in (*run.files, *run.kept)
    ]


class _Dumper(yaml.SafeDumper):
    """Text of several lines as a block, so that a frozen record reads as it did."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)


def _as_yaml(content: dict[str, Any]) -> str:
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
