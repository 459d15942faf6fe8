"""The records of a file that a mapping reads, and where each of them stands in it."""

from __future__ import annotations

from dataclasses import dataclass, field

from upheld.corpus.strict_json import Json, Keys
from upheld.measured.content import NOT_READABLE, Content
from upheld.measured.mapping.csv_file import TableRefusedError, parse_table
from upheld.measured.mapping.mapped import Mapped
from upheld.records.finding import Finding, Place
from upheld.records.mapping import Form

OTHER_FORMAT = "UPH508"


@dataclass(slots=True)
class Source:
    """`whole` is what `$` means: the value of a JSON file, or the list of all records.

    `texts`: numbers are written as text, as in CSV.
    """

    content: Content
    whole: Json
    texts: bool
    _lines: tuple[int, ...] = ()
    _places: dict[int, Place] = field(default_factory=dict)

    def place(self, value: Json) -> Place:
        """Where an object of the file, found in it and not made, stands."""
        if not self._places:
            self._find_places()
        return self._places.get(id(value), Place(self.content.path))

    def _find_places(self) -> None:
        if self._lines and isinstance(self.whole, list):
            for record, line in zip(self.whole, self._lines, strict=True):
                self._places[id(record)] = Place(self.content.path, line)
            return
        pending: list[tuple[Json, int, Keys]] = [
            (document.value, index, ()) for index, document in enumerate(self.content.documents)
        ]
        while pending:
            value, index, keys = pending.pop()
            if isinstance(value, dict):
                pending += [(each, index, (*keys, key)) for key, each in value.items()]
            elif isinstance(value, list):
                pending += [(each, index, (*keys, at)) for at, each in enumerate(value)]
            else:
                continue
            self._places[id(value)] = self.content.place(index, keys)


def form_of(content: Content) -> Form | None:
    """Which of the three forms the content has, None where it is none of them."""
    if content.documents:
        return "json" if len(content.documents) == 1 else "jsonl"
    first, _, rest = content.text.partition("\n")
    return "csv" if rest.strip() and any(each in first for each in ",;\t") else None


def source_of(content: Content, mapped: Mapped) -> Source | Finding:
    """The records of a file of the form that is mapped, or why there are none."""
    form = mapped.form
    if form == "csv":
        return _csv(content, mapped)
    documents = content.documents
    if not documents or (form == "json" and len(documents) > 1):
        has = f"holds {len(documents):,} JSON values, one a line" if documents else "is no JSON"
        actual = form_of(content)
        help_text = f"write format: {actual}" if actual else "name the file that the script wrote"
        return Finding(
            OTHER_FORMAT, mapped.place(()), f"{content.path} {has}, not {form}", help_text
        )
    if form == "json":
        return Source(content, documents[0].value, texts=False)
    return Source(content, [each.value for each in documents], texts=False)


def _csv(content: Content, mapped: Mapped) -> Source | Finding:
    if content.documents:
        return Finding(
            OTHER_FORMAT,
            mapped.place(()),
            f"{content.path} is JSON, not csv",
            f"write format: {form_of(content)}",
        )
    try:
        table = parse_table(content.text)
    except TableRefusedError as refused:
        place = Place(content.path, refused.line)
        return Finding(NOT_READABLE, place, refused.message, refused.help)
    records: list[Json] = [dict[str, Json](record) for record in table.records]
    return Source(content, records, texts=True, _lines=table.lines)
