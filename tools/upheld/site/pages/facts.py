"""Facts of a model or a device, each with the record that it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from upheld.records.device import Device
from upheld.records.model import Model
from upheld.site.pages.record import Fact
from upheld.site.pages.view import plain

_NOT_FACTS = frozenset({"kind", "id", "title", "aliases", "origin", "origins", "notes"})


def facts_of(record: Model | Device, names: Iterable[str]) -> Iterator[Fact]:
    """The facts that the record states, in the order of its fields."""
    for name in names:
        value = getattr(record, name)
        if name not in _NOT_FACTS and value is not None:
            origin = record.origins.get(name, record.origin)
            yield Fact(name, plain(value), str(origin))
