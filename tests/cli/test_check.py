"""`upheld check`, as it is typed."""

from __future__ import annotations

import errno
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from small_corpus import ADR, RAW, RUN, SmallCorpus
from upheld.cli import main


def check(root: Path, *arguments: str) -> Result:
    result = CliRunner().invoke(main, ["check", str(root), "--as-of", "2026-12-01", *arguments])
    assert "Traceback" not in result.output
    return result


def test_a_clean_corpus_exits_0_and_says_what_it_read(small: SmallCorpus) -> None:
    result = check(small.root)
    assert result.exit_code == 0
    assert "Nothing blocks: 11 records, 8 claims." in result.output


UNBACKED = """\
  - id: fast
    says: p99 time to first token is 300 ms.
    basis: measured
    metric: latency.ttft.p99
    expect: "<= 300 ms"
    within: {deployment: one-card, concurrency: 128}
"""


def test_a_number_with_nothing_behind_it_is_stopped_and_told_why(small: SmallCorpus) -> None:
    small.append(ADR, UNBACKED)
    result = check(small.root)
    assert result.exit_code == 1
    assert re.search(
        rf"^{re.escape(ADR)}:\d+:5: UPH602 error: ADR-001#fast is unsupported: No run is named",
        result.output,
        re.MULTILINE,
    )
    assert "  help: add the evidence that the basis needs" in result.output
    assert "Blocked: 1 error in 11 records, 9 claims." in result.output


def test_json_has_the_documented_shape(small: SmallCorpus) -> None:
    small.append(ADR, UNBACKED)
    result = check(small.root, "--format", "json")
    shown = json.loads(result.output)
    assert result.exit_code == 1
    assert shown["version"] == 1
    assert shown["summary"]["blocked"] is True
    assert shown["summary"]["records"] == 11
    assert shown["summary"]["claims"]["measured"] == {"unsupported": 1, "upheld": 1}
    fast = next(each for each in shown["claims"] if each["id"] == "ADR-001#fast")
    assert fast["basis"] == "measured"
    assert fast["verdict"] == "unsupported"
    assert fast["blocks"] is True
    assert fast["rests_on"] == []
    assert fast["because"].startswith("No run is named")
    (finding,) = shown["findings"]
    assert finding.keys() >= {"rule", "path", "line", "column", "message", "help", "severity"}
    assert (finding["rule"], finding["path"], finding["claim"]) == ("UPH602", ADR, "ADR-001#fast")


def test_a_record_that_is_none_is_not_passed_over_in_silence(small: SmallCorpus) -> None:
    small.replace(ADR, "title: Serve", "tittle: Serve")
    result = check(small.root)
    assert result.exit_code == 1
    assert "unknown key tittle" in result.output
    assert "1 file without a valid record, whose claims were not judged" in result.output


def test_a_tampered_snapshot_blocks(small: SmallCorpus) -> None:
    CliRunner().invoke(
        main, ["snapshot", "freeze", "ADR-001", "--root", str(small.root), "--as-of", "2026-12-01"]
    )
    assert check(small.root).exit_code == 0
    small.replace(
        "evidence/snapshots/ADR-001-2026-12-01.yaml", "verdict: assumed", "verdict: upheld"
    )
    result = check(small.root)
    assert result.exit_code == 1
    assert "UPH803 error" in result.output


def test_output_goes_to_a_file_whole(small: SmallCorpus, tmp_path: Path) -> None:
    target = tmp_path / "verdicts.json"
    result = check(small.root, "--format", "json", "--output", str(target))
    assert result.output == ""
    assert json.loads(target.read_text())["summary"]["blocked"] is False
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".upheld")] == []
    assert target.stat().st_mode & 0o777 == 0o644


