"""The one query that reads a large file: each record's state and values, as integers."""

from __future__ import annotations

from upheld.corpus.strict_json import Json
from upheld.measured.mapping.csv_file import delimiter_of, number_in
from upheld.measured.mapping.source import Source
from upheld.records.mapping import Form, Mapping

# As csv_file reads it. What stands in JSON is a number or can't be cast to one.
_CELL = r"[-+]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?([eE][-+]?\d{1,3})?"
_NO_VALUE = ("", "null", '""', "[]", "NaN", "Infinity", "-Infinity")
_NO_ERROR = ("", "null", "false", "False", "0", "0.0", "[]", "{}")
_LARGEST_RECORD = 16 * 1024 * 1024


class ScanQuery:
    """Builds the query for a mapping whose records are single requests.

    Nothing of a record or file reaches it but as a quoted text.
    """

    def __init__(self, form: Form, mapping: Mapping, head: Source) -> None:
        assert mapping.samples is not None, "the records are single requests"
        assert isinstance(head.whole, list), "records are a list"
        self._form = form
        self._mapping = mapping
        self._samples = mapping.samples
        self._delimiter = delimiter_of(head.content.text.partition("\n")[0])
        records: list[Json] = head.whole
        found = (key for record in records if isinstance(record, dict) for key in record)
        self.keys = tuple(dict.fromkeys(found))
        self._wanted = list(dict.fromkeys(self._paths()))

    def _paths(self) -> list[tuple[str, ...]]:
        samples = self._samples
        told = [*self._mapping.where, *samples.completed]
        if samples.failed is not None:
            told.append(samples.failed)
        return [(key,) for key in told] + [value.at.keys or () for value in samples.values]

    def scan(self, file: str, decimals: int) -> str:
        """Reads `file` into the table `requests`: kept, done, and x and odd of each value."""
        kept = [self._is(key, value) for key, value in self._mapping.where.items()]
        done = [self._is(key, value) for key, value in self._samples.completed.items()]
        if self._samples.failed is not None:
            failed = self._plain((self._samples.failed,))
            done.append(f"({failed} IS NULL OR {failed} IN ({_texts(_NO_ERROR)}))")
        texts = [f"{_all(kept)} AS kept", f"{_all([*kept, *done])} AS done"]
        integers = ["kept", "done"]
        values = ["kept", "done"]
        for index, value in enumerate(self._samples.values):
            texts.append(f"{self._field(value.at.keys or ())} AS t{index}")
            integers += [f"t{index}", f"{self._integer(f't{index}', decimals)} AS i{index}"]
            x = f"CASE WHEN i{index} >= 0 THEN i{index} END"
            nothing = f"t{index} IS NULL OR t{index} IN ({_texts(_NO_VALUE)})"
            odd = f"CASE WHEN NOT ({nothing}) AND {x} IS NULL THEN left(t{index}, 60) END"
            values += [f"{x} AS x{index}", f"{odd} AS odd{index}"]
        return (
            f"CREATE TEMP TABLE requests AS SELECT {', '.join(values)} FROM "
            f"(SELECT {', '.join(integers)} FROM "
            f"(SELECT {', '.join(texts)} FROM ({self._read(file)})))"
        )

    def _integer(self, text: str, decimals: int) -> str:
        """The number that a text is, times 10 to the `decimals`; NULL where it is none.

        Plain digits are cast and scaled as integers; what is left, such as 5.2e-05, goes by way of
        a decimal, which takes five times as long.
        """
        plain = f"replace({text}, ',', '')" if self._form == "csv" else text
        point = f"strpos({plain}, '.')"
        before = f"CASE {point} WHEN 0 THEN length({plain}) ELSE {point} - 1 END"
        behind = f"CASE {point} WHEN 0 THEN 0 ELSE length({plain}) - {point} END"
        powers = ", ".join(f"{10**power}::HUGEINT" for power in range(decimals, -1, -1))
        digits = f"TRY_CAST(replace({plain}, '.', '') AS HUGEINT) * ([{powers}])[{behind} + 1]"
        exact = f"CAST(TRY_CAST({plain} AS DECIMAL(38, {decimals})) AS VARCHAR)"
        number = (
            f"CASE WHEN {before} < {39 - decimals} AND {behind} <= {decimals} "
            f"AND {plain} NOT LIKE '%e%' AND {plain} NOT LIKE '%E%' THEN {digits} "
            f"ELSE TRY_CAST(replace({exact}, '.', '') AS HUGEINT) END"
        )
        if self._form != "csv":
            return number
        return f"CASE WHEN regexp_full_match({text}, {_text(_CELL)}) THEN {number} END"

    def _read(self, file: str) -> str:
        if self._form == "csv":
            columns = ", ".join(f"{_text(f'c{at}')}: 'VARCHAR'" for at in range(len(self.keys)))
            return (
                f"SELECT * FROM read_csv({_text(file)}, columns = {{{columns}}}, header = true, "
                f"auto_detect = false, delim = {_text(self._delimiter)}, quote = '\"', "
                "escape = '\"', strict_mode = true, null_padding = false, compression = 'none')"
            )
        layout = "array" if self._form == "json" else "newline_delimited"
        pointers = ", ".join(_text(_pointer(path)) for path in self._wanted)
        return (
            f"SELECT json_extract(json, [{pointers}]) AS f FROM read_json_objects({_text(file)}, "
            f"format = '{layout}', compression = 'none', "
            f"maximum_object_size = {_LARGEST_RECORD})"
        )

    def _field(self, keys: tuple[str, ...]) -> str:
        """The text of a value as it stands in the file: a JSON string with its quotes."""
        if self._form == "csv":
            # A column that the file does not have is told of like one that is empty.
            there = keys[0] in self.keys
            return f"trim(c{self.keys.index(keys[0])})" if there else "NULL::VARCHAR"
        return f"CAST(f[{self._wanted.index(keys) + 1}] AS VARCHAR)"

    def _plain(self, keys: tuple[str, ...]) -> str:
        """The same without the quotes of a JSON string."""
        if self._form == "csv":
            return self._field(keys)
        return f"(f[{self._wanted.index(keys) + 1}] ->> '$')"

    def _is(self, key: str, wanted: str) -> str:
        plain = self._plain((key,))
        alike = f"{plain} = {_text(wanted)}"
        number = number_in(wanted)
        if number is not None:
            alike += (
                f" OR TRY_CAST({plain} AS DECIMAL(38, 10)) = {_text(str(number))}::DECIMAL(38, 10)"
            )
        return f"coalesce({alike}, false)"


def _all(conditions: list[str]) -> str:
    return "(" + (" AND ".join(conditions) or "true") + ")"


def _pointer(keys: tuple[str, ...]) -> str:
    return "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in keys)


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _texts(values: tuple[str, ...]) -> str:
    return ", ".join(map(_text, values))
