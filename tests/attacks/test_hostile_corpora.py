"""`upheld check` on corpora that somebody made to hurt it: an answer, never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from corpus.corpus_of import assumption, decision, write
from records.record_texts import TEXTS

SECONDS = 20


def check(root: Path, format_: str) -> subprocess.CompletedProcess[str]:
    # A process of its own: what hangs or ends it must not take the tests with it.
    return subprocess.run(
        [sys.executable, "-m", "upheld.cli", "check", str(root), "--format", format_],
        capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip


def told(root: Path) -> dict[str, list[str]]:
    """The rules that a check finds in each file, held alike in both formats."""
    as_text, as_json = check(root, "text"), check(root, "json")
    assert (as_text.returncode, as_json.returncode) == (1, 1)
    assert (as_text.stderr, as_json.stderr) == ("", "")
    for line in as_text.stdout.split("\n"):
        assert line.isprintable()
        assert not line.lstrip().startswith("::")
        assert "##[" not in line
    findings = json.loads(as_json.stdout)["findings"]
    assert as_text.stdout.count("\n  help: ") == len(findings)
    rules: dict[str, list[str]] = {}
    for finding in findings:
        rules.setdefault(finding["path"], []).append(finding["rule"])
    return rules


GOOD = {"evidence/good.yaml": assumption("good")}


def test_names_of_files(tmp_path: Path) -> None:
    names = [
        os.fsdecode(b"\xff\xfe.yaml"),
        "a\n::error::b.yaml",
        "::error::b.yaml",
        "\x1b[2J.yaml",
        "\u202elmay.yaml",
        "##[add-mask]e.yaml",
        "CON.yaml",
    ]
    write(tmp_path, {**GOOD, **{f"evidence/{name}": assumption("other") for name in names}})
    assert told(tmp_path) == {f"evidence/{name}": ["UPH110"] for name in names}


def test_what_is_no_file(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    os.mkfifo(tmp_path / "evidence" / "a.yaml")
    (tmp_path / "evidence" / "b.yaml").symlink_to("/dev/zero")
    (tmp_path / "evidence" / "c.yaml").symlink_to("c.yaml")
    (tmp_path / "evidence" / "d.yaml").mkdir()
    (tmp_path / "evidence" / "e").symlink_to("..")
    refused = ("a.yaml", "b.yaml", "c.yaml", "e")
    assert told(tmp_path) == {f"evidence/{name}": ["UPH110"] for name in refused}


def test_raw_files_that_are_none(tmp_path: Path) -> None:
    paths = ["evidence", "evidence/pipe", "evidence/link", "a/" * 200 + "b",
             "evidence/good.yaml/x", "a" * 300]  # fmt: skip
    runs = {
        f"evidence/run-{number}.yaml": TEXTS["run"]
        .replace("evidence/runs/raw/a-run/result.json", path)
        .replace("id: a-run", f"id: run-{number}")
        for number, path in enumerate(paths)
    }
    write(tmp_path, {**GOOD, **runs})
    os.mkfifo(tmp_path / "evidence" / "pipe")
    (tmp_path / "evidence" / "link").symlink_to("/etc/passwd")
    found = told(tmp_path)
    assert found.pop("evidence/link") == ["UPH110"]
    assert found == {path: ["UPH801"] for path in runs}


def test_what_is_no_record(tmp_path: Path) -> None:
    texts = [
        "- a list", "a word", "kind: [adr]", "kind: {adr: adr}\nid: [x]",
        "'[key]': x\nkind: source",
        "kind: adr\nid: {a: b}\nclaims: {a: b}", "kind: adr\nclaims: [[], {}, x]", "&a [*a]",
        "kind: source\n'': ''\n", "kind: adr\noptions: [{id: {}}]\ndecision: []\n",
    ]  # fmt: skip
    files = {f"adrs/{number}.yaml": text for number, text in enumerate(texts)}
    write(tmp_path, {**GOOD, **files})
    assert told(tmp_path).keys() == files.keys()


def test_text_that_would_speak_to_the_runner(tmp_path: Path) -> None:
    command = "::error file=README.md,line=1::x"
    write(tmp_path, {
        "adrs/a.yaml": decision(
            "ADR-001", f'"{command}": x', f'"\\n{command}": x', "'##[error]x': x",
            f'related: ["{command}"]',
        ),
    })  # fmt: skip
    (rules,) = told(tmp_path).values()
    assert sorted(rules) == ["UPH107", "UPH107", "UPH107", "UPH109"]


@pytest.mark.parametrize(
    "config",
    ['"a\\n::error::x" = 1', "records = ['::error::x']", "records = ['..']", "gate = 1",
     "x = " + "[" * 10_000, "x = " + "9" * 5_000, "\x00", "records = ['" + "a" * 300 + "']"],
)  # fmt: skip
def test_a_configuration_that_can_not_be_used(tmp_path: Path, config: str) -> None:
    write(tmp_path, {**GOOD, "upheld.toml": config})
    done = check(tmp_path, "text")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: ")
    assert "Traceback" not in done.stderr
    assert not any(line.lstrip().startswith("::") for line in done.stderr.split("\n"))


def test_links_in_every_direction(tmp_path: Path) -> None:
    write(tmp_path, {
        f"adrs/{n}.yaml": decision(
            f"ADR-{n:03}",
            f"supersedes: [{', '.join(f'ADR-{k:03}' for k in range(60))}]",
            f"related: [{', '.join(f'ADR-{k:03}' for k in range(60))}]",
        )
        for n in range(60)
    })  # fmt: skip
    assert {rule for rules in told(tmp_path).values() for rule in rules} == {"UPH204"}
