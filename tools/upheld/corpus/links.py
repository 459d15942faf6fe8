"""Links between records: which there are, and what is wrong with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from upheld.corpus.entry import Entry
from upheld.corpus.yaml_reader import Path
from upheld.records.adr import Adr
from upheld.records.finding import Finding
from upheld.records.shorten import shorten
from upheld.records.types import Part, Record, Ref

# With ids, to suggest one for a link that leads nowhere: a second's worth.
MAX_COMPARISONS = 100_000


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
    nearest = _Nearest(entries)
    for entry in entries.values():
        for link in links_of(entry.record):
            place = entry.document.place(link.at)
            target = entries.get(link.target)
            if target is None and link.target in damaged:
                continue
            if target is None:
                near = nearest.to(link.target)
                yield Finding(
                    "UPH202",
                    place,
                    f"no record has the id {link.target!r}",
                    f"did you mean {near!r}?" if near else "add that record, or name another",
                )
            elif link.kinds and target.kind not in link.kinds:
                yield Finding(
                    "UPH203",
                    place,
                    f"{link.target} is a record of kind {target.kind}",
                    f"name a record of kind {' or '.join(link.kinds)}",
                )
    yield from _check_supersedes(entries)


class _Nearest:
    """The id that a misspelt one was meant to be; no more is looked for once that gets costly."""

    def __init__(self, ids: Mapping[str, Any]) -> None:
        self._ids = ids
        self._found: dict[str, str | None] = {}
        self._comparisons_left = MAX_COMPARISONS

    def to(self, id_: str) -> str | None:
        if id_ not in self._found and self._comparisons_left > 0:
            self._comparisons_left -= len(self._ids)
            self._found[id_] = next(iter(get_close_matches(id_, self._ids, n=1)), None)
        return self._found.get(id_)


def _check_supersedes(entries: Mapping[str, Entry]) -> Iterator[Finding]:
    adrs = {id_: entry.record for id_, entry in entries.items() if isinstance(entry.record, Adr)}
    # A decision that was not taken, or not yet, replaces nothing.
    superseded = {
        str(target)
        for adr in adrs.values()
        if adr.status not in ("rejected", "proposed")
        for target in adr.supersedes
    }
    for id_, adr in adrs.items():
        place = entries[id_].document.place
        if adr.status == "superseded" and id_ not in superseded:
            yield Finding(
                "UPH205",
                place(("status",)),
                f"{id_} is superseded, but no decision that was taken supersedes it",
                f"write supersedes: [{id_}] in the decision that replaces it",
            )
    for circle in _circles(adrs):
        yield Finding(
            "UPH204",
            entries[circle[0]].document.place(("supersedes",)),
            "decisions supersede each other in a circle: "
            + shorten(" → ".join([*circle, circle[0]]), 300),
            "remove one of the links",
        )


def _circles(adrs: Mapping[str, Adr]) -> Iterator[list[str]]:
    """Circles, each with its first id in front; no decision is told of in more than one.

    Each link is followed once, so a long chain of decisions costs no more than its length.
    """
    done: set[str] = set()
    told: set[str] = set()
    for start in sorted(adrs):
        trail = {} if start in done else {start: iter(adrs[start].supersedes)}
        while trail:
            last = next(reversed(trail))
            target = next(trail[last], None)
            if target is None:
                done.add(last)
                trail.popitem()
            elif target in trail and last not in told:
                members = list(trail)
                circle = members[members.index(target) :]
                if told.isdisjoint(circle):
                    told.update(circle)
                    first = circle.index(min(circle))
                    yield circle[first:] + circle[:first]
            elif target in adrs and target not in trail and target not in done:
                trail[str(target)] = iter(adrs[target].supersedes)


def check_local_ids(entry: Entry) -> Iterator[Finding]:
    """Ids inside one record that are written twice in the same list, letter case aside."""
    for at, items in _lists(entry.record, ()):
        counted: Counter[str] = Counter()
        for index, item in enumerate(items):
            if not (isinstance(item, Part) and hasattr(item, "id")):
                continue
            counted[item.id.casefold()] += 1
            if counted[item.id.casefold()] == 2:
                yield Finding(
                    "UPH201",
                    entry.document.place((*at, index, "id")),
                    f"{'.'.join(map(str, at))} holds the id {item.id!r} twice",
                    "give one of them another id",
                )


def _lists(part: Part, at: Path) -> Iterator[tuple[Path, list[Any]]]:
    for name in type(part).model_fields:
        value = getattr(part, name)
        if isinstance(value, list):
            yield (*at, name), value
        elif isinstance(value, Part):
            yield from _lists(value, (*at, name))
