"""Every public file of benchmark tools, against the figures that were taken from it by script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from upheld.measured.content import Content
from upheld.measured.formats import FORMATS
from upheld.measured.read import read_file, recognised_by
from upheld.measured.reading import Row
from upheld.records.units import find_unit

pytestmark = pytest.mark.corpus

# A document with tables of both tools goes under one of the two names; both are read.
TWO_TOOLS = {"llama-bench-md/Dianababaei__nemotron-dgx-spark.md": ("llama-batched-bench",)}

COUNTS = {"rounds": "time"}
OTHER_NAMES = {"time.median": "time.p50", "time.stddev": "time.std"}


@pytest.fixture(scope="module")
def expected(corpora: Path) -> list[dict[str, Any]]:
    text = (corpora / "benchmark-files" / "expected.yaml").read_text(encoding="utf-8")
    entries: list[dict[str, Any]] = yaml.safe_load(text)
    assert len(entries) > 100
    return entries


def test_formats_are_recognised_and_others_are_not_ours(
    corpora: Path, expected: list[dict[str, Any]]
) -> None:
    for entry in expected:
        data = (corpora / "benchmark-files" / entry["file"]).read_bytes()
        assert read_file(entry["file"], data).format in _wanted(entry), entry["file"]
        assert len(recognised_by(Content(entry["file"], data), FORMATS)) <= 1, entry["file"]


def _wanted(entry: dict[str, Any]) -> set[str]:
    """The format that a file is to be read as; where only a family is given, any of its formats."""
    family = {entry["format"], *TWO_TOOLS.get(entry["file"], ())}
    if entry.get("family_only"):
        family |= {name for name in FORMATS if name.startswith(f"{entry['format']}-")}
    return family & FORMATS.keys() or {"unknown"}


def test_figures_are_those_of_the_files(corpora: Path, expected: list[dict[str, Any]]) -> None:
    compared = 0
    for entry in expected:
        if entry["format"] not in FORMATS or entry.get("family_only"):
            continue
        data = (corpora / "benchmark-files" / entry["file"]).read_bytes()
        rows = read_file(entry["file"], data).rows
        seen: Counter[tuple[str | None, str]] = Counter()
        for metric in entry["metrics"]:
            name = OTHER_NAMES.get(metric["name"], metric["name"])
            row = _row(rows, metric.get("case"), seen[metric.get("case"), name])
            seen[metric.get("case"), name] += 1
            if name in COUNTS or name.endswith(".count"):
                assert row.samples[COUNTS.get(name, name[:-6])] == metric["value"]
                continue
            figure = row.figure(name)
            if figure is None:
                assert metric["value"] == 0, (entry["file"], name)
                assert row.requests is not None
                assert row.requests.completed == 0
                continue
            assert float(figure.value) == pytest.approx(
                metric["value"], rel=1e-9, abs=float(figure.rounding)
            )
            if not name.startswith("requests."):
                assert figure.unit == find_unit(metric["unit"]).symbol
            compared += 1
    assert compared > 500


def _row(rows: Sequence[Row], case: str | None, at: int) -> Row:
    """The row of that case, the first, second or later of them; else the first of the file."""
    of_case = [row for row in rows if row.case == case]
    return of_case[at] if of_case else rows[0]


def test_the_only_errors_are_those_that_a_reader_finds_too(
    corpora: Path, expected: list[dict[str, Any]]
) -> None:
    found = set()
    for entry in expected:
        if entry["format"] in FORMATS:
            data = (corpora / "benchmark-files" / entry["file"]).read_bytes()
            for finding in read_file(entry["file"], data).all_findings:
                if finding.severity == "error":
                    found.add((finding.rule, entry["file"].rpartition("__")[2][:20]))
    assert found == {
        ("UPH504", "bench_serve_all_requ"),
        ("UPH504", "results-from-cluster"),
        ("UPH507", "1_bbaa9731b9a8760555"),
        ("UPH502", "br_v0_1_example.yaml"),
        ("UPH507", "br_v0_1_example.yaml"),
    }
