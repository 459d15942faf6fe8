"""Names of models, devices and engines: which spellings mean the same thing."""

from __future__ import annotations

from upheld.corpus.load import Corpus
from upheld.records.device import Device
from upheld.records.model import Model


class Names:
    """Spellings by axis: the id, title and aliases of one record are one name."""

    def __init__(self, corpus: Corpus) -> None:
        self._ids: dict[tuple[str, str], str] = {}
        for model in corpus.of(Model):
            self._add("model", model.id, model.title, model.aliases)
        for device in corpus.of(Device):
            self._add("device", device.id, device.title, device.aliases)

    def _add(self, axis: str, id_: str, title: str, aliases: list[str]) -> None:
        for name in (id_, title, *aliases):
            self._ids.setdefault((axis, _fold(name)), id_)

    def normal(self, axis: str, name: str) -> str:
        """The one spelling for a name on an axis; an unknown name stays itself, case aside."""
        folded = _fold(name)
        return self._ids.get((axis, folded), folded)


def _fold(name: str) -> str:
    return " ".join(name.casefold().split())
