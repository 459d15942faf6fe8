"""Where a captured run goes: its record, its folder of raw files, and nothing that exists."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from upheld.corpus.discover import RAW
from upheld.corpus.files import FileError, check_relative
from upheld.corpus.load import Corpus

RUNS = "evidence/runs"


@dataclass(frozen=True, slots=True)
class Place:
    """The record and the folder of a run, both as paths from the root of the corpus."""

    root: Path
    record: str
    raw: str

    @property
    def record_file(self) -> Path:
        """The record's file."""
        return self.root / self.record

    @property
    def raw_folder(self) -> Path:
        """The folder of raw files."""
        return self.root / self.raw

    @contextmanager
    def filled(self) -> Iterator[Path]:
        """A folder beside that of the raw files, which takes its place when all is well.

        Raises:
            OSError: it can't be made or moved. What it holds by then stays where it is.
        """
        parent = self.raw_folder.parent
        parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=".upheld-", dir=parent))
        try:
            yield folder
            folder.chmod(0o755)
            folder.rename(self.raw_folder)
        finally:
            if folder.exists() and not _holds_anything(folder):
                shutil.rmtree(folder, ignore_errors=True)


def place_of(corpus: Corpus, id_: str, raw: str | None) -> Place:
    """The place of the run `id_`, its raw files in `raw` or in a folder of its own.

    Raises:
        FileError: it is taken, or `raw` is not a path below a folder named `raw` in the corpus.
    """
    place = Place(corpus.root, f"{RUNS}/{id_}.yaml", raw or f"{RUNS}/{RAW}/{id_}")
    another = "name another run with --id"
    if id_.casefold() in {each.casefold() for each in (*corpus.entries, *corpus.damaged)}:
        raise FileError(f"there is a record {id_} already", another)
    parts = check_relative(place.raw).parts
    if RAW not in parts[:-1]:
        raise FileError(
            f"{place.raw} is not in a folder named {RAW}",
            f"raw files lie apart from records, as in {RUNS}/{RAW}/{id_}",
        )
    for path in (place.record, place.raw):
        _check_way(corpus.root, path)
        at = corpus.root / path
        if at.exists() or at.is_symlink():
            raise FileError(f"{path} is there already", another)
    return place


def _check_way(root: Path, path: str) -> None:
    at = root
    for part in check_relative(path).parts[:-1]:
        at = at / part
        if at.is_symlink() or (at.exists() and not at.is_dir()):
            raise FileError(f"{path} leads through something that is no folder", "name another")


def _holds_anything(folder: Path) -> bool:
    return any(file.stat().st_size for file in folder.rglob("*") if file.is_file())
