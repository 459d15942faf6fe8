"""A file of no known format to rows, by the mapping that its run record states."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from upheld.corpus.strict_json import Json
from upheld.measured.content import Content
from upheld.measured.mapping.mapped import Mapped, NotFound, Path, Problems, keys_help, not_found
from upheld.measured.mapping.requests import SingleRequests, single_requests
from upheld.measured.mapping.row import Found, read_row
from upheld.measured.mapping.source import Source, source_of
from upheld.measured.mapping.taking import Otherwise, name, same
from upheld.measured.reading import Reading, Row
from upheld.records.expression import Expression, ExpressionError
from upheld.records.finding import Finding
from upheld.records.mapping import Samples

MAX_ROWS = 10_000


def read_mapped(content: Content, mapped: Mapped) -> Reading:
    """What the mapping finds in the content. Never raises: what it does not find is a finding.

    Findings stand in the run record, where the mapping is written; damage stands in the file.
    """
    source = source_of(content, mapped)
    if isinstance(source, Finding):
        return Reading((), findings=(source,))
    return _Reader(source, mapped).read()


class _Reader:
    def __init__(self, source: Source, mapped: Mapped) -> None:
        self._source = source
        self._mapped = mapped
        self._mapping = mapped.mapping
        self._problems = Problems(mapped)
        self._stated: dict[str, str] = {}

    def read(self) -> Reading:
        try:
            values = self._rows()
            rows = tuple(
                self._row(value, index, len(values) > 1) for index, value in enumerate(values)
            )
        except NotFound as error:
            return Reading((), findings=(error.finding,))
        return Reading(rows, findings=tuple(self._problems.findings(len(rows))))

    def _rows(self) -> list[Json]:
        mapping = self._mapping
        if mapping.rows is not None:
            found = self._find(("rows",), mapping.rows, self._source.whole)
            values: list[Json] = found if isinstance(found, list) else [found]
        elif self._mapped.form == "json" or mapping.lines_are_requests:
            values = [self._source.whole]
        else:
            assert isinstance(self._source.whole, list), "lines are a list"
            values = self._source.whole
        if not values:
            raise not_found(
                self._mapped, ("rows",), "the file holds no record", "run the benchmark again"
            )
        if mapping.where and not mapping.lines_are_requests:
            values = self._kept(values)
        if len(values) > MAX_ROWS:
            raise not_found(
                self._mapped,
                ("rows",),
                f"it finds {len(values):,} rows; at most {MAX_ROWS:,} are read",
                "records of single requests go to samples",
            )
        return values

    def _find(self, path: Path, at: Expression, value: Json) -> Json:
        try:
            found: Json = at.find(self._source.whole if at.of_file else value)
        except ExpressionError as error:
            raise not_found(
                self._mapped, path, f"{'.'.join(map(str, path))}: {error}", "compare what is alike"
            ) from None
        if found is None or found == []:
            keys = list(value) if isinstance(value, dict) else []
            raise not_found(
                self._mapped,
                path,
                f"{'.'.join(map(str, path))}: {at} finds nothing",
                keys_help(at.keys[-1] if at.keys else None, keys),
            )
        return found

    def _kept(self, values: Sequence[Json]) -> list[Json]:
        """The records with the values of `where`."""
        where = self._mapping.where
        records = [value for value in values if isinstance(value, dict)]
        kept: list[Json] = [
            record
            for record in records
            if all(same(record.get(key), wanted) for key, wanted in where.items())
        ]
        keys = tuple(dict.fromkeys(key for record in records for key in record))
        self._stated.update(told_kept(self._mapped, len(kept), len(records), keys))
        return kept

    def _row(self, value: Json, index: int, several: bool) -> Row:
        found = Found(
            value=value,
            whole=self._source.whole,
            texts=self._source.texts,
            place=self._source.place(value),
            case=self._case(value, index, several),
            several=several,
            stated=self._stated,
        )
        samples = self._mapping.samples
        single = None if samples is None else self._single(samples, value)
        return read_row(self._mapped, found, single, self._problems)

    def _case(self, value: Json, index: int, several: bool) -> str | None:
        """How the row is called: by what the file has for it, else by its number."""
        names: list[str] = []
        for at in self._mapping.case:
            with suppress(Otherwise, ExpressionError):
                names.append(name(at.find(self._source.whole if at.of_file else value)))
        if not names and not several:
            return None
        return " ".join(names) or f"row {index + 1}"

    def _single(self, samples: Samples, value: Json) -> SingleRequests:
        path: Path = ("samples",)
        found = value
        if samples.each is not None:
            path = ("samples", "each")
            found = self._find(path, samples.each, value)
        if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
            raise not_found(
                self._mapped,
                path,
                "samples: the records of single requests are no list of objects",
                "write under each where that list stands",
            )
        if self._mapping.lines_are_requests and self._mapping.where:
            found = self._kept(found)
        records = [each for each in found if isinstance(each, dict)]
        single = single_requests(samples, records, self._source.texts)
        refuse_unknown_keys(self._mapped, single)
        return single


def told_kept(mapped: Mapped, kept: int, of: int, keys: Sequence[str]) -> dict[str, str]:
    """How many records `where` keeps, to be shown; `keys` are those that some record has.

    Raises:
        NotFound: no record has a key of it, or none has these values.
    """
    where = mapped.mapping.where
    for key in where:
        if key not in keys:
            message = f"where: no record has the key {key}"
            raise not_found(mapped, ("where", key), message, keys_help(key, list(keys)))
    wanted = " and ".join(f"{key} is {value}" for key, value in where.items())
    if not kept:
        raise not_found(
            mapped,
            ("where",),
            f"where: of {of:,} records there is none whose {wanted}",
            "write the values as the file has them",
        )
    return {"records": f"{kept:,} of {of:,}, where {wanted}"}


def refuse_unknown_keys(mapped: Mapped, single: SingleRequests) -> None:
    """Keys that tell which requests completed must be there, or all would seem to.

    Raises:
        NotFound: no record has one of them.
    """
    samples = mapped.mapping.samples
    assert samples is not None, "there are single requests"
    told: list[tuple[Path, str]] = [
        (("samples", "completed", key), key) for key in samples.completed
    ]
    if samples.failed is not None:
        told.append((("samples", "failed"), samples.failed))
    for path, key in told:
        if key not in single.keys:
            raise not_found(
                mapped,
                path,
                f"{'.'.join(map(str, path[:2]))}: no record has the key {key}",
                keys_help(key, list(single.keys)),
            )
