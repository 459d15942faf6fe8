from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from upheld.measured.read import read_file
from upheld.measured.reading import FileReading

BENCHMARKS = Path(__file__).parents[2] / "corpora" / "benchmarks"

Read = Callable[[str], FileReading]


def rules(reading: FileReading, severity: str = "error") -> list[str]:
    return [each.rule for each in reading.all_findings if each.severity == severity]


def responses() -> list[dict[str, object]]:
    text = (BENCHMARKS / "ollama.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def as_lines(edited: list[dict[str, object]]) -> bytes:
    return "".join(json.dumps(each) + "\n" for each in edited).encode()


def test_a_row_a_model_and_csv_says_what_json_says(read: Read) -> None:
    of_csv, of_json = read("ollama.csv"), read("ollama.jsonl")
    assert (of_csv.format, of_json.format) == ("ollama", "ollama")
    assert [row.case for row in of_csv.rows] == ["example:8b-q4_K_M", "example:1b-q8_0"]
    for ours, theirs in zip(of_csv.rows, of_json.rows, strict=True):
        assert ours.figures == theirs.figures
        assert ours.envelope == theirs.envelope
        assert ours.requests is not None
        assert (ours.requests.completed, ours.requests.failed) == (12, None)


def test_rates_are_all_tokens_over_all_time(read: Read) -> None:
    row = read("ollama.csv").rows[0]
    generated = row.figure("throughput.generation_tokens")
    prompt = row.figure("throughput.prompt_tokens")
    assert generated is not None
    assert prompt is not None
    assert (generated.value, generated.origin) == (Fraction(125, 2), "recomputed")
    assert prompt.value == 800
    longest = row.figure("latency.load.max")
    assert longest is not None
    assert (longest.value, longest.unit) == (Fraction("1.9"), "s")
    assert row.stated["cold"] == "1 of 12 responses waited for the model to load"


@pytest.mark.parametrize(("more", "severity"), [(2_100_000, "warning"), (9 * 10**9, "error")])
def test_parts_longer_than_the_whole_are_found(more: int, severity: str) -> None:
    edited = responses()
    edited[3]["eval_duration"] = int(str(edited[3]["eval_duration"])) + more
    reading = read_file("a.jsonl", as_lines(edited))
    (finding,) = [each for each in reading.all_findings if each.rule == "UPH507"]
    assert (finding.severity, finding.place.line) == (severity, 4)


def test_a_number_that_is_none_is_found_where_it_stands() -> None:
    text = (BENCHMARKS / "ollama.csv").read_text(encoding="utf-8")
    lines = text.splitlines()
    cells = lines[2].split(",")
    cells[6] = "soon"
    lines[2] = ",".join(cells)
    reading = read_file("a.csv", "\n".join([*lines, ""]).encode())
    (finding,) = [each for each in reading.all_findings if each.severity == "error"]
    assert finding.rule == "UPH507"
    assert (finding.place.line, finding.place.column) == (3, lines[2].index("soon") + 1)
    assert reading.rows[0].figure("throughput.generation_tokens") is None


def test_a_row_that_was_cut_gives_no_number() -> None:
    data = (BENCHMARKS / "ollama.csv").read_bytes()
    reading = read_file("a.csv", data[: data.rindex(b",")])
    assert reading.rows == ()
    assert [each.rule for each in reading.findings] == ["UPH503"]


def test_columns_of_one_name_give_no_number() -> None:
    data = (BENCHMARKS / "ollama.csv").read_bytes()
    header, _, rest = data.partition(b"\n")
    doubled = b"\n".join(
        [header + b",eval_count", *(line + b",1" for line in rest.splitlines()), b""]
    )
    reading = read_file("a.csv", doubled)
    assert reading.rows == ()
    assert "two columns have one name" in reading.findings[0].message
