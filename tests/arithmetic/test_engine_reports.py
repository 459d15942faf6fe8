"""The arithmetic against what engines printed at start-up, in public reports by others."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

pytestmark = pytest.mark.corpus

ROOT = Path(__file__).parents[2]

# Why these do not follow from what was printed. The benchmark knows none of them.
DO_NOT_FOLLOW = {
    "vllm-21348-qwen3-235b-vllm": "one rank's memory beside the minimum over four ranks",
    "page-qwen3-30b-a3b-131k-tp4": "lines of two runs on one page",
    "h-cosmos-reason2-2b": "a layer more than the model has was charged",
    "h-rocm-27b-dflash2": "the batch that bounds the drafter's window was not printed",
}


@pytest.fixture(scope="module")
def benchmark_module() -> ModuleType:
    file = ROOT / "benchmarks" / "engine_reports.py"
    spec = importlib.util.spec_from_file_location("engine_reports", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["engine_reports"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def given(corpora: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    folder = corpora / "engine-reports"
    return (
        yaml.safe_load((folder / "reports.yaml").read_text("utf-8")),
        yaml.safe_load((folder / "shapes.yaml").read_text("utf-8")),
    )


def test_all_but_the_known_misses_are_exact(benchmark_module: ModuleType, given: Any) -> None:
    result = benchmark_module.score_all(*given)
    missed = {case["id"] for case in result["cases"] if case["verdict"] != "exact"}
    assert missed - DO_NOT_FOLLOW.keys() == set()
    assert result["summary"]["exact"] >= 0.97 * result["summary"]["total"]


def test_nothing_is_exact_for_want_of_a_check(benchmark_module: ModuleType, given: Any) -> None:
    for case in benchmark_module.score_all(*given)["cases"]:
        assert case["checks"], case["id"]


@pytest.mark.parametrize("perturb", ["layers", "kv-heads", "head-width"])
def test_a_wrong_shape_loses_most_of_its_exact_cases(
    benchmark_module: ModuleType, given: Any, perturb: str
) -> None:
    exact = benchmark_module.score_all(*given)["summary"]["exact"]
    wrong = benchmark_module.score_all(*given, perturb)["summary"]["exact"]
    assert wrong < exact / 4


# Of 62 printed figures; the shapes of the other 29 lack facts that the figure depends on.
EXACT_WEIGHTS = 33


def test_weights_that_are_predicted_are_exact(benchmark_module: ModuleType, given: Any) -> None:
    found = benchmark_module.score_all(*given)["weights"]
    predicted = [row for row in found["rows"] if row["verdict"] != "not-predicted"]
    assert [row["id"] for row in predicted if row["verdict"] != "exact"] == []
    assert found["exact"] >= EXACT_WEIGHTS
    assert found["total"] == len(found["rows"])


def test_weights_that_are_not_predicted_say_why(benchmark_module: ModuleType, given: Any) -> None:
    for row in benchmark_module.score_all(*given)["weights"]["rows"]:
        assert (row["verdict"] == "not-predicted") == bool(row.get("reason")), row["id"]


@pytest.mark.parametrize("field", ["num_hidden_layers", "hidden_size", "intermediate_size"])
def test_a_wrong_shape_loses_its_exact_weights(
    benchmark_module: ModuleType, given: Any, field: str
) -> None:
    reports, shapes = given
    wrong = {
        name: shape | {field: round(shape[field] * 1.04), "parameters": None}
        for name, shape in shapes.items()
        if field in shape
    }
    right = benchmark_module.score_weights(reports, shapes)["exact"]
    assert benchmark_module.score_weights(reports, wrong)["exact"] < right / 10
