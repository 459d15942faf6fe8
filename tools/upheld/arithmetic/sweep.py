"""One ledger for each combination of some choices. Weights are worked out once for each storage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, cast

from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.facts import Accelerator, CachedModel, Choices
from upheld.arithmetic.ledger import Ledger, degree_problem, ledger_without_devices
from upheld.arithmetic.terms import Term
from upheld.arithmetic.varied import Varied

# What may vary, by the name of a deployment's field.
FIELDS = (
    "max_num_seqs", "max_model_len", "tensor_parallel", "pipeline_parallel", "data_parallel",
    "decode_context_parallel", "kv_cache_dtype", "block_size", "gpu_memory_utilization",
)  # fmt: skip
MAX_POINTS = 100_000


@dataclass(frozen=True, slots=True)
class Point:
    """One combination: what was changed, and its ledger, or why there is none."""

    changes: Mapping[str, Any]
    ledger: Ledger | None
    problem: str | None = None


def sweep(
    deployment: Choices,
    model: CachedModel,
    device: Accelerator,
    axes: Mapping[str, Sequence[Any]],
) -> Iterator[Point]:
    """A point for each combination of the values, the last axis varying fastest.

    A combination that does not work is a point with its problem, and stops nothing.
    """
    stored: dict[tuple[int, int, int], list[Term]] = {}
    for values in product(*axes.values()):
        changes = dict(zip(axes, values, strict=True))
        varied = cast(Choices, Varied(deployment, changes))
        ranks = varied.tensor_parallel
        problem = degree_problem(deployment, varied)
        if problem is not None:
            yield Point(changes, None, problem)
            continue
        try:
            split = (ranks, varied.pipeline_parallel, varied.data_parallel)
            found = ledger_without_devices(varied, model, device, ranks, stored.get(split, ()))
        except ShapeError as error:
            yield Point(changes, None, str(error))
            continue
        stored[split] = [each.weights for each in found.each_stage]
        yield Point(changes, found)
