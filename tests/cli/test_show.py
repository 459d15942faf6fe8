"""`upheld show`, as it is typed."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from small_corpus import SmallCorpus
from upheld.cli import main


def show(small: SmallCorpus, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["show", *arguments, "--root", str(small.root)])


def test_a_claim_with_all_that_it_rests_on(small: SmallCorpus) -> None:
    result = show(small, "ADR-001#fits")
    assert result.exit_code == 0
    assert "ADR-001#fits  ✓ upheld, by arithmetic" in result.output
    assert "├─ runtime-memory: assumed by Tester on 2026-11-02" in result.output
    assert "└─ tiny-shape: assumed by Tester on 2026-11-02" in result.output


def test_a_record_with_its_claims(small: SmallCorpus) -> None:
    result = show(small, "ADR-001")
    assert result.exit_code == 0
    assert result.output.count("ADR-001#") == 8


def test_a_record_with_what_links_to_it(small: SmallCorpus) -> None:
    assert "linked from ADR-001, gate\n" in show(small, "one-card").output


def test_json(small: SmallCorpus) -> None:
    shown = json.loads(show(small, "ADR-001#first-token", "--format", "json").output)
    assert shown["version"] == 1
    assert shown["verdict"] == "upheld"
    assert [each["id"] for each in shown["grounds"]] == ["serve-16"]
    assert shown["evidence"][0]["counts"] is True


@pytest.mark.parametrize(
    ("id_", "help_text"),
    [
        ("ADR-001#first-tokn", "did you mean ADR-001#first-token"),
        ("on-card", "did you mean one-card"),
        ("ADR-01#fits", "did you mean ADR-001#fits"),
        ("zzz", "upheld check lists every claim"),
    ],
)
def test_an_unknown_id_suggests_the_nearest(small: SmallCorpus, id_: str, help_text: str) -> None:
    result = show(small, id_)
    assert result.exit_code == 2
    assert f"there is no record or claim {id_!r}" in result.output
    assert f"  help: {help_text}" in result.output