def test_output_that_fails_leaves_nothing_behind(
    small: SmallCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out.txt"
    target.write_text("what was there")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    result = check(small.root, "--output", str(target))
    assert result.exit_code == 2
    assert f"{target} can't be written: No space left on device" in result.output
    assert target.read_text() == "what was there"
    assert {each.name for each in tmp_path.iterdir()} == {"corpus", "out.txt"}


def test_output_needs_a_folder_and_is_none(small: SmallCorpus, tmp_path: Path) -> None:
    nowhere = check(small.root, "--output", str(tmp_path / "nowhere" / "out.txt"))
    assert nowhere.exit_code == 2
    assert "can't be written: No such file or directory" in nowhere.output
    assert check(small.root, "--output", str(tmp_path)).exit_code == 2


def test_output_never_follows_a_link_or_goes_into_git(small: SmallCorpus, tmp_path: Path) -> None:
    elsewhere = tmp_path / "precious"
    elsewhere.write_text("keep me")
    (tmp_path / "link").symlink_to(elsewhere)
    (tmp_path / ".git").mkdir()
    for target in ("link", ".git/config"):
        assert check(small.root, "--output", str(tmp_path / target)).exit_code == 2
    assert elsewhere.read_text() == "keep me"
    assert list((tmp_path / ".git").iterdir()) == []


class TestCouldNotRun:
    def test_a_missing_directory(self, tmp_path: Path) -> None:
        result = check(tmp_path / "nowhere")
        assert result.exit_code == 2
        assert "there is no" in result.output

    def test_a_directory_without_folders_for_records(self, tmp_path: Path) -> None:
        result = check(tmp_path)
        assert result.exit_code == 2
        assert "no folder for records: adrs or evidence" in result.output

    def test_a_directory_without_a_record(self, tmp_path: Path) -> None:
        (tmp_path / "adrs").mkdir()
        result = check(tmp_path)
        assert result.exit_code == 2
        assert "there is no record" in result.output

    def test_a_file_instead_of_a_directory(self, small: SmallCorpus) -> None:
        assert check(small.root / ADR).exit_code == 2

    def test_a_configuration_that_cannot_be_used(self, small: SmallCorpus) -> None:
        (small.root / "upheld.toml").write_text('[gate]\naccept = ["stale"]\n')
        result = check(small.root)
        assert result.exit_code == 2
        assert "did you mean 'accepted'?" in result.output

    @pytest.mark.parametrize("text", ["tomorrow", "2026-02-30", "20261201", "2026-W49-2", ""])
    def test_a_date_that_is_none(self, small: SmallCorpus, text: str) -> None:
        result = CliRunner().invoke(main, ["check", str(small.root), "--as-of", text])
        assert result.exit_code == 2
        assert f"'--as-of': {text!r} is no date; write it as YYYY-MM-DD" in result.output


class TestFaults:
    """One fault each in a corpus that stands: exit 1, with the claim and the reason."""

    @pytest.mark.parametrize(
        ("path", "old", "new", "claim", "reason"),
        [
            pytest.param(
                ADR,
                "    evidence: [{run: serve-16}]\n",
                "",
                "ADR-001#first-token",
                "No run is named as evidence",
                id="evidence removed",
            ),
            pytest.param(
                RUN,
                "sha256: ",
                "sha256: 0000",
                None,
                "sha256",
                id="digest of another form",
            ),
            pytest.param(
                ADR,
                "basis: measured\n    metric: latency.ttft.p95",
                "basis: arithmetic\n    metric: latency.ttft.p95",
                "ADR-001#first-token",
                "latency.ttft can't be carried by arithmetic",
                id="basis switched to arithmetic",
            ),
            pytest.param(
                RUN,
                "device: Example Card 1GB",
                "device: NVIDIA H100 80GB HBM3",
                "ADR-001#first-token",
                "the device is NVIDIA H100 80GB HBM3, not card",
                id="GPU changed",
            ),
            pytest.param(
                "evidence/models/tiny.yaml",
                "hidden_size: 512",
                "hidden_size: 8192",
                "ADR-001#fits",
                "claimed: <= 0.5 GiB",
                id="model no longer fits",
            ),
        ],
    )
    def test_blocks(
        self, small: SmallCorpus, path: str, old: str, new: str, claim: str | None, reason: str
    ) -> None:
        small.replace(path, old, new)
        result = check(small.root)
        assert result.exit_code == 1
        assert reason in result.output
        if claim is not None:
            assert f"{claim} is " in result.output

    def test_a_wrong_digest(self, small: SmallCorpus) -> None:
        raw = small.root / RAW
        raw.write_bytes(raw.read_bytes() + b"\n")
        result = check(small.root)
        assert result.exit_code == 1
        assert "UPH802 error" in result.output
        assert "ADR-001#first-token is unsupported" in result.output


def test_hostile_text_cannot_write_on_the_terminal_or_to_ci(small: SmallCorpus) -> None:
    small.append(
        ADR,
        '  - {id: x, says: "a\\nb", basis: untested, metric: latency.ttft, why: "::error::x"}\n',
    )
    result = check(small.root)
    assert result.exit_code == 1
    assert not any(line.startswith("::") for line in result.output.splitlines())
    assert "\x1b" not in result.output
