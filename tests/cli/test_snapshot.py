"""`upheld snapshot freeze` and `verify`, as they are typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from small_corpus import ADR, RAW, SmallCorpus
from upheld.cli import main

NAME = "ADR-001-2026-12-01"


def run(small: SmallCorpus, *arguments: str) -> Result:
    result = CliRunner().invoke(main, ["snapshot", *arguments, "--root", str(small.root)])
    assert "Traceback" not in result.output
    return result


def freeze(small: SmallCorpus) -> Path:
    result = run(small, "freeze", "ADR-001", "--as-of", "2026-12-01")
    assert result.exit_code == 0, result.output
    return small.root / "evidence" / "snapshots" / f"{NAME}.yaml"


def test_what_is_frozen_holds(small: SmallCorpus) -> None:
    freeze(small)
    result = run(small, "verify")
    assert result.exit_code == 0
    assert f"{NAME} holds: 11 records, 1 raw file, 8 verdicts" in result.output


def test_freezing_twice_gives_the_same_bytes_and_never_overwrites(small: SmallCorpus) -> None:
    file = freeze(small)
    first = file.read_bytes()
    again = run(small, "freeze", "ADR-001", "--as-of", "2026-12-01")
    assert again.exit_code == 2
    assert "already" in again.output
    file.unlink()
    assert freeze(small).read_bytes() == first


def test_the_corpus_is_still_clean_with_the_snapshot_in_it(small: SmallCorpus) -> None:
    freeze(small)
    assert small.judge().findings == []


def test_a_later_change_is_told_and_the_snapshot_still_holds(small: SmallCorpus) -> None:
    freeze(small)
    small.replace(ADR, "<= 400 ms", "<= 200 ms")
    result = run(small, "verify")
    assert result.exit_code == 0
    assert "changed since: ADR-001" in result.output


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("verdict: untested", "verdict: upheld"),
        ("frozen: '2026-12-01'", "frozen: '2026-12-02'"),
        ("num_hidden_layers: 4", "num_hidden_layers: 5"),
    ],
)
def test_an_edited_snapshot_does_not_hold(small: SmallCorpus, old: str, new: str) -> None:
    file = freeze(small)
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    result = run(small, "verify", NAME)
    assert result.exit_code == 1
    assert "UPH803 error" in result.output
    assert f"{NAME} does not hold: " in result.output


def test_a_verdict_that_does_not_come_out_again_does_not_hold(small: SmallCorpus) -> None:
    from upheld.corpus.yaml_reader import read_yaml
    from upheld.snapshot.digest import digest_of

    file = freeze(small)
    text = file.read_text().replace("verdict: untested", "verdict: upheld", 1)
    old = read_yaml("x", text.encode()).value
    file.write_text(text.replace(old["digest"], digest_of(old)))
    result = run(small, "verify")
    assert result.exit_code == 1
    assert "was upheld when frozen, and is now untested" in result.output


def test_a_changed_or_missing_raw_file_is_found(small: SmallCorpus) -> None:
    freeze(small)
    raw = small.root / RAW
    raw.write_bytes(raw.read_bytes() + b" ")
    assert "UPH802 error" in run(small, "verify").output
    raw.unlink()
    missing = run(small, "verify")
    assert missing.exit_code == 1
    assert "UPH801 error" in missing.output


def test_a_decision_that_is_not_clean_is_not_frozen(small: SmallCorpus) -> None:
    small.replace(ADR, "<= 400 ms", "<= 200 ms")
    result = run(small, "freeze", "ADR-001")
    assert result.exit_code == 2
    assert "UPH601" in result.output
    assert not (small.root / "evidence" / "snapshots").exists()


@pytest.mark.parametrize("name", ["../escape", "a/b", "CON", "-x."])
def test_a_name_that_is_no_id_is_refused(small: SmallCorpus, name: str) -> None:
    assert run(small, "freeze", "ADR-001", f"--id={name}").exit_code == 2


def test_no_such_decision_and_nothing_to_verify(small: SmallCorpus) -> None:
    assert run(small, "freeze", "ADR-777").exit_code == 2
    assert run(small, "verify").exit_code == 2
    freeze(small)
    other = run(small, "verify", "ADR-777-x")
    assert other.exit_code == 2
    assert f"there is no snapshot 'ADR-777-x'\n  help: snapshots here: {NAME}\n" in other.output


def test_nothing_to_verify_because_the_snapshot_is_damaged_is_said(small: SmallCorpus) -> None:
    file = freeze(small)
    file.write_text(file.read_text().replace("frozen:", "frosen:"))
    result = run(small, "verify")
    assert result.exit_code == 2
    assert f"evidence/snapshots/{NAME}.yaml:" in result.output
    assert "frozen is missing" in result.output or "unknown key frosen" in result.output


def test_json(small: SmallCorpus) -> None:
    freeze(small)
    shown = json.loads(run(small, "verify", "--format", "json").output)
    assert shown["snapshots"] == [{"id": NAME, "holds": True, "changed_since": [], "findings": []}]
