"""Fixtures for all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from small_corpus import SmallCorpus

# No test asserts on wall-clock time.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The folder of files by others: $UPHELD_CORPORA, or ../shared beside the repository."""
    beside = Path(__file__).parents[2] / "shared"
    folder = Path(os.environ.get("UPHELD_CORPORA") or beside)
    if not folder.is_dir():
        pytest.skip(f"no files by others in {folder}; set UPHELD_CORPORA to their folder")
    return folder


@pytest.fixture
def small(tmp_path: Path) -> SmallCorpus:
    """A fresh copy of the small corpus, every claim of which stands."""
    return SmallCorpus(tmp_path / "corpus")
