"""The benchmark of large files compares what is comparable: both ways give the same figures."""

from __future__ import annotations

from pathlib import Path

import pytest

import large_requests


def test_both_ways_give_the_same_figures(tmp_path: Path) -> None:
    file = tmp_path / "requests.jsonl"
    large_requests.write_requests(file, 1)
    found = large_requests.compare(file, rounds=1)
    figures = found["figures"]
    assert isinstance(figures, dict)
    assert len(figures["mapping"]) == 13
    assert figures["mapping"] == pytest.approx(figures["bare"], rel=1e-9)
