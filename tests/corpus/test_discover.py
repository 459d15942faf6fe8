from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from upheld.corpus.discover import MAX_DEPTH, discover, has_folder
from upheld.records.finding import Finding


def found(root: Path, *folders: str) -> list[str]:
    """Paths as they are, and findings as rule, place and message."""
    return [
        f"{each.rule} {each.place}: {each.message}" if isinstance(each, Finding) else each
        for each in discover(root, folders or ("adrs",))
    ]


def write(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")


def test_yaml_files_in_the_order_of_their_names(tmp_path: Path) -> None:
    write(tmp_path, "adrs/b.yaml", "adrs/a/z.yml", "adrs/a.yaml", "adrs/README.md", "more/c.yaml")
    assert found(tmp_path) == ["adrs/a/z.yml", "adrs/a.yaml", "adrs/b.yaml"]
    assert found(tmp_path, "more", "adrs")[0] == "more/c.yaml"


def test_dotfiles_and_raw_folders_hold_no_records(tmp_path: Path) -> None:
    write(tmp_path, "adrs/.a.yaml", "adrs/.b/c.yaml", "adrs/d/raw/e.yaml", "adrs/raw.yaml")
    assert found(tmp_path) == ["adrs/raw.yaml"]


def test_names_that_need_care(tmp_path: Path) -> None:
    write(tmp_path, "adrs/-rf.yaml", "adrs/a\nb.yaml", "adrs/::error::.yaml")
    (tmp_path / os.fsdecode(b"adrs/\xff.yaml")).write_text("x")
    assert found(tmp_path) == [
        "adrs/-rf.yaml", "adrs/::error::.yaml", "adrs/a\nb.yaml", "adrs/\udcff.yaml",
    ]  # fmt: skip


@pytest.mark.parametrize("target", ["a.yaml", "/etc/passwd", "nowhere", "l.yaml", ".", "/dev/zero"])
@pytest.mark.parametrize("name", ["l.yaml", "link"])
def test_links(tmp_path: Path, target: str, name: str) -> None:
    write(tmp_path, "adrs/a.yaml")
    (tmp_path / "adrs" / name).symlink_to(target)
    assert found(tmp_path) == [
        "adrs/a.yaml", f"UPH110 adrs/{name}:1:1: adrs/{name} is a symbolic link",
    ]  # fmt: skip


def test_pipes_and_folders_named_as_files(tmp_path: Path) -> None:
    write(tmp_path, "adrs/a.yaml/b.yaml")
    os.mkfifo(tmp_path / "adrs" / "p.yaml")
    assert found(tmp_path) == [
        "adrs/a.yaml/b.yaml", "UPH110 adrs/p.yaml:1:1: adrs/p.yaml is not a regular file",
    ]  # fmt: skip


@pytest.mark.parametrize("target", ["real", "nowhere", "/etc"])
def test_a_folder_for_records_that_is_a_link(tmp_path: Path, target: str) -> None:
    write(tmp_path, "real/a.yaml")
    (tmp_path / "adrs").symlink_to(target)
    assert has_folder(tmp_path, ("adrs",))
    assert found(tmp_path) == ["UPH110 adrs:1:1: adrs is a symbolic link"]


def test_a_folder_for_records_behind_a_link(tmp_path: Path) -> None:
    write(tmp_path, "real/in/a.yaml")
    (tmp_path / "link").symlink_to("real")
    assert found(tmp_path, "link/in") == ["UPH110 link:1:1: link is a symbolic link"]


def test_a_folder_for_records_that_is_a_file_or_is_not_there(tmp_path: Path) -> None:
    write(tmp_path, "adrs")
    assert found(tmp_path, "adrs", "evidence") == ["UPH110 adrs:1:1: adrs is not a folder"]
    assert not has_folder(tmp_path, ("evidence", "a" * 300))


def test_folders_too_deep(tmp_path: Path) -> None:
    deep = tmp_path / "adrs"
    for _ in range(MAX_DEPTH + 2):
        deep.mkdir()
        deep = deep / "d"
    (only,) = found(tmp_path)
    assert only.endswith(f" is more than {MAX_DEPTH} folders deep")


def test_a_file_in_the_deepest_folder_is_found(tmp_path: Path) -> None:
    deepest = "/".join(["adrs", *["d"] * MAX_DEPTH])
    write(tmp_path, f"{deepest}/a.yaml")
    assert found(tmp_path) == [f"{deepest}/a.yaml"]


def test_a_folder_that_fails_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "adrs/a.yaml")

    def fails(_: Path) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(Path, "iterdir", fails)
    assert found(tmp_path) == ["UPH110 adrs:1:1: adrs can't be looked at: Input/output error"]


@pytest.mark.skipif(os.getuid() == 0, reason="root may list every folder")
@pytest.mark.parametrize("mode", [0o000, 0o400])
def test_a_folder_that_may_not_be_listed_is_not_passed_over(tmp_path: Path, mode: int) -> None:
    write(tmp_path, "adrs/a/b.yaml")
    (tmp_path / "adrs" / "a").chmod(mode)
    try:
        (only,) = found(tmp_path)
        assert only.endswith("can't be looked at: Permission denied")
    finally:
        (tmp_path / "adrs" / "a").chmod(0o700)
