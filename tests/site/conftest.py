"""A corpus with a page of every kind: the small one, a decision with all its parts, a snapshot."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from small_corpus import ADR, SmallCorpus


@pytest.fixture
def full(small: SmallCorpus) -> SmallCorpus:
    shutil.copytree(Path(__file__).parent / "corpus", small.root, dirs_exist_ok=True)
    return small


@pytest.fixture
def blocked(full: SmallCorpus) -> SmallCorpus:
    full.replace(ADR, '"<= 0.5 GiB"', '"<= 0.2 GiB"')
    return full
