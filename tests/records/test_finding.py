from __future__ import annotations

from upheld.records.finding import Finding, Place


def test_a_place_reads_as_editors_write_it_and_sorts_by_line() -> None:
    assert str(Place("adrs/a.yaml", 10, 3)) == "adrs/a.yaml:10:3"
    assert Place("a", 9) < Place("a", 10) < Place("a", 10, 2) < Place("b")


def test_a_finding_is_an_error_of_no_claim_unless_it_says_otherwise() -> None:
    finding = Finding("UPH101", Place("a"), "what is wrong", "how to mend it")
    assert (finding.severity, finding.claim) == ("error", None)
