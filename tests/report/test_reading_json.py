from __future__ import annotations

import json
from fractions import Fraction

from report.readings import BOTH, ONE, figure, reading
from upheld.measured.reading import Row
from upheld.report.json_text import json_text
from upheld.report.reading_json import in_common, readings_object


def test_the_shape_that_scripts_rely_on() -> None:
    shown = json.loads(json_text(readings_object([BOTH])))
    assert shown["version"] == 1
    (file,) = shown["files"]
    assert file.keys() >= {
        "path", "format", "tool", "tool_version", "metrics", "envelope", "not_stated", "findings",
    }  # fmt: skip
    assert file["metrics"] == [
        {"case": "one", "name": "latency.ttft.p99", "value": 300.0, "unit": "ms",
         "origin": "recomputed", "reported": 300.0, "note": None},
        {"case": "two", "name": "latency.ttft.p99", "value": 400.0, "unit": "ms",
         "origin": "reported", "reported": None, "note": "a note"},
    ]  # fmt: skip
    assert file["not_stated"] == ["device", "engine", "kv_cache_dtype"]
    assert [finding["rule"] for finding in file["findings"]] == ["UPH505"]


def test_a_file_says_what_all_its_rows_say() -> None:
    (file,) = readings_object([BOTH])["files"]
    assert file["envelope"] == {"model": "m"}
    assert file["stated"] == {"date": "today"}
    one, two = file["rows"]
    assert one["envelope"] == {"model": "m", "concurrency": 8, "request_rate": 0.5}
    assert two["envelope"]["prefix_caching"] is False
    assert one["samples"] == {"latency.ttft": 1200}


def test_in_common() -> None:
    assert in_common([]) == {}
    assert in_common([{"a": 1, "b": 2}]) == {"a": 1, "b": 2}
    assert in_common([{"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 3}]) == {"a": 1}


def test_a_file_of_no_rows() -> None:
    (file,) = readings_object([reading(tool=None, tool_version=None)])["files"]
    assert (file["metrics"], file["envelope"], file["not_stated"]) == ([], {}, [])
    assert (file["tool"], file["tool_version"]) == (None, None)


def test_nothing_is_rounded_before_it_is_a_float() -> None:
    exact = Fraction(1, 3)
    (file,) = readings_object([reading(Row(None, ONE.place, (figure(exact),)))])["files"]
    assert file["metrics"][0]["value"] == float(exact)
