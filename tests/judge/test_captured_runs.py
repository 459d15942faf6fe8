"""What a capture says of the files beside it, and what it does not let a record say."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from small_corpus import ADR, RUN, SmallCorpus
from upheld.corpus.load import load
from upheld.records.snapshot import Snapshot
from upheld.report.reading_json import readings_object
from upheld.report.reading_text import reading_text
from upheld.snapshot.freeze import freeze
from upheld.snapshot.verify import verify

CAPTURE = "evidence/runs/raw/serve-16/capture.json"
KEPT = "evidence/runs/raw/serve-16/stdout.txt"
ENGINE = {"here": False, "engine": "vllm", "version": "0.19.0", "models": ["tiny"]}


def capture(**changes: Any) -> dict[str, Any]:
    execution = {
        "outcome": "completed", "started": "2026-01-05T10:00:00.000Z", "exit_status": 0,
        "stopped_by": None,
    }  # fmt: skip
    whole = {"upheld_capture": 1, "repeats": 1, "engine": ENGINE, "executions": [execution]}
    return whole | changes


def add(small: SmallCorpus, content: dict[str, Any], path: str = CAPTURE) -> None:
    text = json.dumps(content)
    (small.root / path).write_text(text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    entry = f"  - path: {path}\n    sha256: {digest}\n    format: upheld-capture\n"
    small.replace(RUN, "states:\n", f"{entry}states:\n")


def keep(small: SmallCorpus, text: str) -> None:
    (small.root / KEPT).write_text(text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    small.replace(RUN, "states:\n", f"kept:\n  - path: {KEPT}\n    sha256: {digest}\nstates:\n")


def test_its_axes_hold_for_the_files_beside_it(small: SmallCorpus) -> None:
    small.replace(RUN, "  engine: vllm\n  engine_version: 0.19.0\n", "")
    assert "nobody stated the engine" in small.claim("first-token").outcome.because
    add(small, capture())
    assert small.claim("first-token").verdict == "upheld"
    assert small.judge().findings == []


def test_a_record_that_says_otherwise_is_found(small: SmallCorpus) -> None:
    add(small, capture(engine=ENGINE | {"version": "0.18.0"}))
    (finding,) = [each for each in small.judge().findings if each.rule == "UPH509"]
    assert finding.message == (
        f"the run states the engine version as 0.19.0, but {CAPTURE} says 0.18.0"
    )
    assert small.claim("first-token").verdict != "upheld"


def test_a_file_from_elsewhere_is_found(small: SmallCorpus) -> None:
    add(small, capture(engine=ENGINE | {"engine": "sglang"}))
    small.replace(RUN, "  engine: vllm\n  engine_version: 0.19.0\n", "")
    first = small.claim("first-token")
    assert first.verdict == "out-of-envelope"
    assert "the engine is sglang, not vllm" in first.outcome.because


@pytest.mark.parametrize(
    ("execution", "outcome"),
    [
        ({"outcome": "failed", "exit_status": 1}, "failed"),
        ({"outcome": "interrupted", "exit_status": 0, "stopped_by": "SIGINT"}, "interrupted"),
    ],
)
def test_an_outcome_can_be_called_worse_but_not_better(
    small: SmallCorpus, execution: dict[str, Any], outcome: str
) -> None:
    add(small, capture(executions=[execution]))
    (finding,) = [each for each in small.judge().findings if each.rule == "UPH509"]
    assert finding.message == f"the run is said to be completed, but {CAPTURE} says {outcome}"
    assert small.claim("first-token").verdict == "unsupported"
    small.replace(RUN, "outcome: completed", f"outcome: {outcome}")
    assert "UPH509" not in small.rules()
    assert small.claim("first-token").verdict == "unsupported"


def test_what_two_captures_say_otherwise_is_not_stated(small: SmallCorpus) -> None:
    small.replace(RUN, "  engine: vllm\n  engine_version: 0.19.0\n", "")
    add(small, capture())
    add(small, capture(engine=ENGINE | {"version": "0.18.0"}), f"{CAPTURE[:-5]}-2.json")
    because = small.claim("first-token").outcome.because
    assert "nobody stated the engine version" in because


def test_the_day_of_the_capture_is_that_of_the_measurement(small: SmallCorpus) -> None:
    add(small, capture())
    assert str(small.judge().runs["serve-16"].measured) == "2026-01-05"


def test_a_kept_file_is_held_against_its_digest(small: SmallCorpus) -> None:
    keep(small, "done\n")
    assert small.judge().findings == []
    (small.root / KEPT).write_text("well done\n")
    assert "UPH802" in small.rules()
    assert small.claim("first-token").verdict == "unsupported"
    (small.root / KEPT).unlink()
    assert "UPH801" in small.rules()


def test_nothing_is_read_from_a_kept_file(small: SmallCorpus) -> None:
    keep(small, "not a benchmark of any known format")
    assert small.judge().findings == []
    assert len(small.judge().runs["serve-16"].readings) == 1


def test_a_capture_is_shown_to_people_and_scripts(small: SmallCorpus) -> None:
    add(small, capture())
    (reading,) = [
        each for each in small.judge().runs["serve-16"].readings if each.capture is not None
    ]
    assert "Outcome       completed" in reading_text(reading)
    assert "2026-01-05T10:00:00.000Z" in reading_text(reading)
    (shown,) = readings_object([reading])["files"]
    assert shown["capture"]["outcome"] == "completed"
    assert shown["capture"]["envelope"] == {"engine": "vllm", "engine_version": "0.19.0"}


def test_a_claim_that_names_no_run_hears_of_a_captured_one(small: SmallCorpus) -> None:
    add(small, capture())
    small.replace(ADR, "<= 400 ms", "<= 4 ms")
    small.replace(ADR, "    evidence: [{run: serve-16}]\n", "")
    assert small.claim("first-token").verdict == "contradicted"


def test_a_snapshot_pins_the_kept_files_too(small: SmallCorpus) -> None:
    keep(small, "done\n")
    text = freeze(small.judge(), "ADR-001", "frozen")
    assert KEPT in text
    target = small.root / "evidence/snapshots/frozen.yaml"
    target.parent.mkdir()
    target.write_text(text)
    corpus = load(small.root)
    snapshot = corpus.of(Snapshot)[0]
    assert verify(corpus, snapshot).findings == ()
    (small.root / KEPT).write_text("well done\n")
    assert [each.rule for each in verify(corpus, snapshot).findings] == ["UPH802"]
