"""A directory into a corpus: every record found, validated and linked."""

from __future__ import annotations

import hashlib
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TypeVar

from upheld.corpus.config import Config, ConfigError, read_config
from upheld.corpus.discover import discover, has_folder
from upheld.corpus.entry import Entry
from upheld.corpus.files import FileError, read_inside
from upheld.corpus.links import Link, check_links, check_local_ids, links_of
from upheld.corpus.validate import validate
from upheld.corpus.yaml_reader import MAX_BYTES, YamlError, read_yaml
from upheld.records.finding import Finding, Place
from upheld.records.types import Record

R = TypeVar("R", bound=Record)

_ID = re.compile(rb"(?m)^[{ ]?['\"]?id['\"]?: *['\"]?([A-Za-z0-9._-]{1,64})")


class CorpusError(Exception):
    """There is no corpus to judge; the message says what was looked for."""


@dataclass(slots=True)
class Corpus:
    """All records by id, what is wrong with them, and who links to whom."""

    root: Path
    config: Config
    entries: dict[str, Entry] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    back_links: dict[str, list[Link]] = field(default_factory=dict)
    # Ids of files that are no valid record: a link to one is not broken as well.
    damaged: set[str] = field(default_factory=set)
    # How many files hold no valid record.
    rejected: int = 0
    _folded: dict[str, str] = field(default_factory=dict)

    def get(self, id_: str) -> Record | None:
        """The record of that id."""
        entry = self.entries.get(id_)
        return entry.record if entry else None

    def of(self, model: type[R]) -> list[R]:
        """All records of one kind, by id."""
        found = (entry.record for _, entry in sorted(self.entries.items()))
        return [record for record in found if isinstance(record, model)]

    def superseded_by(self, id_: str) -> list[str]:
        """The decisions that supersede this one."""
        return sorted({
            link.source for link in self.back_links.get(id_, []) if link.at[0] == "supersedes"
        })  # fmt: skip


def load(root: Path) -> Corpus:
    """Read every record under `root`.

    Raises:
        CorpusError: no such directory, no folder for records in it, or no file in those.
        ConfigError: the configuration can't be used.
    """
    try:
        if not stat.S_ISDIR(root.stat().st_mode):
            raise CorpusError(f"{root} is not a directory")
    except FileNotFoundError:
        raise CorpusError(f"there is no {root}") from None
    except OSError as error:
        raise CorpusError(f"{root} can't be read: {error.strerror}") from None
    corpus = Corpus(root, read_config(root))
    folders = corpus.config.records
    if not has_folder(root, folders):
        raise CorpusError(f"{root} has no folder for records: {' or '.join(folders)}")
    gone = [folder for folder in folders if not has_folder(root, (folder,))]
    if gone and folders != Config().records:
        raise ConfigError(f"records names a folder that is not there: {', '.join(gone)}")
    read = 0
    for found in discover(root, folders):
        read += 1
        if isinstance(found, Finding):
            _add_damaged(corpus, found.place.path, [found])
        else:
            _add(corpus, found)
    if read == 0:
        raise CorpusError(f"there is no record in {' or '.join(folders)} of {root}")
    _link(corpus)
    return corpus


def load_texts(root: Path, texts: dict[str, str]) -> Corpus:
    """A corpus from the texts of its records, by path: what a snapshot has frozen.

    `root` is where raw files are looked up.
    """
    corpus = Corpus(root, Config())
    for path, text in texts.items():
        _add_bytes(corpus, path, text.encode("utf-8"))
    _link(corpus)
    return corpus


def _add(corpus: Corpus, path: str) -> None:
    try:
        data = read_inside(corpus.root, path, MAX_BYTES)
    except FileError as error:
        finding = Finding("UPH110", Place(path), str(error), error.help)
        _add_damaged(corpus, path, [finding])
        return
    _add_bytes(corpus, path, data)


def _add_bytes(corpus: Corpus, path: str, data: bytes) -> None:
    try:
        document = read_yaml(path, data)
    except YamlError as error:
        _add_damaged(corpus, path, [error.finding], data)
        return
    outcome = validate(document)
    if isinstance(outcome, list):
        _add_damaged(corpus, path, outcome, data)
        return
    entry = Entry(outcome, document, hashlib.sha256(data).hexdigest())
    corpus.findings.extend(check_local_ids(entry))
    _add_entry(corpus, entry)


def _add_damaged(corpus: Corpus, path: str, findings: list[Finding], data: bytes = b"") -> None:
    corpus.findings.extend(findings)
    corpus.rejected += 1
    # Which record it would have been: by the name of its file, and by an id that can be seen.
    corpus.damaged.add(PurePosixPath(path).stem)
    corpus.damaged.update(id_.decode("ascii") for id_ in _ID.findall(data))


def _add_entry(corpus: Corpus, entry: Entry) -> None:
    id_ = entry.record.id
    taken = corpus._folded.setdefault(id_.casefold(), id_)
    if id_ not in corpus.entries and taken == id_:
        corpus.entries[id_] = entry
        return
    first = corpus.entries[taken].document.place(("id",))
    same = "is taken" if taken == id_ else f"differs from {taken!r} in letter case alone"
    corpus.findings.append(
        Finding(
            "UPH201",
            entry.document.place(("id",)),
            f"the id {id_!r} {same}; see {first}",
            "give one of the two another id",
        )
    )


def _link(corpus: Corpus) -> None:
    corpus.findings.extend(check_links(corpus.entries, corpus.damaged))
    for entry in corpus.entries.values():
        for link in links_of(entry.record):
            corpus.back_links.setdefault(link.target, []).append(link)
