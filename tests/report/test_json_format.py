from __future__ import annotations

import json

from small_corpus import ADR, SmallCorpus
from upheld.report.json_format import check_object
from upheld.report.json_text import json_text


def test_the_shape_that_scripts_rely_on(small: SmallCorpus) -> None:
    small.replace(ADR, '"<= 0.5 GiB"', '"<= 1 B"')
    shown = json.loads(json_text(check_object(small.judge())))
    assert shown["version"] == 1
    assert {type(each["blocks"]) for each in shown["claims"]} == {bool}
    for claim in shown["claims"]:
        assert claim.keys() >= {"id", "basis", "verdict", "blocks", "rests_on", "because"}
        assert isinstance(claim["rests_on"], list)
    (finding,) = shown["findings"]
    assert finding.keys() == {
        "rule", "path", "line", "column", "message", "help", "severity", "claim",
    }  # fmt: skip
    assert (finding["rule"], finding["path"], finding["line"], finding["column"]) == (
        "UPH601", ADR, 11, 5,
    )  # fmt: skip
    assert (finding["severity"], finding["claim"]) == ("error", "ADR-001#fits")
    assert shown["summary"].keys() == {"records", "rejected", "claims", "blocked"}
    assert shown["summary"]["blocked"] is True
    assert shown["summary"]["claims"]["arithmetic"] == {"contradicted": 1, "upheld": 1}
    assert shown["as_of"] == "2026-12-01"


def test_counts_by_basis_and_verdict_come_to_all_claims(small: SmallCorpus) -> None:
    shown = check_object(small.judge())
    counts = [n for verdicts in shown["summary"]["claims"].values() for n in verdicts.values()]
    assert sum(counts) == len(shown["claims"])
    assert shown["summary"]["blocked"] is False


def test_what_was_computed_and_what_was_measured_are_told_apart(small: SmallCorpus) -> None:
    claims = {each["id"]: each for each in check_object(small.judge())["claims"]}
    assert claims["ADR-001#fits"]["value"]["kind"] == "computed"
    assert claims["ADR-001#first-token"]["value"]["kind"] == "measured"
    assert claims["ADR-001#throughput"]["value"] is None


def test_what_is_expected_is_as_it_was_written(small: SmallCorpus) -> None:
    claims = {each["id"]: each for each in check_object(small.judge())["claims"]}
    assert claims["ADR-001#fits"]["expect"] == "<= 0.5 GiB"
    assert claims["ADR-001#paged"]["expect"] is None


def test_the_same_corpus_gives_the_same_text(small: SmallCorpus) -> None:
    first, second = (json_text(check_object(small.judge())) for _ in range(2))
    assert first == second
    assert str(small.root) not in first
