"""Names of models, devices and engines: which spellings mean the same thing."""

from __future__ import annotations

from upheld.corpus.load import Corpus
from upheld.corpus.yaml_reader import Path
from upheld.records.device import Device
from upheld.records.finding import Finding
from upheld.records.known_names import known_name
from upheld.records.model import Model


class Names:
    """Spellings by axis: the id, title and aliases of one record are one name.

    So are all that records/known_names.py joins with one of them, or with each other.
    """

    def __init__(self, corpus: Corpus) -> None:
        self._ids: dict[tuple[str, str], str] = {}
        # Ids of the records with a name in a known group; of several none stands for it.
        self._known: dict[tuple[str, str], set[str]] = {}
        self.findings: list[Finding] = []
        for model in corpus.of(Model):
            self._add("model", model, corpus)
        for device in corpus.of(Device):
            self._add("device", device, corpus)

    def _add(self, axis: str, record: Model | Device, corpus: Corpus) -> None:
        places: list[tuple[str, Path]] = [(record.id, ("id",)), (record.title, ("title",))]
        places += [(alias, ("aliases", index)) for index, alias in enumerate(record.aliases)]
        for name, at in places:
            taken = self._ids.setdefault((axis, _fold(name)), record.id)
            if (known := known_name(axis, name)) is not None:
                self._known.setdefault((axis, known), set()).add(record.id)
            if taken != record.id:
                self.findings.append(
                    Finding(
                        "UPH206",
                        corpus.entries[record.id].document.place(at),
                        f"the {axis} {taken} has the name {name!r} already",
                        "give the name to one of the two: evidence is matched by it",
                    )
                )

    def normal(self, axis: str, name: str) -> str:
        """The one spelling for a name on an axis; an unknown name stays itself, case aside."""
        folded = _fold(name)
        if (axis, folded) in self._ids:
            return self._ids[axis, folded]
        known = known_name(axis, name)
        if known is None:
            return folded
        records = self._known.get((axis, known), {known})
        return folded if len(records) > 1 else next(iter(records))


def _fold(name: str) -> str:
    return " ".join(name.casefold().split())
