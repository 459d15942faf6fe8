from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from arithmetic_examples import LLAMA_8B, Deployment, Device
from upheld.arithmetic.ledger import ledger
from upheld.report.memory_json import ledger_as_json


def _sum_of_leaves(term: dict[str, Any]) -> int:
    parts = term["parts"]
    return sum(map(_sum_of_leaves, parts)) if parts else int(term["bytes"])


def test_the_shape_that_scripts_rely_on() -> None:
    found = ledger_as_json(ledger(Deployment(), LLAMA_8B, Device()), ("a note",))
    assert json.loads(json.dumps(found)) == found
    assert found["version"] == 1
    assert [term["name"] for term in found["terms"]] == ["weights", "kv_cache", "runtime"]
    assert all(term["bytes"] == _sum_of_leaves(term) for term in found["terms"])
    assert found["per_device"]["total"] == sum(term["bytes"] for term in found["terms"])
    capacity = found["capacity"]
    assert capacity["tokens"] == capacity["blocks"] * capacity["block_size"]
    assert capacity["at_context"] == 8192
    assert found["fits"] is True
    assert found["not_stated"] == []
    assert found["notes"] == ["a note"]


def test_inputs_keep_their_value_and_origin() -> None:
    found = ledger_as_json(ledger(Deployment(), LLAMA_8B, Device()))
    inputs = {item["name"]: item for item in found["budget"]["inputs"]}
    assert inputs["gpu_memory_utilization"]["value"] == 0.9
    assert inputs["memory"] == {"name": "memory", "value": 80 * 2**30, "origin": "device-source"}


def test_what_is_not_stated_is_named() -> None:
    found = ledger_as_json(ledger(replace(Deployment(), runtime_memory=None), LLAMA_8B, Device()))
    assert found["not_stated"] == ["runtime_memory"]
    assert found["per_device"]["runtime"] is None
