from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from upheld.measured.read import read_file
from upheld.measured.reading import FileReading

Read = Callable[[str], FileReading]
BENCHMARKS = Path(__file__).parents[2] / "corpora" / "benchmarks"


def edited(old: str, new: str) -> FileReading:
    text = (BENCHMARKS / "junit.xml").read_text(encoding="utf-8")
    assert old in text
    return read_file("junit.xml", text.replace(old, new, 1).encode())


def test_counts_are_those_of_the_cases(read: Read) -> None:
    reading = read("junit.xml")
    (row,) = reading.rows
    assert reading.all_findings == ()
    assert {figure.name: int(figure.value) for figure in row.figures[:5]} == {
        "tests.total": 5, "tests.failed": 1, "tests.errors": 1, "tests.skipped": 1,
        "tests.passed": 2,
    }  # fmt: skip
    assert row.tests == {
        "tests.test_gateway.test_no_second_effect": "passed",
        "tests.test_gateway.test_bounded[a/b.py::c]": "passed",
        "tests.test_gateway.test_drain": "failed",
        "tests.test_gpu.test_on_device": "skipped",
        "tests.test_gateway.test_setup": "error",
    }
    assert row.stated["commit"] == "4f2a91c0d3e5b6a798877665544332211ffeeddc"
    assert (
        row.stated["did_not_pass"] == "tests.test_gateway.test_drain, tests.test_gateway.test_setup"
    )


@pytest.mark.parametrize(
    ("old", "new"), [('failures="1"', 'failures="0"'), ('tests="5"', 'tests="6"')]
)
def test_a_count_that_was_edited_is_found(old: str, new: str) -> None:
    (finding,) = edited(old, new).all_findings
    assert finding.rule == "UPH502"


def test_a_failure_that_was_taken_out_is_found() -> None:
    reading = edited('<failure message="assert 1 == 2">a &lt; b</failure>', "")
    assert [each.rule for each in reading.all_findings] == ["UPH502"]


def test_the_worst_outcome_of_one_name_counts() -> None:
    again = (
        '<testcase classname="tests.test_gateway" name="test_no_second_effect"><error/></testcase>'
    )
    reading = edited("</testsuite>", f"{again}</testsuite>")
    assert reading.rows[0].tests["tests.test_gateway.test_no_second_effect"] == "error"


def test_a_report_in_which_nothing_ran_measures_nothing() -> None:
    for body in ("", '<testcase name="a"><skipped/></testcase>'):
        data = f'<testsuite name="s">{body}</testsuite>'.encode()
        assert [each.rule for each in read_file("a.xml", data).all_findings] == ["UPH504"]


HOSTILE = {
    "laughs": (BENCHMARKS / "junit-laughs.xml").read_bytes(),
    "outside": b'<!DOCTYPE testsuite [<!ENTITY x SYSTEM "file:///etc/passwd">]><testsuite/>',
    "parameter": b'<!DOCTYPE testsuite [<!ENTITY % x SYSTEM "http://a.invalid"> %x;]><testsuite/>',
    "deep": b"<testsuite>" + b"<a>" * 5000 + b"</a>" * 5000 + b"</testsuite>",
    "cut": b'<testsuite tests="1"><testcase name="a"',
    "two roots": b"<testsuite/><testsuite/>",
    "unknown entity": b"<testsuite name='&nothing;'/>",
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_hostile_xml_is_one_finding_at_once(data: bytes) -> None:
    started = time.monotonic()
    reading = read_file("junit.xml", data)
    assert time.monotonic() - started < 2
    assert reading.rows == ()
    (finding,) = reading.findings
    assert finding.rule == "UPH503"
    assert finding.place.line >= 1


def test_an_encoding_that_is_declared_wrongly_does_not_count() -> None:
    data = b'<?xml version="1.0" encoding="utf-16"?><testsuite><testcase name="a"/></testsuite>'
    assert read_file("junit.xml", data).rows[0].tests == {"a": "passed"}


def test_other_xml_is_unknown() -> None:
    assert read_file("a.xml", b"<html><testsuite/></html>").format == "unknown"
