"""What is frozen is enough to judge the decision again."""

from __future__ import annotations

from pathlib import Path

import pytest

from small_corpus import ADR, RUN, SmallCorpus
from upheld.corpus.load import load
from upheld.records.snapshot import Snapshot
from upheld.snapshot.freeze import NotFrozen, freeze
from upheld.snapshot.verify import Verified, verify

PATH = "evidence/snapshots/then.yaml"


def frozen_and_verified(small: SmallCorpus) -> Verified:
    text = freeze(small.judge(), "ADR-001", "then")
    (small.root / PATH).parent.mkdir()
    (small.root / PATH).write_text(text)
    corpus = load(small.root)
    (snapshot,) = corpus.of(Snapshot)
    return verify(corpus, snapshot)


def test_a_run_that_contradicts_unasked_is_frozen(small: SmallCorpus) -> None:
    small.replace(ADR, "status: accepted", "status: proposed")
    small.replace(ADR, "    evidence: [{run: serve-16}]\n", "")
    small.replace(ADR, "<= 400 ms", "<= 200 ms")
    verified = frozen_and_verified(small)
    assert verified.findings == ()
    (first,) = (each for each in verified.snapshot.verdicts if each.claim == "ADR-001#first-token")
    assert first.verdict == "contradicted"
    assert "serve-16" in {record.id for record in verified.snapshot.records}
    assert [file.path for file in verified.snapshot.files] == [
        "evidence/runs/raw/serve-16/result.json"
    ]


def test_records_that_only_give_a_name_are_frozen(small: SmallCorpus) -> None:
    other = (small.root / "evidence/devices/card.yaml").read_text()
    other = other.replace("id: card", "id: other").replace("A card of 1 GiB", "Another card")
    other = other.replace("Example Card 1GB", "Other Card 1GB")
    (small.root / "evidence/devices/other.yaml").write_text(other)
    small.replace(RUN, "device: Example Card 1GB", "device: other")
    small.replace(
        ADR,
        "{deployment: one-card, concurrency: 16",
        "{model: tiny, engine: vllm, device: Other Card 1GB, concurrency: 16",
    )
    assert small.claim("first-token").verdict == "upheld"
    verified = frozen_and_verified(small)
    assert verified.findings == ()
    assert {"tiny", "other"} <= {record.id for record in verified.snapshot.records}


def test_what_could_not_be_read_again_is_not_frozen(small: SmallCorpus) -> None:
    for index in range(30):
        text = f"kind: assumption\nid: long-{index}\ntitle: Long\nsays: {'x' * 45_000}\n"
        text += "why: Long.\nowner: Tester\ndate: 2026-11-02\n"
        Path(small.root / f"evidence/assumptions/long-{index}.yaml").write_text(text)
    ids = ", ".join(f"long-{index}" for index in range(30))
    small.append(ADR, f"assumes: [{ids}]\n")
    with pytest.raises(NotFrozen, match="could not be read again"):
        freeze(small.judge(), "ADR-001", "then")


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data + b"# \xc3\xa9 trailing   \n\n\n",
        lambda data: data.rstrip(b"\n"),
    ],
)  # fmt: skip
def test_text_is_frozen_however_its_lines_end(small: SmallCorpus, change: object) -> None:
    assert callable(change)
    file = small.root / ADR
    file.write_bytes(change(file.read_bytes()))
    assert not small.judge().blocked
    verified = frozen_and_verified(small)
    assert verified.findings == ()
    assert verified.changed_since == ()
