from __future__ import annotations

from datetime import date

import click
import pytest

from small_corpus import ADR, SmallCorpus
from upheld.records.verdicts import VERDICTS
from upheld.report.text import MARKS, check_lines


def lines(small: SmallCorpus) -> list[str]:
    return [click.unstyle(line) for line in check_lines(small.judge())]


def test_every_verdict_has_a_mark() -> None:
    assert set(MARKS) == set(VERDICTS)
    assert MARKS["upheld"] not in {mark for verdict, mark in MARKS.items() if verdict != "upheld"}


def test_nothing_blocks(small: SmallCorpus) -> None:
    shown = lines(small)
    assert shown[-1].startswith("Nothing blocks: 11 records, ")
    table = [line.split() for line in shown[: shown.index("")]]
    assert table == [
        ["basis", "✓", "upheld", "~", "assumed", "○", "untested"],
        ["arithmetic", "2", "·", "·"],
        ["control", "1", "·", "1"],
        ["measured", "1", "·", "·"],
        ["cited", "1", "·", "·"],
        ["assumed", "·", "1", "·"],
        ["untested", "·", "·", "1"],
    ]
    assert len({len(line) for line in shown[: shown.index("")]}) == 1


def test_warnings_are_counted_and_do_not_block(small: SmallCorpus) -> None:
    later = small.judge(date(2027, 6, 1))
    shown = [click.unstyle(line) for line in check_lines(later)]
    warnings = sum(" warning: " in line for line in shown)
    assert warnings > 1
    assert shown[-1] == f"Nothing blocks: 11 records, 8 claims, {warnings} warnings."


def test_blocked(small: SmallCorpus) -> None:
    small.replace(ADR, '"<= 0.5 GiB"', '"<= 1 B"')
    shown = lines(small)
    assert shown[0].startswith(f"{ADR}:11:5: UPH601 error: ADR-001#fits is contradicted: ")
    assert shown[1] == "  help: correct the claim, or what it is computed or measured from"
    assert shown[-1].startswith("Blocked: 1 error in 11 records, ")


def test_without_a_claim(small: SmallCorpus) -> None:
    for file in (small.root / "adrs").iterdir():
        file.unlink()
    (small.root / "evidence" / "policies" / "gate.yaml").unlink()
    shown = lines(small)
    assert shown[0] == "No record makes a claim."
    assert shown[-1].endswith(", 0 claims.")


@pytest.mark.parametrize("command", ["::error::x", "##[error]x", "::stop-commands::x"])
def test_text_of_a_record_is_no_command_to_a_ci_runner(small: SmallCorpus, command: str) -> None:
    small.replace(ADR, "title: Serve the tiny model from one card", f'title: "{command}"')
    small.replace(ADR, "because: It fits.", f'"{command}": "{command}"')
    small.replace(ADR, "status: accepted", f'status: "{command}"')
    shown = lines(small)
    assert any("x" in line for line in shown)
    for line in shown:
        assert not line.lstrip().startswith("::")
        assert "##[" not in line
