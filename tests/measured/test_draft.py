from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from upheld.measured.content import Content
from upheld.measured.draft import RowDraft


def draft(text: str) -> RowDraft:
    content = Content("a.json", text.encode())
    record: Any = content.documents[0].value
    return RowDraft(content, 0, (), record)


@pytest.mark.parametrize(
    ("text", "rule", "says"),
    [
        ('{"a":\n "1"}', "UPH507", "not a number"),
        ('{"a":\n true}', "UPH507", "not a number"),
        ('{"a":\n -1}', "UPH507", "negative"),
        ('{"a":\n NaN}', "UPH504", "not measured"),
    ],
)
def test_what_is_no_number_is_a_finding_at_its_place(text: str, rule: str, says: str) -> None:
    row = draft(text)
    row.report("duration", "s", "a")
    finished = row.finish(())
    assert finished.figures == ()
    (finding,) = finished.findings
    assert finding.rule == rule
    assert says in finding.message
    assert (finding.place.line, finding.place.column) == (2, 2)


def test_what_is_absent_or_null_is_no_finding() -> None:
    row = draft('{"a": null}')
    row.report("duration", "s", "a")
    row.report("duration", "s", "b", "c")
    assert row.finish(()).findings == ()


def test_the_recomputed_value_stands_beside_what_was_reported() -> None:
    row = draft('{"a": 2.5001}')
    row.recompute("duration", "s", Fraction(5, 2), "a")
    finished = row.finish(())
    (figure,) = finished.figures
    assert (figure.value, figure.origin) == (Fraction(5, 2), "recomputed")
    assert figure.reported == Fraction("2.5001")
    (finding,) = finished.findings
    assert finding.rule == "UPH502"
    assert "a says 2.5001 s" in finding.message


def test_a_second_number_for_one_figure_must_be_the_same() -> None:
    row = draft('{"median": 2.5001, "p50": 2.5001, "again": 2.6}')
    row.report("latency.ttft.p50", "ms", "median")
    row.report("latency.ttft.p50", "ms", "p50")
    row.report("latency.ttft.p50", "ms", "again")
    finished = row.finish(())
    assert len(finished.figures) == 1
    assert [finding.rule for finding in finished.findings] == ["UPH502"]


def test_a_whole_number_may_be_written_with_a_point() -> None:
    row = draft('{"a": 3.0, "b": 3.5}')
    assert row.count("a") == 3
    assert row.count("b") is None
