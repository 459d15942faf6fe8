from __future__ import annotations

import click
import pytest

from upheld.records.finding import Finding, Place, Severity
from upheld.report.finding_text import finding_lines, in_order


def lines(finding: Finding) -> list[str]:
    return [click.unstyle(line) for line in finding_lines(finding)]


def test_where_what_and_how_to_mend_it() -> None:
    assert lines(Finding("UPH107", Place("adrs/a.yaml", 3, 5), "unknown key x", "remove it")) == [
        "adrs/a.yaml:3:5: UPH107 error: unknown key x",
        "  help: remove it",
    ]


@pytest.mark.parametrize(("severity", "colour"), [("error", "red"), ("warning", "yellow")])
def test_colour_is_never_the_only_sign(severity: Severity, colour: str) -> None:
    finding = Finding("UPH606", Place("a"), "m", "h", severity)
    assert f"UPH606 {severity}: m" in lines(finding)[0]
    assert click.style(severity, fg=colour, bold=True) in next(finding_lines(finding))


@pytest.mark.parametrize(
    "text", ["a\n::error::x", "\x1b[2Ja", "##[add-mask]e", "\u202ea", "\udcff", "\r::x", "::x"]
)
def test_text_of_others_is_no_line_of_its_own_and_no_command(text: str) -> None:
    shown = lines(Finding("UPH107", Place(f"adrs/{text}"), text, text))
    assert len(shown) == 2
    for line in shown:
        assert line.isprintable()
        assert not line.lstrip().startswith("::")
        assert "##[" not in line


def test_in_order_of_place_then_weight() -> None:
    findings = [
        Finding("UPH602", Place("b", 1, 1), "m", "h"),
        Finding("UPH606", Place("a", 10, 1), "m", "h", "warning"),
        Finding("UPH602", Place("a", 10, 1), "m", "h"),
        Finding("UPH602", Place("a", 9, 2), "m", "h"),
    ]
    shown = [(f.place.path, f.place.line, f.severity) for f in in_order(findings)]
    assert shown == [
        ("a", 9, "error"), ("a", 10, "error"), ("a", 10, "warning"), ("b", 1, "error"),
    ]  # fmt: skip
