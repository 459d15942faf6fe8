"""A file read through DuckDB gives what the same file gives when it is held in memory."""

from __future__ import annotations

import csv
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mapped_files import read_open, said, values
from upheld.corpus.files import FileError
from upheld.measured.mapping import large
from upheld.measured.reading import FileReading

MAPPING = """
where: {regime: short}
samples:
  completed: {ok: true}
  failed: error
  values:
    - {metric: latency.e2e, unit: s, at: latency}
    - {metric: latency.ttft, unit: ms, at: OF_TTFT}
    - {metric: tokens.output.total, unit: tokens, at: tokens}
"""
NESTED = MAPPING.replace("OF_TTFT", 'times."ttft (ms)"')
FLAT = MAPPING.replace("OF_TTFT", "'\"ttft (ms)\"'")


def records(count: int = 500) -> list[dict[str, Any]]:
    chance = random.Random(3)
    return [
        {
            "regime": chance.choice(["short", "short", "long"]),
            "ok": chance.random() > 0.05,
            "error": chance.choice([None, None, None, "", "timed out"]),
            "latency": chance.choice([chance.expovariate(1), 3, 5.2e-05, at]),
            "times": {"ttft (ms)": chance.lognormvariate(3, 1)},
            "tokens": chance.randint(1, 10**9),
        }
        for at in range(count)
    ]


def as_jsonl(rows: list[dict[str, Any]], file: Path) -> tuple[str, str, Path]:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return "jsonl", NESTED, file


def as_array(rows: list[dict[str, Any]], file: Path) -> tuple[str, str, Path]:
    file.write_text(json.dumps(rows, indent=1), "utf-8")
    return "json", NESTED, file


def as_csv(rows: list[dict[str, Any]], file: Path) -> tuple[str, str, Path]:
    flat = [{**row, **row["times"], "ok": str(row["ok"]).lower()} for row in rows]
    flat[0]["latency"] = "1,234.5"
    for row in flat:
        del row["times"]
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(flat[0]), delimiter=";")
        writer.writeheader()
        writer.writerows(flat)
    return "csv", FLAT, file


WAYS = [as_jsonl, as_array, as_csv]


@pytest.fixture
def small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "LARGE_FROM", 0)


