from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from upheld.records.finding import Finding, Place
from upheld.report.json_text import finding_object, json_text

_TEXT = st.text(st.characters(exclude_categories=()))


@given(st.dictionaries(_TEXT, _TEXT | st.integers() | st.none() | st.lists(_TEXT)))
def test_reads_back_as_it_was_and_is_safe_to_print(value: dict[str, Any]) -> None:
    text = json_text(value)
    assert json.loads(text) == value
    assert text.replace("\n", "").isprintable()
    assert text.encode("utf-8")


def test_letters_of_any_script_stay_readable() -> None:
    assert json_text({"é": "漢😀 ≤"}) == '{\n  "é": "漢😀 ≤"\n}'


def test_what_hides_is_written_as_an_escape_of_json() -> None:
    assert json_text({"a": "\x1b\x9b\u202e\udcff\U000e0041"}) == (
        '{\n  "a": "\\u001b\\u009b\\u202e\\udcff\\udb40\\udc41"\n}'
    )


def test_no_line_begins_with_a_command() -> None:
    for line in json_text({"a": "x\n::error::y"}).split("\n"):
        assert not line.lstrip().startswith("::")


def test_a_finding() -> None:
    finding = Finding("UPH606", Place("a.yaml", 2, 3), "m", "h", "warning", "ADR-001#x")
    assert finding_object(finding) == {
        "rule": "UPH606", "path": "a.yaml", "line": 2, "column": 3, "message": "m", "help": "h",
        "severity": "warning", "claim": "ADR-001#x",
    }  # fmt: skip
