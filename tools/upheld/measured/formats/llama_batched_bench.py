"""llama-batched-bench, and sweep-bench of ik_llama.cpp: speed by prompt, output and batch.

`B` sequences have `PP` prompt tokens each, or one prompt of `PP` shared by all, and generate `TG`
tokens each; `N_KV` is what the cache then holds, or for sweep-bench what it held before. Speeds
are tokens over time: S_PP over T_PP, S_TG over T_TG, S all tokens over T, which mixes prompt and
output (llama.cpp, tools/batched-bench/batched-bench.cpp). Each row ran once.
Printed times have three digits after the point, so a speed is only held against what they allow.
A document may hold tables of llama-bench beside these; they are read as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from upheld.corpus.strict_json import Json
from upheld.measured import llama_bench, llama_bench_tables
from upheld.measured.content import Content
from upheld.measured.draft import DISAGREES, IMPOSSIBLE, UNTOUCHED
from upheld.measured.engine_log import is_text
from upheld.measured.llama_bench_tables import Around, Lines
from upheld.measured.printed_row import PrintedRow
from upheld.measured.reading import Reading, Row
from upheld.measured.tables import Table, TableRow, markdown_tables
from upheld.records.finding import Place

NAME = "llama-batched-bench"
TOOL = "llama-batched-bench"
TITLE = "llama-batched-bench or sweep-bench: tables, Markdown or a log; JSON Lines"

_BATCHED = ("PP", "TG", "B", "N_KV", "T_PP s", "S_PP t/s", "T_TG s", "S_TG t/s", "T s", "S t/s")
_SWEEP = ("PP", "TG", "N_KV", "T_PP s", "S_PP t/s", "T_TG s", "S_TG t/s")
_AS_JSON = dict(
    zip(
        ("pp", "tg", "pl", "n_kv", "t_pp", "speed_pp", "t_tg", "speed_tg", "t", "speed"),
        _BATCHED,
        strict=True,
    )
)
_COLUMNS: dict[str | int, str] = {column: key for key, column in _AS_JSON.items()}
_SETTINGS = re.compile(r"^main: n_kv_max = .{1,2000}$")
_SETTING = re.compile(r"(?P<name>\w{1,40}) = (?P<value>-?\w{1,40})")
_FLOAT = Fraction(1, 10**5)
_AXES = (
    "model", "model_revision", "engine_version", "weight_dtype", "kv_cache_dtype", "device",
    "device_count", "operating_system", "prefix_caching", "speculative_decoding",
)  # fmt: skip


def recognise(content: Content) -> bool:
    """Text with a table of either tool, or objects with the names of its columns."""
    if content.documents:
        return all(_is_result(each.value) for each in content.documents)
    return (
        is_text(content)
        and "S_PP t/s" in content.text
        and any(table.columns in (_BATCHED, _SWEEP) for table in markdown_tables(content))
    )


def _is_result(value: Json) -> bool:
    return isinstance(value, dict) and value.keys() >= _AS_JSON.keys()


def read(content: Content) -> Reading:
    """One row a line of a table, in the order of the file."""
    if content.documents:
        return Reading(tuple(_documents(content)))
    tables = tuple(markdown_tables(content))
    around = Around.of(content)
    rows = [*_tables(content, tables, around), *llama_bench_tables.rows_of(tables, around)]
    rows.sort(key=lambda row: row.place)
    ours = (each for each in tables if _is_ours(each) or llama_bench_tables.is_tests(each))
    findings = tuple(finding for table in ours for finding in table.findings)
    return Reading(tuple(rows), llama_bench.one_version(rows), findings)


def _is_ours(table: Table) -> bool:
    return table.columns in (_BATCHED, _SWEEP)


def _documents(content: Content) -> Iterator[Row]:
    for index, document in enumerate(content.documents):
        assert isinstance(document.value, dict), "recognise() saw objects"
        record = {_AS_JSON.get(key, key): value for key, value in document.value.items()}
        draft = _JsonRow(content, index, (), record)
        for key, value in document.value.items():
            if key not in _AS_JSON and isinstance(value, int | str):
                draft.stated[key] = str(value)
        yield _read_row(draft)


class _JsonRow(PrintedRow):
    """A result in JSON, by the columns' names; its numbers are those of a 32-bit float."""

    def place(self, *keys: str | int) -> Place:
        """Where the value of a column stands, under its name in JSON."""
        return super().place(*(_COLUMNS.get(key, key) for key in keys))

    def rounding_of(self, value: int | Decimal) -> Fraction:
        """What a float of seven digits leaves open."""
        return _FLOAT * Fraction(value)


def _tables(content: Content, tables: tuple[Table, ...], around: Around) -> Iterator[Row]:
    settings: Lines[str] = Lines()
    for number, line in enumerate(content.text.split("\n"), start=1):
        if _SETTINGS.match(line):
            settings.add(number, line)
    above = 0
    for table in tables:
        if _is_ours(table):
            stated = settings.between(above, table.line)[-1:]
            heading = around.headings.last_above(table.line)
            devices = around.devices.between(above, table.line)
            for cells in table.rows:
                yield _read_cells(cells, table, heading, stated, devices)
        above = table.last_line


def _read_cells(
    cells: TableRow, table: Table, heading: str | None, settings: list[str], devices: list[str]
) -> Row:
    draft = PrintedRow(cells, 0, (), cells.record(frozenset(table.columns)))
    if heading is not None:
        draft.stated["heading"] = heading
    for line in settings:
        for found in _SETTING.finditer(line):
            draft.stated[found["name"]] = found["value"]
    llama_bench.read_devices(draft, devices)
    return _read_row(draft)


def _read_row(draft: PrintedRow) -> Row:
    prompt, generated = draft.count("PP"), draft.count("TG")
    cached = draft.count("N_KV")
    sequences = draft.count("B") if "B" in draft.record else 1
    if prompt is None or generated is None or cached is None or sequences is None:
        draft.find(IMPOSSIBLE, "the row has no whole numbers of tokens and sequences", UNTOUCHED)
        return draft.finish(())
    draft.case = f"pp{prompt} tg{generated}"
    draft.case += f" b{sequences}" if "B" in draft.record else f" @ d{cached}"
    shared = "B" in draft.record and cached == prompt + sequences * generated
    prompts = prompt if shared else prompt * sequences
    _speed(draft, "throughput.prompt_tokens", "S_PP t/s", "T_PP s", prompts)
    _speed(draft, "throughput.generation_tokens", "S_TG t/s", "T_TG s", generated * sequences)
    if "T s" in draft.record:
        _speed(draft, "throughput.total_tokens", "S t/s", "T s", cached)
        draft.report("duration", "s", "T s")
        if cached not in (prompts + sequences * generated, (prompt + generated) * sequences):
            draft.find(
                DISAGREES, f"N_KV says {cached:,} tokens, but PP, TG and B give another number",
                UNTOUCHED, "N_KV",
            )  # fmt: skip
    draft.envelope |= {"engine": llama_bench.ENGINE, "concurrency": sequences}
    draft.envelope |= {"input_tokens": prompt, "output_tokens": generated}
    if shared and sequences > 1:
        draft.stated["prompt"] = "one, shared by all sequences"
    return draft.finish(tuple(axis for axis in _AXES if axis not in draft.envelope))


def _speed(draft: PrintedRow, name: str, speed: str, time: str, tokens: int) -> None:
    """The speed as it is printed, held against the tokens over the time that is printed."""
    draft.report(name, "tokens/s", speed)
    draft.samples[name] = 1
    draft.hold_rate(speed, Fraction(tokens), time, Fraction(1), Fraction(0))
