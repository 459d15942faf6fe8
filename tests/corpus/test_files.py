from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upheld.corpus import files
from upheld.corpus.files import FileError, check_relative, read_inside, read_regular


def refusal(root: Path, path: str, limit: int = 100) -> str:
    with pytest.raises(FileError) as caught:
        read_inside(root, path, limit)
    assert caught.value.help
    return str(caught.value)


class TestPaths:
    @pytest.mark.parametrize(
        "path", ["a", "evidence/runs/raw/a-run/result.json", "a b/c d.json", "é.json", "a..b", "-x"]
    )
    def test_good(self, path: str) -> None:
        assert str(check_relative(path)) == path

    @pytest.mark.parametrize(
        ("path", "reason"),
        [
            ("/etc/passwd", "is absolute or an address"),
            ("~/x", "is absolute or an address"),
            ("C:/x", "is absolute or an address"),
            ("c:x", "is absolute or an address"),
            ("file:///etc/passwd", "is absolute or an address"),
            ("https://a.b/c", "is absolute or an address"),
            ("//host/share", "is absolute or an address"),
            ("\\\\evil\\share", "holds a character that a plain path does not have"),
            ("..\\x", "holds a character that a plain path does not have"),
            ("a/*.json", "holds a character that a plain path does not have"),
            ("$HOME/x", "holds a character that a plain path does not have"),
            ("%2e%2e/x", "holds a character that a plain path does not have"),
            ("a\0b", "holds a character that a plain path does not have"),
            ("a\n::error::b", "holds a character that a plain path does not have"),
            ("::error::x", "holds a character that a plain path does not have"),
            ("a/b.json:stream", "holds a character that a plain path does not have"),
            ("a\u202eb", "holds a character that a plain path does not have"),
            ("a\udcffb", "holds a character that a plain path does not have"),
            ("", "is not written in its shortest form, or leads outside"),
            ("../x", "is not written in its shortest form, or leads outside"),
            ("a/../../x", "is not written in its shortest form, or leads outside"),
            ("a/./b", "is not written in its shortest form, or leads outside"),
            ("a//b", "is not written in its shortest form, or leads outside"),
            ("a/", "is not written in its shortest form, or leads outside"),
            (".git/config", "leads into .git"),
            ("a/.GIT/hooks/pre-commit", "leads into .git"),
            ("a/CON", "can't be a file name on every system"),
            ("aux.md/x", "can't be a file name on every system"),
            ("a./b", "can't be a file name on every system"),
            ("a/b ", "can't be a file name on every system"),
        ],
    )
    def test_bad(self, path: str, reason: str) -> None:
        with pytest.raises(FileError) as caught:
            check_relative(path)
        assert str(caught.value) == f"the path {path!r} {reason}"
        assert caught.value.help.startswith("write a path relative to the corpus root")

    @given(st.text(max_size=30))
    def test_what_is_let_through_stays_inside(self, path: str) -> None:
        try:
            relative = check_relative(path)
        except FileError:
            return
        assert not relative.is_absolute()
        assert os.path.normpath(path) == path
        assert ".." not in relative.parts

    def test_nothing_is_opened_to_find_out(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(files.os, "open", lambda *_: pytest.fail("opened"))
        assert "leads outside" in refusal(tmp_path, "../x")

    def test_a_message_does_not_repeat_a_long_path(self, tmp_path: Path) -> None:
        assert len(refusal(tmp_path, "../" * 100_000)) < 300


class TestInside:
    def test_the_bytes_of_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "a").mkdir()
        (tmp_path / "a" / "b").write_bytes(b"\x00\xff")
        assert read_inside(tmp_path, "a/b") == b"\x00\xff"

    def test_missing(self, tmp_path: Path) -> None:
        assert refusal(tmp_path, "a/b") == "'a/b': there is no such file"

    def test_below_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_text("x")
        assert refusal(tmp_path, "a/b") == "'a/b': a part of its path is not a directory"

    def test_a_directory(self, tmp_path: Path) -> None:
        (tmp_path / "a").mkdir()
        assert refusal(tmp_path, "a") == "'a' is not a regular file"

    def test_a_name_too_long(self, tmp_path: Path) -> None:
        assert refusal(tmp_path, f"{'a' * 300}/b").endswith(": its name is too long")
        assert refusal(tmp_path, "/".join(["a"] * 5_000)).endswith("…': its name is too long")

    @pytest.mark.parametrize(
        "target", ["plain", "/etc/passwd", ".", "nowhere", "link", "/dev/zero"]
    )
    def test_a_link(self, tmp_path: Path, target: str) -> None:
        (tmp_path / "plain").write_text("x")
        (tmp_path / "link").symlink_to(target)
        assert refusal(tmp_path, "link") == "'link' passes through a symbolic link"

    def test_a_link_on_the_way(self, tmp_path: Path) -> None:
        (tmp_path / "real").mkdir()
        (tmp_path / "real" / "b").write_text("x")
        (tmp_path / "link").symlink_to("real")
        assert refusal(tmp_path, "link/b") == "'link/b' passes through a symbolic link"

    def test_a_pipe_does_not_hold_the_tool(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        assert refusal(tmp_path, "pipe") == "'pipe' is not a regular file"

    @pytest.mark.parametrize(
        ("number", "reason"),
        [
            (errno.EACCES, "it can't be read: permission denied"),
            (errno.EIO, os.strerror(errno.EIO)),
        ],
    )
    def test_a_file_that_fails(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, reason: str
    ) -> None:
        def fails(*_: object) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(files.os, "open", fails)
        assert refusal(tmp_path, "a") == f"'a': {reason}"

    @pytest.mark.skipif(os.getuid() == 0, reason="root may read every file")
    def test_a_file_that_may_not_be_read(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_text("x")
        (tmp_path / "a").chmod(0)
        assert refusal(tmp_path, "a") == "'a': it can't be read: permission denied"

    @pytest.mark.skipif(os.getuid() == 0, reason="root may enter every directory")
    def test_a_directory_that_may_not_be_entered(self, tmp_path: Path) -> None:
        (tmp_path / "a").mkdir(mode=0)
        try:
            assert refusal(tmp_path, "a/b") == "'a/b': it can't be read: permission denied"
        finally:
            (tmp_path / "a").chmod(0o700)

    def test_the_limit(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_bytes(b"x" * 100)
        assert len(read_inside(tmp_path, "a", 100)) == 100
        assert refusal(tmp_path, "a", 99) == "'a' has 100 bytes; at most 99 are read"

    def test_a_huge_file_is_not_read_to_find_out(self, tmp_path: Path) -> None:
        with (tmp_path / "a").open("wb") as stream:
            stream.truncate(4 * 1024**3)
        assert refusal(tmp_path, "a") == "'a' has 4,294,967,296 bytes; at most 100 are read"


class TestRegular:
    def test_a_file_that_grows_while_it_is_read(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = tmp_path / "a"
        file.write_bytes(b"x" * 200)
        whole = os.stat_result((*file.stat()[:6], 10, *file.stat()[7:]))
        monkeypatch.setattr(files.os, "fstat", lambda _: whole)
        with pytest.raises(FileError, match="grew beyond 100 bytes while it was read"):
            read_regular(file, 100, "a")

    @pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/stdin"])
    def test_a_device(self, device: str) -> None:
        with pytest.raises(FileError):
            read_regular(Path(device), 100)
