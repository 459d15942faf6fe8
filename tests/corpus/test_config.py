from __future__ import annotations

import os
from pathlib import Path

import pytest

from upheld.corpus.config import Config, ConfigError, read_config
from upheld.records.verdicts import BLOCKING


def config(root: Path, text: str, name: str = "upheld.toml") -> Config:
    (root / name).write_text(text)
    return read_config(root)


def refusal(root: Path, text: str, name: str = "upheld.toml") -> str:
    with pytest.raises(ConfigError) as caught:
        config(root, text, name)
    return str(caught.value)


def test_none(tmp_path: Path) -> None:
    assert read_config(tmp_path) == Config(("adrs", "evidence"), BLOCKING, frozenset())


def test_in_full(tmp_path: Path) -> None:
    text = 'records = ["decisions"]\n[gate]\naccepted = ["stale"]\nproposed = ["contradicted"]\n'
    expected = Config(("decisions",), frozenset({"stale"}), frozenset({"contradicted"}))
    assert config(tmp_path, text) == expected


def test_in_pyproject(tmp_path: Path) -> None:
    assert config(tmp_path, '[project]\nname = "x"\n', "pyproject.toml") == Config()
    text = '[tool.upheld]\nrecords = ["decisions"]\n'
    assert config(tmp_path, text, "pyproject.toml").records == ("decisions",)


def test_upheld_toml_goes_before_pyproject(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.upheld]\nrecords = ["b"]\n')
    assert config(tmp_path, 'records = ["a"]\n').records == ("a",)
    assert config(tmp_path, "# nothing set\n").records == ("b",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("recrods = []", "unknown key recrods; did you mean 'records'?"),
        ('fail-on = "never"', "unknown key fail-on; known: records, gate"),
        ('plugins = ["evil"]', "unknown key plugins; known: records, gate"),
        ("[gate]\naccept = []", "unknown key gate.accept; did you mean 'accepted'?"),
        ('"a\\n::error::x" = 1', "unknown key 'a\\n::error::x'; known: records, gate"),
        ("gate = 1", "gate wants a table"),
        ("records = 1", "records wants a list of text"),
        ('records = "adrs"', "records wants a list of text"),
        ("records = [1]", "records wants a list of text"),
        ("records = []", "records names no folder"),
        ('records = ["a", "a"]', "records: 'a' is within 'a' already"),
        ('records = ["a/b", "a"]', "records: 'a/b' is within 'a' already"),
        ('[gate]\naccepted = ["fine"]', "gate.accepted: 'fine' is no verdict; known: upheld, "),
        ('[gate]\nproposed = ["upheld"]', "gate.proposed: an upheld claim can't block"),
        ("[gate]\naccepted = true", "gate.accepted wants a list of text"),
    ],
)  # fmt: skip
def test_what_can_not_be_used(tmp_path: Path, text: str, message: str) -> None:
    assert refusal(tmp_path, text).startswith(f"upheld.toml: {message}")


@pytest.mark.parametrize("folder", ["..", "/etc", ".", "a/../b", ".git", "::error::x", "~", "a*"])
def test_no_folder_outside(tmp_path: Path, folder: str) -> None:
    message = refusal(tmp_path, f'records = ["{folder}"]')
    assert message.startswith(f"upheld.toml: records: the path {folder!r} ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tool = 5", "tool wants a table"),
        ("[tool]\nupheld = []", "tool.upheld wants a table"),
        ("[tool]\nupheld = 0", "tool.upheld wants a table"),
        ("[tool.upheld]\nrecrods = 1", "unknown key tool.upheld.recrods; did you mean 'records'?"),
    ],
)
def test_in_pyproject_what_can_not_be_used(tmp_path: Path, text: str, message: str) -> None:
    assert refusal(tmp_path, text, "pyproject.toml") == f"pyproject.toml: {message}"


@pytest.mark.parametrize(
    "data",
    [b"records = ", b"\xff", b"a = 1\na = 2", b"x = " + b"9" * 5_000, b"x = " + b"[" * 50_000,
     b"d = 2026-02-30", "records = []".encode("utf-16")],
)  # fmt: skip
def test_what_is_not_toml(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "upheld.toml").write_bytes(data)
    with pytest.raises(ConfigError, match=r"upheld\.toml is not TOML: "):
        read_config(tmp_path)


def test_what_is_no_file(tmp_path: Path) -> None:
    file = tmp_path / "upheld.toml"
    os.mkfifo(file)
    with pytest.raises(ConfigError, match=r"'upheld\.toml' is not a regular file"):
        read_config(tmp_path)
    file.unlink()
    for target in ("/etc/passwd", "nowhere", "upheld.toml"):
        file.symlink_to(target)
        with pytest.raises(ConfigError, match="passes through a symbolic link"):
            read_config(tmp_path)
        file.unlink()
    file.write_text("#" * (1024 * 1024 + 1))
    with pytest.raises(ConfigError, match="at most 1,048,576 are read"):
        read_config(tmp_path)
