"""Links between records: which there are, and what is wrong with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from upheld.corpus.yaml_reader import Path
from upheld.records.adr import Adr
from upheld.records.finding import Finding
from upheld.records.types import Part, Record, Ref

if TYPE_CHECKING:
    from upheld.corpus.load import Entry


@dataclass(frozen=True, slots=True)
class Link:
    """A field of one record that names another."""

    source: str
    at: Path
    target: str
    kinds: tuple[str, ...]


def links_of(record: Record) -> list[Link]:
    """Every link that the record writes."""
    return [Link(record.id, at, str(ref), ref.kinds) for at, ref in _refs(record, ())]


def _refs(value: Any, at: Path) -> Iterator[tuple[Path, Ref]]:
    if isinstance(value, Ref):
        yield at, value
    elif isinstance(value, Part):
        for name in type(value).model_fields:
            yield from _refs(getattr(value, name), (*at, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _refs(item, (*at, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _refs(item, (*at, key))


def check_links(entries: Mapping[str, Entry], damaged: set[str]) -> Iterator[Finding]:
    """Links to nothing, to another kind, in a circle; decisions superseded by none."""
    for entry in entries.values():
        for link in links_of(entry.record):
            place = entry.document.place(link.at)
            target = entries.get(link.target)
            if target is None and link.target in damaged:
                continue
            if target is None:
                near = get_close_matches(link.target, entries, n=1, cutoff=0.6)
                yield Finding(
                    "UPH202",
                    place,
                    f"no record has the id {link.target!r}",
                    f"did you mean {near[0]!r}?" if near else "add that record, or name another",
                )
            elif link.kinds and target.kind not in link.kinds:
                yield Finding(
                    "UPH203",
                    place,
                    f"{link.target} is a record of kind {target.kind}",
                    f"name a record of kind {' or '.join(link.kinds)}",
                )
    yield from _check_supersedes(entries)


def _check_supersedes(entries: Mapping[str, Entry]) -> Iterator[Finding]:
    adrs = {id_: entry.record for id_, entry in entries.items() if isinstance(entry.record, Adr)}
    superseded = {str(target) for adr in adrs.values() for target in adr.supersedes}
    for id_, adr in adrs.items():
        place = entries[id_].document.place
        if adr.status == "superseded" and id_ not in superseded:
            yield Finding(
                "UPH205",
                place(("status",)),
                f"{id_} is superseded, but no decision says that it supersedes it",
                f"write supersedes: [{id_}] in the decision that replaces it",
            )
        circle = _circle_from(id_, adrs)
        # Said once for each circle, at the member that sorts first.
        if circle and id_ == min(circle):
            yield Finding(
                "UPH204",
                place(("supersedes",)),
                f"decisions supersede each other in a circle: {' → '.join([*circle, id_])}",
                "remove one of the links",
            )


def _circle_from(start: str, adrs: Mapping[str, Adr]) -> list[str]:
    trail: list[str] = []
    pending = [(start, 0)]
    visited: set[str] = set()
    while pending:
        here, depth = pending.pop()
        del trail[depth:]
        trail.append(here)
        for target in adrs[here].supersedes if here in adrs else ():
            if target == start:
                return trail
            if target not in visited:
                visited.add(str(target))
                pending.append((str(target), depth + 1))
    return []


def check_local_ids(entry: Entry) -> Iterator[Finding]:
    """Ids inside one record that are written twice in the same list, letter case aside."""
    for name in type(entry.record).model_fields:
        items = getattr(entry.record, name)
        if not isinstance(items, list):
            continue
        counted: Counter[str] = Counter()
        for index, item in enumerate(items):
            if not (isinstance(item, Part) and hasattr(item, "id")):
                continue
            counted[item.id.casefold()] += 1
            if counted[item.id.casefold()] == 2:
                yield Finding(
                    "UPH201",
                    entry.document.place((name, index, "id")),
                    f"{name} holds the id {item.id!r} twice",
                    "give one of them another id",
                )
