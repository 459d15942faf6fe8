from __future__ import annotations

import pytest

from small_corpus import ADR, SmallCorpus
from upheld.judge.judgement import Judgement
from upheld.report.tree import (
    claim_lines,
    claim_tree_object,
    ground,
    record_lines,
    record_object,
)


def claim(small: SmallCorpus, local_id: str) -> tuple[Judgement, list[str]]:
    judged = small.judge()
    judgement = judged.get(f"ADR-001#{local_id}")
    assert judgement is not None
    return judgement, list(claim_lines(judgement, judged))


def test_a_claim_with_its_verdict_and_grounds(small: SmallCorpus) -> None:
    judgement, shown = claim(small, "fits")
    assert shown[0] == "ADR-001#fits  ✓ upheld, by arithmetic"
    assert shown[1] == "  Everything fits within 0.5 GiB of one card."
    assert shown[2] == "  metric memory.device_total, expected <= 0.5 GiB"
    start = shown.index("  rests on")
    assert [line.split()[1].rstrip(":") for line in shown[start + 1 :]] == judgement.rests_on
    assert all(line.startswith("  ├─ ") for line in shown[start + 1 : -1])
    assert shown[-1].startswith("  └─ ")


def test_a_measured_claim_names_its_run(small: SmallCorpus) -> None:
    _, shown = claim(small, "first-token")
    assert any(line.startswith("  ✓ serve-16") for line in shown)
    assert shown[-1] == (
        "  └─ serve-16: run of 2026-11-20 by Tester: Two hundred requests at a concurrency of 16"
    )


def test_a_record_with_all_that_it_says(small: SmallCorpus) -> None:
    shown = list(record_lines("ADR-001", small.judge()))
    assert shown[:2] == [f"ADR-001  adr, {ADR}", "  Serve the tiny model from one card"]
    start = shown.index("  options")
    assert shown[start : start + 8] == [
        "  options", "    1.", "      id one-card", "      title One card", "      depth build",
        "  decision", "    option one-card", "    because It fits.",
    ]  # fmt: skip
    assert not any(line.strip().startswith(("kind ", "claims")) for line in shown)


def test_a_claim_that_blocks_says_so(small: SmallCorpus) -> None:
    small.replace(ADR, '"<= 0.5 GiB"', '"<= 1 B"')
    _, shown = claim(small, "fits")
    assert shown[0] == "ADR-001#fits  ✗ contradicted, by arithmetic"
    assert "  blocks: a change that holds this claim is stopped" in shown


def test_a_claim_that_rests_on_nothing_says_so(small: SmallCorpus) -> None:
    assert claim(small, "throughput")[1][-1] == "  rests on nothing else"


def test_a_record_with_its_links_and_claims(small: SmallCorpus) -> None:
    shown = list(record_lines("ADR-001", small.judge()))
    assert shown[0] == f"ADR-001  adr, {ADR}"
    assert shown[1] == "  Serve the tiny model from one card"
    assert sum(line.startswith("ADR-001#") for line in shown) == 8
    card = list(record_lines("one-card", small.judge()))
    assert any(line.startswith("  linked from ") and "ADR-001" in line for line in card)


def test_what_a_ground_is(small: SmallCorpus) -> None:
    judged = small.judge()
    assert ground("runtime-memory", judged).startswith("assumed by Tester on 2026-11-02: ")
    assert ground("paper", judged).startswith("source, checked ")
    assert ground("nothing", judged) == "no valid record"


def test_for_scripts(small: SmallCorpus) -> None:
    judged = small.judge()
    judgement = judged.get("ADR-001#first-token")
    assert judgement is not None
    shown = claim_tree_object(judgement, judged)
    assert [each["id"] for each in shown["grounds"]] == shown["rests_on"] == ["serve-16"]
    assert shown["evidence"][0]["run"] == "serve-16"
    record = record_object("ADR-001", judged)
    assert (record["id"], record["kind"], record["path"]) == ("ADR-001", "adr", ADR)
    assert len(record["sha256"]) == 64
    assert len(record["claims"]) == 8


@pytest.mark.parametrize("command", ["::error::x", "##[error]x"])
def test_text_of_a_record_is_no_command_to_a_ci_runner(small: SmallCorpus, command: str) -> None:
    small.replace(ADR, "title: Serve the tiny model from one card", f'title: "{command}"')
    small.replace(ADR, "says: Everything fits within 0.5 GiB of one card.", f'says: "{command}"')
    for line in record_lines("ADR-001", small.judge()):
        assert not line.lstrip().startswith("::")
        assert "##[" not in line
