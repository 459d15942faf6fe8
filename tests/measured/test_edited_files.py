"""Whatever is done to a file, reading it gives rows and findings, never a traceback."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from upheld.measured.formats import FORMATS
from upheld.measured.read import read_file
from upheld.measured.reading import FileReading

BENCHMARKS = Path(__file__).parents[1] / "corpora" / "benchmarks"
OF_JSON = sorted(path.name for path in BENCHMARKS.glob("*.json"))
OF_TEXT = sorted(
    path.name
    for suffix in ("csv", "jsonl", "log", "md", "yaml")
    for path in BENCHMARKS.glob(f"*.{suffix}")
)

JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 10**20), st.floats(), st.text(max_size=5),
    st.lists(st.one_of(st.none(), st.floats(), st.text(max_size=3)), max_size=4),
    st.just({}), st.just([[]]), st.just({"a": 1}),
)  # fmt: skip
WORDS = st.one_of(
    st.sampled_from(["", "0", "-1", "nan", "1e29", "null", "|", ",", '"', "\n", ": ", "±", "\x00"]),
    st.text(max_size=5),
)


def is_sound(reading: FileReading) -> bool:
    """Known by a format or refused, every figure a finite number in JSON."""
    figures = [figure for row in reading.rows for figure in row.figures]
    return reading.format in (*FORMATS, "unknown") and all(
        math.isfinite(float(figure.value)) for figure in figures
    )


def replace_somewhere(data: st.DataObject, value: Any) -> Any:
    """The value with one of the values inside it replaced."""
    if isinstance(value, dict) and value and data.draw(st.integers(0, 9)):
        key = data.draw(st.sampled_from(sorted(value)))
        return value | {key: replace_somewhere(data, value[key])}
    if isinstance(value, list) and value and data.draw(st.integers(0, 9)):
        at = data.draw(st.integers(0, len(value) - 1))
        return [*value[:at], replace_somewhere(data, value[at]), *value[at + 1 :]]
    return data.draw(JUNK)


@pytest.mark.parametrize("name", OF_JSON)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_value_of_json_may_be_anything(name: str, data: st.DataObject) -> None:
    value, _ = json.JSONDecoder().raw_decode((BENCHMARKS / name).read_text(encoding="utf-8"))
    for _ in range(data.draw(st.integers(1, 3))):
        value = replace_somewhere(data, value)
    assert is_sound(read_file(name, json.dumps(value).encode()))


@pytest.mark.parametrize("name", OF_TEXT)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_piece_of_text_may_be_anything(name: str, data: st.DataObject) -> None:
    text = (BENCHMARKS / name).read_text(encoding="utf-8")
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 30)))
        text = text[:start] + data.draw(WORDS) + text[end:]
    assert is_sound(read_file(name, text.encode("utf-8", "surrogatepass")))
