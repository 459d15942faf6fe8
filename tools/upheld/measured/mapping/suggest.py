"""A mapping proposed from the names of keys alone, tried on the file before it is shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from upheld.corpus.strict_json import Json
from upheld.measured.content import Content
from upheld.measured.mapping.csv_file import number_in
from upheld.measured.mapping.key_names import (
    Meaning,
    Unclear,
    axis_of,
    count_of,
    of_row,
    of_single_request,
)
from upheld.measured.mapping.mapped import Mapped
from upheld.measured.mapping.reading import read_mapped
from upheld.measured.mapping.source import form_of, source_of
from upheld.records.expression import MAX_LENGTH, quoted
from upheld.records.finding import Finding, Place
from upheld.records.mapping import Form, Mapping

_DEEPEST = 3
_LOOKED_AT = 100
_CASES = ("case", "tag", "name", "label", "scenario", "run_name")
_SUCCESS = ("success", "ok", "succeeded", "successful", "completed")
_ERRORS = ("error", "error_code", "error_msg", "error_message", "exception")

Keys = tuple[str, ...]


@dataclass(slots=True)
class Suggestion:
    """A mapping as plain values, what in it is a guess, and what its author must decide.

    `guesses` and `left_out` are by expression. `mapping` is None where no name says enough.
    """

    form: Form
    mapping: dict[str, Any] | None
    guesses: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)


def suggest(content: Content) -> Suggestion | None:
    """A mapping for content that no format recognises; None where it is no JSON and no CSV."""
    form = form_of(content)
    if form is None:
        return None
    empty = Mapped(form, Mapping.model_construct(), lambda path: Place(content.path))
    source = source_of(content, empty)
    if isinstance(source, Finding):
        return None
    draft = _Draft(form, source.whole, source.texts)
    draft.fill()
    return _tried(content, draft.suggestion())


class _Draft:
    def __init__(self, form: Form, whole: Json, texts: bool) -> None:
        self._form = form
        self._whole = whole
        self._texts = texts
        self._mapping: dict[str, Any] = {}
        self._guesses: dict[str, str] = {}
        self._left_out: dict[str, str] = {}

    def suggestion(self) -> Suggestion:
        return Suggestion(self._form, self._mapping, self._guesses, self._left_out)

    def fill(self) -> None:
        if isinstance(self._whole, list):
            records = _objects(self._whole)
            if _are_requests(records):
                self._samples(None, records)
                return
            if self._form == "json":
                self._mapping["rows"] = "@"
            self._row(records[0] if records else {}, prefix="")
            return
        lists = list(_lists(self._whole))
        rows = next((keys for keys, records in lists if _are_rows(records)), None)
        requests = next((keys for keys, records in lists if _are_requests(records)), None)
        if rows is not None:
            records = dict(lists)[rows]
            self._mapping["rows"] = quoted(*rows)
            self._row(records[0], prefix="")
            self._axes(self._whole, "$.")
            return
        self._row(self._whole, prefix="")
        if requests is not None:
            self._samples(requests, dict(lists)[requests])

    def _row(self, record: Json, prefix: str) -> None:
        self._axes(record, prefix)
        names = {keys[-1]: keys for keys, _ in _scalars(record)}
        case = next((names[name] for name in _CASES if name in names), None)
        if case is not None and record is not self._whole:
            self._mapping["case"] = [quoted(*case)]
        for keys, value in _scalars(record):
            if not self._is_number(value):
                continue
            at = quoted(*keys)
            count = count_of(keys[-1])
            if count is not None:
                self._mapping.setdefault("requests", {}).setdefault(count, at)
                if count == "attempted":
                    self._guesses[at] = "taken as requests that were sent"
                continue
            self._figure(at, of_row(keys), "figures")

    def _samples(self, each: Keys | None, records: list[dict[str, Json]]) -> None:
        samples: dict[str, Any] = {} if each is None else {"each": quoted(*each)}
        self._mapping["samples"] = samples
        first = records[:_LOOKED_AT]
        for keys, _ in _scalars(_merged(first)):
            at = quoted(*keys)
            self._figure(at, of_single_request(keys), "values")
        for key in _SUCCESS:
            values = {str(record[key]).lower() for record in first if key in record}
            if values and values <= {"true", "false"}:
                samples["completed"] = {key: "true"}
                break
        else:
            error = next((key for key in _ERRORS if any(key in record for record in first)), None)
            if error is not None:
                samples["failed"] = error
        samples["values"] = self._mapping.pop("values", [])

    def _figure(self, at: str, meaning: Meaning | Unclear | None, where: str) -> None:
        if isinstance(meaning, Unclear):
            self._left_out[at] = meaning.why
        elif meaning is not None and len(at) <= MAX_LENGTH:
            lines = self._mapping.setdefault(where, [])
            if any(line["metric"] == meaning.metric for line in lines):
                self._left_out[at] = f"another key is taken as {meaning.metric}"
                return
            lines.append({"metric": meaning.metric, "unit": meaning.unit, "at": at})
            if meaning.guess:
                self._guesses[at] = meaning.guess

    def _axes(self, record: Json, prefix: str) -> None:
        for keys, _ in _scalars(record):
            axis = axis_of(keys[-1])
            if axis is not None:
                envelope = self._mapping.setdefault("envelope", {})
                envelope.setdefault(axis, prefix + quoted(*keys))

    def _is_number(self, value: Json) -> bool:
        if self._texts and isinstance(value, str):
            return not value or number_in(value) is not None
        return value is None or (not isinstance(value, bool | str | list | dict))


def _objects(values: list[Json]) -> list[dict[str, Json]]:
    return [value for value in values if isinstance(value, dict)]


def _merged(records: list[dict[str, Json]]) -> dict[str, Json]:
    """Every key that some record has, with a value of it where one has any."""
    merged: dict[str, Json] = {}
    for record in records:
        for key, value in record.items():
            if merged.get(key) is None:
                merged[key] = value
    return merged


def _scalars(record: Json, keys: Keys = ()) -> Iterator[tuple[Keys, Json]]:
    """Each value below objects, with its path."""
    if not isinstance(record, dict) or len(keys) > _DEEPEST:
        return
    for key, value in record.items():
        if not _can_be_written(key):
            continue
        if isinstance(value, dict):
            yield from _scalars(value, (*keys, key))
        elif not isinstance(value, list):
            yield (*keys, key), value


def _can_be_written(key: str) -> bool:
    """Whether a record can show the key for what it is."""
    return bool(key) and key.isascii() and key.isprintable()


def _lists(value: Json, keys: Keys = ()) -> Iterator[tuple[Keys, list[dict[str, Json]]]]:
    """The lists of objects below objects."""
    if not isinstance(value, dict) or len(keys) > _DEEPEST:
        return
    for key, each in value.items():
        if not _can_be_written(key):
            continue
        if isinstance(each, list) and each and len(_objects(each)) == len(each):
            yield (*keys, key), _objects(each)
        elif isinstance(each, dict):
            yield from _lists(each, (*keys, key))


def _are_requests(records: list[dict[str, Json]]) -> bool:
    """Several records with a time or tokens of one request each, and no statistics."""
    merged = _merged(records[:_LOOKED_AT])
    meanings = [of_single_request(keys) for keys, _ in _scalars(merged)]
    times = [each for each in meanings if each is not None]
    return len(records) > 1 and bool(times) and not _are_rows(records)


def _are_rows(records: list[dict[str, Json]]) -> bool:
    """Records with a statistic of many values, or with a count of requests."""
    scalars = list(_scalars(_merged(records[:_LOOKED_AT])))
    meanings = [of_row(keys) for keys, _ in scalars]
    statistics = any(
        isinstance(each, Meaning) and each.metric.startswith("latency.") for each in meanings
    )
    return statistics or any(count_of(keys[-1]) for keys, _ in scalars)


def _tried(content: Content, suggestion: Suggestion) -> Suggestion:
    """The same without the parts that find otherwise in the file."""
    mapping = suggestion.mapping
    while mapping is not None:
        try:
            model = Mapping.model_validate(mapping)
        except ValidationError:
            mapping = None
            break
        mapped = Mapped(suggestion.form, model, lambda path: Place("/".join(map(str, path))))
        reading = read_mapped(content, mapped)
        found = [*reading.findings, *(each for row in reading.rows for each in row.findings)]
        bad = [each for each in found if each.severity == "error"]
        if not bad:
            break
        if not _take_out(suggestion, mapping, bad[0]):
            mapping = None
    suggestion.mapping = mapping
    return suggestion


def _take_out(suggestion: Suggestion, mapping: dict[str, Any], finding: Finding) -> bool:
    """Remove the part that a finding is about; whether there was one."""
    holder: Any = mapping
    *path, last = finding.place.path.split("/")
    if last == "at":
        last = path.pop()
    for part in path:
        holder = holder[int(part)] if isinstance(holder, list) else holder.get(part)
        if holder is None:
            return False
    if isinstance(holder, list):
        removed = holder.pop(int(last))
    elif last in holder:
        removed = holder.pop(last)
    else:
        return False
    at = removed["at"] if isinstance(removed, dict) and "at" in removed else last
    suggestion.left_out[str(at)] = finding.message
    return True
