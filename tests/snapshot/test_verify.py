"""A snapshot that was edited does not hold, even where every digest in it was made to fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import yaml

from small_corpus import ADR, SmallCorpus
from upheld.corpus.load import load
from upheld.corpus.yaml_reader import read_yaml
from upheld.records.snapshot import Snapshot
from upheld.snapshot.digest import digest_of, sha256_of
from upheld.snapshot.freeze import freeze
from upheld.snapshot.verify import verify

PATH = "evidence/snapshots/then.yaml"
FIRST_TOKEN = 2


def messages(small: SmallCorpus, forge: Callable[[dict[str, Any]], None]) -> list[str]:
    """What verifying finds in a snapshot that was forged, its digest made to fit."""
    text = freeze(small.judge(), "ADR-001", "then")
    content: Any = read_yaml(PATH, text.encode()).value
    forge(content)
    content["digest"] = digest_of(content)
    (small.root / PATH).parent.mkdir()
    (small.root / PATH).write_text(yaml.safe_dump(content, sort_keys=False))
    corpus = load(small.root)
    (snapshot,) = corpus.of(Snapshot)
    found = verify(corpus, snapshot).findings
    assert {finding.rule for finding in found} <= {"UPH803"}
    return [finding.message for finding in found]


def record(content: dict[str, Any], id_: str) -> dict[str, str]:
    (found,) = (each for each in content["records"] if each["id"] == id_)
    return dict(found)


def without(content: dict[str, Any], *ids: str) -> None:
    content["records"] = [each for each in content["records"] if each["id"] not in ids]


def test_what_was_not_touched_holds(small: SmallCorpus) -> None:
    assert messages(small, lambda content: None) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("because", "serve-16 measured 10 ms (recomputed); claimed: <= 400 ms."),
        ("rests_on", []),
        ("basis", "arithmetic"),
    ],
)
def test_a_verdict_tells_what_comes_out_again(small: SmallCorpus, name: str, value: object) -> None:
    def forge(content: dict[str, Any]) -> None:
        verdict = content["verdicts"][FIRST_TOKEN]
        assert verdict["claim"] == "ADR-001#first-token"
        verdict[name] = value

    (message,) = messages(small, forge)
    assert message.startswith(f"the frozen verdict on ADR-001#first-token gives another {name}")


def test_another_version_may_word_a_reason_otherwise(small: SmallCorpus) -> None:
    def forge(content: dict[str, Any]) -> None:
        content["upheld_version"] = "0.0.1"
        content["verdicts"][FIRST_TOKEN]["because"] = "It was measured."

    assert messages(small, forge) == []


def test_a_record_is_not_frozen_twice_in_two_texts(small: SmallCorpus) -> None:
    def forge(content: dict[str, Any]) -> None:
        shown = record(content, "ADR-001")
        shown["text"] = shown["text"].replace("<= 400 ms", "<= 100 ms")
        shown["sha256"] = sha256_of(shown["text"])
        content["records"].insert(0, shown)

    assert messages(small, forge) == [f"the frozen text of {ADR} is no valid record ADR-001"]


def test_the_decision_itself_is_frozen(small: SmallCorpus) -> None:
    def forge(content: dict[str, Any]) -> None:
        content["verdicts"] = []
        without(content, "ADR-001")

    assert messages(small, forge) == ["ADR-001 is not among the frozen decisions"]


def test_a_damaged_record_hides_no_claim(small: SmallCorpus) -> None:
    def forge(content: dict[str, Any]) -> None:
        content["verdicts"] = []
        decision = content["records"][0]
        decision["text"] = decision["text"].replace("kind: adr", "kind: adr\nunknown: key")
        decision["sha256"] = sha256_of(decision["text"])

    assert f"the frozen text of {ADR} is no valid record ADR-001" in messages(small, forge)


def test_no_ground_is_left_out(small: SmallCorpus) -> None:
    def forge(content: dict[str, Any]) -> None:
        without(content, "runtime-memory")
        for verdict in content["verdicts"]:
            verdict["rests_on"] = [id_ for id_ in verdict["rests_on"] if id_ != "runtime-memory"]

    assert messages(small, forge) == [
        "one-card names runtime-memory, which is not among the frozen records",
        "one-card-fp8-kv names runtime-memory, which is not among the frozen records",
    ]


def test_no_raw_file_is_left_out(small: SmallCorpus) -> None:
    def forge(content: dict[str, Any]) -> None:
        content["files"] = []

    assert messages(small, forge) == [
        "evidence/runs/raw/serve-16/result.json of serve-16 is not among the frozen files"
    ]


def test_decisions_beside_it_need_not_be_frozen(small: SmallCorpus) -> None:
    other = (small.root / ADR).read_text().replace("id: ADR-001", "id: ADR-002")
    (small.root / "adrs/ADR-002-other.yaml").write_text(other)
    small.append(ADR, "supersedes: [ADR-002]\nrelated: [ADR-002]\n")
    assert messages(small, lambda content: None) == []
