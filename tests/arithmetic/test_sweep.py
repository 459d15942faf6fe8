from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from arithmetic_examples import LLAMA_8B, Deployment, Device, Runtime
from upheld.arithmetic.ledger import ledger
from upheld.arithmetic.sweep import FIELDS, sweep
from upheld.records.units import parse_quantity


def test_each_combination_is_the_ledger_of_that_deployment() -> None:
    lengths = [parse_quantity("4096 tokens"), parse_quantity("8192 tokens")]
    axes = {"max_num_seqs": [1, 32], "max_model_len": lengths, "tensor_parallel": [1, 2]}
    points = list(sweep(Deployment(), LLAMA_8B, Device(), axes))
    assert len(points) == 8
    for point in points:
        own = ledger(replace(Deployment(), **point.changes), LLAMA_8B, Device())
        assert point.ledger is not None
        assert point.ledger.device_total == own.device_total
        assert point.ledger.tokens == own.tokens
        assert point.ledger.given == own.given


def test_what_does_not_work_is_a_point_with_its_problem_and_stops_nothing() -> None:
    one, three, two = sweep(Deployment(), LLAMA_8B, Device(), {"tensor_parallel": [1, 3, 2]})
    assert three.ledger is None
    assert three.problem is not None
    assert "3 devices can't share" in three.problem
    assert one.ledger is not None
    assert two.ledger is not None


def test_every_field_that_may_vary_changes_something() -> None:
    values = {
        "max_num_seqs": 7,
        "max_model_len": parse_quantity("1000 tokens"),
        "tensor_parallel": 2,
        "pipeline_parallel": 2,
        "data_parallel": 2,
        "decode_context_parallel": 2,
        "kv_cache_dtype": "fp8",
        "block_size": 3,
        "gpu_memory_utilization": Fraction(1, 2),
    }
    assert set(values) == set(FIELDS)
    for field, value in values.items():
        # Ranks share tokens only where they hold copies of the same heads.
        ranks = 16 if field == "decode_context_parallel" else 1
        deployment = replace(Deployment(), tensor_parallel=ranks)
        plain = ledger(deployment, LLAMA_8B, Device())
        (point,) = sweep(deployment, LLAMA_8B, Device(), {field: [value]})
        assert point.ledger is not None, point.problem
        assert (point.ledger.device_total, point.ledger.replica_tokens) != (
            plain.device_total,
            plain.replica_tokens,
        ), field


def test_stated_weights_are_those_of_one_degree() -> None:
    stated = replace(Deployment(), weight_memory=Runtime(parse_quantity("15 GiB"), "log"))
    one, two = sweep(stated, LLAMA_8B, Device(), {"tensor_parallel": [1, 2]})
    assert one.ledger is not None
    assert two.ledger is None
    assert two.problem == "weights are stated for 1 device a replica alone"
