"""The KV arithmetic against what vLLM printed at start-up, in public reports by others.

The available memory is printed to two decimals, so the exact bytes are not known: the printed
tokens must lie between those of the least and the most bytes that round to the printed figure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml

from upheld.arithmetic.dtypes import OF_TORCH, kv_cache_bytes
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.ledger import tokens_within

pytestmark = pytest.mark.corpus

HALF_OF_THE_LAST_DIGIT = Fraction(5, 1000)
# (model, printed GiB) → why its tokens do not follow from what was printed.
DO_NOT_FOLLOW = {
    ("Qwen/Qwen3-235B-A22B", "8.11"): "one rank's memory beside the minimum over four ranks",
}


@dataclass(frozen=True)
class Case:
    id: str
    model: str
    layers: int
    kv_heads: int
    head_dim: int
    tensor_parallel: int
    element: Fraction
    block_size: int
    available: str
    tokens: int

    def follows(self) -> bool:
        layout = FullAttention(self.layers, self.kv_heads, self.head_dim, self.tensor_parallel)
        per_token = layout.bytes_per_token(self.element)
        least, most = (
            tokens_within(
                int((Fraction(self.available) + step) * 2**30), per_token, self.block_size
            )
            for step in (-HALF_OF_THE_LAST_DIGIT, HALF_OF_THE_LAST_DIGIT)
        )
        return least <= self.tokens <= most

    def one_kv_head_more_on_each_rank(self) -> Case:
        return replace(
            self, kv_heads=max(self.kv_heads, self.tensor_parallel) + self.tensor_parallel
        )

    def one_layer_more(self) -> Case:
        return replace(self, layers=self.layers + 1)


def _case(report: dict[str, Any], shapes: dict[str, Any]) -> Case | None:
    """The report as a case of plain full attention on one pipeline stage, if it is one."""
    arguments, reported = report["arguments"], report["reported"]
    shape = shapes.get(report["model_shape"], {})
    cached = shape.get("kv_layers", [])
    plain = (
        report["engine"] in ("vllm-v0", "vllm-v1")
        and report["attention"] in ("mha", "gqa", "mqa")
        and [layers["kind"] for layers in cached] == ["full"]
        and cached[0]["k_dim"] == cached[0]["v_dim"]
        and arguments.get("pipeline_parallel_size", 1) == 1
        and arguments.get("decode_context_parallel_size", 1) == 1
        and "speculative" not in arguments
        # Later versions print a figure that is derived from the concurrency.
        and report["assumed"].get("report") != "concurrency"
    )
    if not plain or "available_kv_gib" not in reported:
        return None
    block_size = arguments["block_size"]
    if "gpu_kv_cache_tokens" in reported:
        tokens = int(reported["gpu_kv_cache_tokens"].replace(",", ""))
    elif "num_gpu_blocks" in reported:
        tokens = int(reported["num_gpu_blocks"].replace(",", "")) * block_size
    else:
        return None
    kv_cache_dtype = arguments.get("kv_cache_dtype", "auto")
    if kv_cache_dtype == "auto":
        torch_dtype = arguments.get("dtype") or shape.get("torch_dtype") or "bfloat16"
        kv_cache_dtype = OF_TORCH[torch_dtype]
    return Case(
        id=report["id"],
        model=report["model_shape"],
        layers=cached[0]["layers"],
        kv_heads=cached[0]["kv_heads"],
        head_dim=cached[0]["k_dim"],
        tensor_parallel=arguments.get("tensor_parallel_size", 1),
        element=kv_cache_bytes(kv_cache_dtype),
        block_size=block_size,
        available=reported["available_kv_gib"],
        tokens=tokens,
    )


@pytest.fixture(scope="module")
def cases(corpora: Path) -> list[Case]:
    folder = corpora / "engine-reports"
    reports = yaml.safe_load((folder / "reports.yaml").read_text("utf-8"))
    shapes = yaml.safe_load((folder / "shapes.yaml").read_text("utf-8"))
    found = [case for report in reports if (case := _case(report, shapes))]
    assert found, "no report is a plain case: has their form changed?"
    return found


def test_printed_tokens_follow_from_printed_memory(cases: list[Case]) -> None:
    missed = {(case.model, case.available): case.id for case in cases if not case.follows()}
    assert {key: id_ for key, id_ in missed.items() if key not in DO_NOT_FOLLOW} == {}


def test_a_perturbed_shape_loses_most_cases(cases: list[Case]) -> None:
    more_heads = sum(case.one_kv_head_more_on_each_rank().follows() for case in cases)
    more_layers = sum(case.one_layer_more().follows() for case in cases)
    assert more_heads == 0
    assert more_layers <= len(cases) // 10
