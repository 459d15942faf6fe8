"""The fixtures that the tests of this room read, and copies of them with something changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from upheld.measured.read import read_file
from upheld.measured.reading import FileReading

BENCHMARKS = Path(__file__).parents[1] / "corpora" / "benchmarks"


@pytest.fixture
def read() -> Callable[[str], FileReading]:
    return lambda name: read_file(name, (BENCHMARKS / name).read_bytes())


@pytest.fixture
def read_changed() -> Callable[[str, Callable[[Any], object]], FileReading]:
    """Reads a fixture after `change` has been done to its (first) JSON value."""

    def reading(name: str, change: Callable[[Any], object]) -> FileReading:
        value = json.loads((BENCHMARKS / name).read_text(encoding="utf-8"))
        change(value)
        return read_file(name, json.dumps(value).encode())

    return reading
