"""What is locked is what pyproject.toml asks for."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
ASKED = [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["dev"]]


LOCK = (ROOT / "requirements.lock").read_text("utf-8")


def locked(name: str) -> set[str]:
    """The versions of that name in the lock; there are several where Python's version decides."""
    found = re.findall(r"^([a-z0-9-]+)==([^ ;\\]+)", LOCK, re.MULTILINE)
    return {version for each, version in found if each == canonicalize_name(name)}


@pytest.mark.parametrize("asked", ASKED)
def test_each_dependency_is_locked_within_its_range(asked: str) -> None:
    wanted = Requirement(asked)
    versions = locked(wanted.name)
    assert versions
    assert all(version in wanted.specifier for version in versions)


def test_each_locked_version_has_a_digest() -> None:
    pieces = re.split(r"^(?=[a-z0-9-]+==)", LOCK, flags=re.MULTILINE)[1:]
    assert len(pieces) > len(ASKED)
    assert all("--hash=sha256:" in piece for piece in pieces)