def both(
    form: str, mapping: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[FileReading, FileReading]:
    exact = read_open(form, mapping, file)
    monkeypatch.setattr(large, "LARGE_FROM", 0)
    return exact, read_open(form, mapping, file)


def without_place(reading: FileReading) -> FileReading:
    """A large file has no place of its first record, only the file's."""
    return replace(
        reading,
        rows=tuple(
            replace(row, place=None, findings=[each.message for each in row.findings])  # type: ignore[arg-type]
            for row in reading.rows
        ),
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("held_at_once", [0, 10**6])
def test_the_same_file_both_ways_is_the_same_to_the_last_digit(
    way: Any, held_at_once: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large, "_HELD_AT_ONCE", held_at_once)
    exact, through_duckdb = both(*way(records(), tmp_path / "own"), monkeypatch)
    assert len(values(exact)) == 19
    assert without_place(through_duckdb) == without_place(exact)
    assert through_duckdb.rows[0].figures == exact.rows[0].figures
    assert exact.rows[0].stated["records"].endswith("of 500, where regime is short")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("odd", ["soon", -1.5, None, 1e20])
def test_what_is_no_value_is_told_alike(
    way: Any, odd: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = records(40)
    rows[7] |= {"latency": odd, "ok": True, "error": None, "regime": "short"}
    exact, through_duckdb = both(*way(rows, tmp_path / "own"), monkeypatch)
    if odd == 1e20:  # beyond what is kept; no latency is as long
        assert "finds 1" in said(through_duckdb)[0]
        assert "latency.e2e.mean" not in values(through_duckdb)
        return
    assert values(through_duckdb) == values(exact)
    (told,) = said(through_duckdb)
    (wanted,) = said(exact)
    assert told.split(" finds ")[0] == wanted.split(" finds ")[0]
    assert told.endswith(wanted[wanted.index(" in 1 of ") :])


@pytest.mark.parametrize(
    ("old", "new", "finds"),
    [
        ("regime: short", "regimen: short", "where: no record has the key regimen"),
        ("regime: short", "regime: quick", "there is none whose regime is quick"),
        ("failed: error", "failed: eror", "samples.failed: no record has the key eror"),
        ("at: latency", "at: latencies", "samples: latencies finds nothing in any of"),
        ("at: latency", "at: 'latency || tokens'", "does more than name a key"),
        ("where:", "case: [regime]\nwhere:", "samples and where alone are read"),
        ("where:", "requests: {failed: error}\nwhere:", "samples and where alone are read"),
        ("where:", "envelope: {model: a}\nwhere:", "samples and where alone are read"),
    ],
)
@pytest.mark.usefixtures("small_is_large")
def test_a_mapping_that_does_not_fit_is_told(
    old: str, new: str, finds: str, tmp_path: Path
) -> None:
    form, mapping, file = as_jsonl(records(40), tmp_path / "own")
    (finding,) = said(read_open(form, mapping.replace(old, new, 1), file))
    assert finding.startswith("UPH522")
    assert finds in finding


@pytest.mark.usefixtures("small_is_large")
@pytest.mark.parametrize("way", WAYS)
def test_a_file_damaged_in_its_midst_gives_a_finding_and_no_number(
    way: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("upheld.measured.mapping.head.HEAD_BYTES", 600)
    form, mapping, file = way(records(40), tmp_path / "own")
    data = file.read_bytes()
    damage = b";;;\n" if form == "csv" else b"}{"
    file.write_bytes(data[: len(data) // 2] + damage + data[len(data) // 2 :])
    reading = read_open(form, mapping, file)
    assert reading.rows == ()
    (finding,) = reading.findings
    assert finding.rule == "UPH503"
    assert finding.message.startswith("the row is no CSV" if form == "csv" else "not JSON: ")
    assert (finding.place.line > 1) == (form == "csv")


@pytest.mark.usefixtures("small_is_large")
def test_a_large_file_of_a_known_format_is_not_read_by_a_mapping(tmp_path: Path) -> None:
    fixture = Path(__file__).parents[2] / "corpora/benchmarks/vllm-serve-appended.json"
    runs = fixture.read_text("utf-8").replace("\n", " ").replace("} {", "}\n{")
    file = tmp_path / "own"
    file.write_text(runs + "\n", "utf-8")
    reading = read_open("jsonl", NESTED, file)
    assert (reading.format, reading.rows) == ("vllm-bench-serve", ())


@pytest.mark.usefixtures("small_is_large")
def test_records_too_long_to_be_recognised_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("upheld.measured.mapping.head.HEAD_BYTES", 50)
    (finding,) = said(read_open(*as_array(records(40), tmp_path / "own")))
    assert "the file has no record in its first" in finding


@pytest.mark.usefixtures("small_is_large")
def test_without_duckdb_it_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large, "find_spec", lambda name: None)
    with pytest.raises(FileError, match="through DuckDB, which is not installed") as refused:
        read_open(*as_jsonl(records(40), tmp_path / "own"))
    assert refused.value.help == "install it: pip install 'upheld[large]'"


@pytest.mark.usefixtures("small_is_large")
def test_names_of_keys_are_text_and_never_a_query(tmp_path: Path) -> None:
    key = "a'); DROP TABLE requests; --\\"
    file = tmp_path / "own"
    file.write_text("".join(json.dumps({key: at, "it's": 1}) + "\n" for at in range(5)), "utf-8")
    at = json.dumps(key).replace("'", "''")
    mapping = f"""
where: {{"it's": 1}}
samples:
  values:
    - {{metric: latency.e2e, unit: s, at: '{at}'}}
"""
    assert values(read_open("jsonl", mapping, file))["latency.e2e.mean"][0] == 2


def test_below_the_size_nothing_is_imported_for_it(tmp_path: Path) -> None:
    form, mapping, file = as_jsonl(records(5), tmp_path / "own")
    assert file.stat().st_size < large.LARGE_FROM
    assert read_open(form, mapping, file).rows
