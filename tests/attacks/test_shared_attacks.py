"""Attack files by others, each as it would come in a pull request: refused, placed, in time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from records.record_texts import TEXTS, findings_in
from upheld.corpus.config import ConfigError, read_config
from upheld.corpus.load import load
from upheld.corpus.yaml_reader import YamlError, read_yaml
from upheld.judge.judge import judge_corpus

pytestmark = pytest.mark.corpus

SECONDS = 20


def attacks(corpora: Path, folder: str) -> list[Path]:
    files = sorted((corpora / "attacks" / folder).glob("*"))
    if not files:
        pytest.skip(f"no attacks in {corpora / 'attacks' / folder}")
    return files


def test_a_corpus_of_every_attack_is_judged_in_time(corpora: Path, tmp_path: Path) -> None:
    kinds = ("yaml", "ids", "paths", "json", "md", "semantics", "config")
    names = []
    for file in (each for kind in kinds for each in attacks(corpora, kind)):
        name = f"adrs/{file.parent.name}-{file.name}.yaml"
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(file.read_bytes())
        names.append(name)
    done = subprocess.run(
        [sys.executable, "-m", "upheld.cli", "check", str(tmp_path), "--format", "json"],
        capture_output=True, text=True, timeout=SECONDS * 3, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "")
    told = json.loads(done.stdout)["findings"]
    assert sorted({finding["path"] for finding in told}) == sorted(names)
    assert all(finding["message"].isprintable() and finding["help"] for finding in told)
    assert all(finding["line"] >= 1 and finding["column"] >= 1 for finding in told)
    assert not Path("/tmp/upheld_pwned").exists()


# What the reader itself refuses; the rest is plain text until a field of a record says otherwise.
REFUSED = {
    "alias_bomb.yaml": "UPH103",
    "alias_cycle.yaml": "UPH103",
    "alias_quadratic.yaml": "UPH103",
    "binary.yaml": "UPH105",
    "custom_tag.yaml": "UPH105",
    "deep_block.yaml": "UPH104",  # its indentation is a long run of blanks before it is too deep
    "deep_flow.yaml": "UPH103",
    "dup_key.yaml": "UPH102",
    "dup_key_typed.yaml": "UPH102",
    "empty.yaml": "UPH101",
    "long_key.yaml": "UPH101",
    "merge_key.yaml": "UPH105",
    "multi_doc.yaml": "UPH101",
    "nel.yaml": "UPH104",
    "nul.yaml": "UPH104",
    "python_tag.yaml": "UPH105",
    "tabs.yaml": "UPH101",
    "utf16.yaml": "UPH101",
}


def rule_of(file: Path) -> str | None:
    """The rule by which the reader refuses the file."""
    try:
        read_yaml(file.name, file.read_bytes())
    except YamlError as refused:
        return refused.finding.rule
    return None


def test_yaml(corpora: Path) -> None:
    files = attacks(corpora, "yaml")
    names = {file.name for file in files}
    expected = {name: rule for name, rule in REFUSED.items() if name in names}
    found = {file.name: rule_of(file) for file in files}
    assert {name: rule for name, rule in found.items() if rule} == expected
    for file in files:
        if found[file.name] is None:
            value = read_yaml(file.name, file.read_bytes()).value
            assert {type(each) for each in value.values()} == {str}, file.name


@pytest.mark.parametrize("name", ["numbers.yaml", "nan.yaml", "huge_int.yaml", "huge_exp.yaml",
                                  "neg.yaml"])  # fmt: skip
def test_numbers_in_the_fields_of_a_record(corpora: Path, name: str) -> None:
    file = corpora / "attacks" / "yaml" / name
    if not file.exists():
        pytest.skip(f"no {file}")
    for number in yaml.load(file.read_text(), yaml.BaseLoader).values():
        for old, new in (
            ("device_count: 1", f"device_count: '{number}'"),
            ("gpu_memory_utilization: 0.90", f"gpu_memory_utilization: '{number}'"),
            ("size: 0.1 GiB", f"size: '{number}'"),
            ("max_model_len: 2048 tokens", f"max_model_len: '{number}'"),
            ("prefix_caching: false", f"prefix_caching: '{number}'"),
        ):
            found = findings_in(TEXTS["deployment"].replace(old, new))
            assert [each.rule for each in found] == ["UPH109"]
            assert found[0].message.startswith(new.split(":")[0].replace("size", "runtime_memory."))


def test_paths_are_refused_before_anything_is_opened(
    corpora: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "evidence").mkdir()
    run = tmp_path / "evidence" / "run.yaml"
    for file in attacks(corpora, "paths"):
        path = read_yaml(file.name, file.read_bytes()).value["evidence"][0]["path"]
        run.write_text(
            TEXTS["run"].replace("evidence/runs/raw/a-run/result.json", json.dumps(path))
        )
        corpus = load(tmp_path)
        assert corpus.findings == []
        with monkeypatch.context() as patch:
            patch.setattr("upheld.corpus.files.os.open", lambda *_: pytest.fail("opened"))
            judged = judge_corpus(corpus)
        (finding,) = judged.findings
        assert (finding.rule, finding.place.line, finding.place.column) == ("UPH801", 8, 5)
        assert finding.message.startswith("the path "), finding.message


def test_ids(corpora: Path) -> None:
    files = attacks(corpora, "ids")
    for file in files:
        rule = rule_of(file)
        value = {} if rule else read_yaml(file.name, file.read_bytes()).value
        assert rule in (None, "UPH104")
        if "id" in value:
            text = TEXTS["assumption"].replace("id: taken", f"id: {json.dumps(value['id'])}")
            (finding,) = findings_in(text)
            assert (finding.rule, finding.place.line) == ("UPH109", 2)


def test_a_poisoned_configuration_is_refused(corpora: Path, tmp_path: Path) -> None:
    file = corpora / "attacks" / "config" / "poison.toml"
    if not file.exists():
        pytest.skip(f"no {file}")
    (tmp_path / "upheld.toml").write_bytes(file.read_bytes())
    with pytest.raises(ConfigError, match="unknown key upheld"):
        read_config(tmp_path)
    (tmp_path / "upheld.toml").write_text(file.read_text().replace("[upheld]", ""))
    with pytest.raises(ConfigError, match="unknown key fail-on"):
        read_config(tmp_path)
