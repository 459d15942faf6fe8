from dataclasses import replace

import pytest

from upheld.judge.fingerprints import fingerprints
from upheld.records.finding import Finding, Place

FINDING = Finding(
    "UPH201",
    Place("adrs/b.yaml", 2, 5),
    "the id 'b' is taken; see adrs/a.yaml:2:5",
    "give one of the two another id",
)


def test_moved_lines_leave_it_as_it_is() -> None:
    moved = replace(
        FINDING,
        place=Place("adrs/b.yaml", 40, 7),
        message="the id 'b' is taken; see adrs/a.yaml:12:1",
    )

    assert fingerprints([moved]) == fingerprints([FINDING])


@pytest.mark.parametrize(
    "other",
    [
        replace(FINDING, rule="UPH202"),
        replace(FINDING, place=Place("adrs/c.yaml", 2, 5)),
        replace(FINDING, message="the id 'c' is taken; see adrs/a.yaml:2:5"),
        replace(FINDING, claim="ADR-001#fits"),
    ],
)
def test_another_rule_file_message_or_claim_is_another_finding(other: Finding) -> None:
    assert fingerprints([other]) != fingerprints([FINDING])


def test_a_claim_keeps_its_fingerprint_when_its_file_is_renamed() -> None:
    of_claim = replace(FINDING, rule="UPH601", claim="ADR-001#fits")
    renamed = replace(of_claim, place=Place("adrs/renamed.yaml", 2, 5))

    assert fingerprints([renamed]) == fingerprints([of_claim])


def test_findings_that_are_alike_are_told_apart() -> None:
    first, second = fingerprints([FINDING, FINDING])

    assert first != second
    assert first == fingerprints([FINDING])[0]
