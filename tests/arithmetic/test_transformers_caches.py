"""The arithmetic against the bytes of Transformers' caches, as measured on tiny models.

`measured.json` was written by benchmarks/transformers_caches.py; the test marked `engine` measures
anew where torch and Transformers are installed.
"""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from transformers_cache_checks.page import REASONS
from transformers_cache_checks.scores import FIGURES, score

CORPUS = Path(__file__).parents[1] / "corpora" / "transformers-caches"
ENGINE = ("torch", "transformers", "optimum.quanto", "hqq")

# What is measured: a row that is left out would not be missed otherwise.
ROWS = 1310
OLDER_ROWS = 176
MODELS_BY_GROUP = {
    "full attention": 20,
    "windows": 14,
    "chunks": 1,
    "latent attention": 5,
    "shared layers": 2,
    "hybrids": 11,
    "states": 4,
    "encoder and decoder": 11,
    "encoders": 3,
}
ROWS_BY_IMPLEMENTATION = {
    "dynamic": 680,
    "generate": 136,
    "static": 272,
    "quantised": 216,
    "encoder": 6,
}


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CORPUS / name).read_text("utf-8"))
    return found


@pytest.fixture(scope="module")
def measurement() -> dict[str, Any]:
    return read("measured.json")


@pytest.fixture(scope="module")
def rows(measurement: dict[str, Any]) -> list[dict[str, Any]]:
    return score(measurement)


def test_every_family_and_cache_is_measured(measurement: dict[str, Any]) -> None:
    models, rows = measurement["models"], measurement["rows"]
    assert Counter(each["group"] for each in models.values()) == MODELS_BY_GROUP
    assert Counter(row["implementation"] for row in rows) == ROWS_BY_IMPLEMENTATION
    assert len(rows) == ROWS
    assert {row["model"] for row in rows} == models.keys()


@pytest.mark.parametrize("name", ["measured.json", "measured-5.8.1.json"])
def test_every_row_is_exact_but_of_models_that_are_said_to_be_missed(name: str) -> None:
    measurement = read(name)
    missed = {row["model"] for row in score(measurement) if not row["exact"]}
    assert missed == REASONS[measurement["versions"]["transformers"]].keys()


def test_the_older_version_was_measured_as_widely_as_is_said() -> None:
    older = read("measured-5.8.1.json")
    assert len(older["rows"]) == OLDER_ROWS
    groups = {each["group"] for each in older["models"].values()}
    assert groups == MODELS_BY_GROUP.keys() - {"encoders"}


def test_an_exact_row_has_the_measured_bytes(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        if row["exact"] and "measured" in row:
            assert [row["predicted"][name] for name in FIGURES] == [
                row["measured"][name] for name in FIGURES
            ]


def test_what_the_library_refuses_is_refused_for_a_reason(rows: list[dict[str, Any]]) -> None:
    refused = [row for row in rows if "refused" in row]
    assert refused
    assert all(row["implementation"] == "quantised" and row["reason"] for row in refused)


def test_only_an_encoder_keeps_nothing(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        empty = row.get("measured") == dict.fromkeys(FIGURES, 0)
        assert empty == (row["group"] == "encoders"), row


def test_a_layer_more_loses_every_row_of_models_with_a_cache(
    measurement: dict[str, Any], rows: list[dict[str, Any]]
) -> None:
    kept = [row for row in score(measurement, "layers") if row["exact"] and "measured" in row]
    assert {row["group"] for row in kept} == {"encoders"}


def test_a_kv_head_more_loses_every_row_with_kv_heads(measurement: dict[str, Any]) -> None:
    kept = [row for row in score(measurement, "kv-heads") if row["exact"] and "measured" in row]
    assert {row["group"] for row in kept} == {"encoders", "latent attention", "states", "hybrids"}
    assert {row["model"] for row in kept if row["group"] == "hybrids"} == {"kimi_linear"}


@pytest.mark.engine
def test_the_engine_measures_the_same_again(measurement: dict[str, Any]) -> None:
    absent = [name for name in ENGINE if not _installed(name)]
    if absent:
        pytest.skip(f"{', '.join(absent)} not installed; make transformers-caches installs them")
    from transformers_cache_checks.measuring import measure

    again = measure()
    assert again["versions"] == measurement["versions"]
    assert again["rows"] == measurement["rows"]


def _installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False
