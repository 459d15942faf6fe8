from __future__ import annotations

from dataclasses import replace

from arithmetic_examples import LLAMA_8B, Deployment, Device, Runtime
from upheld.arithmetic.compare import ways_to_use
from upheld.arithmetic.ledger import ledger
from upheld.records.units import parse_quantity


def test_replicas_repeat_the_weights_and_a_sharded_one_shares_them() -> None:
    whole, sharded, _ = ways_to_use(Deployment(), LLAMA_8B, Device(), 2)
    assert whole.ledger is not None
    assert sharded.ledger is not None
    assert whole.ledger.weights.bytes == ledger(Deployment(), LLAMA_8B, Device()).weights.bytes
    assert sharded.ledger.weights.bytes < whole.ledger.weights.bytes * 0.51
    assert whole.tokens == 2 * whole.ledger.tokens
    # Weights that are not repeated leave more for the cache of both devices together.
    assert sharded.tokens is not None
    assert sharded.tokens > whole.tokens


def test_a_lost_device_takes_its_replica_with_it() -> None:
    whole, sharded, _ = ways_to_use(Deployment(), LLAMA_8B, Device(), 4)
    assert whole.sequences is not None
    assert whole.left_after_a_loss == whole.sequences * 3 // 4
    assert sharded.left_after_a_loss == 0


def test_a_way_that_cannot_be_says_why() -> None:
    whole, sharded, _ = ways_to_use(Deployment(), LLAMA_8B, Device(), 3)
    assert whole.problem is None
    assert sharded.tokens is None
    assert sharded.problem is not None
    assert "3 devices can't share" in sharded.problem


def test_stated_weights_say_nothing_of_another_degree() -> None:
    stated = replace(Deployment(), weight_memory=Runtime(parse_quantity("15 GiB"), "log"))
    whole, sharded, _ = ways_to_use(stated, LLAMA_8B, Device(), 2)
    assert whole.ledger is not None
    assert sharded.ledger is None
    assert sharded.problem == "weights are stated for 1 device a replica alone"


def test_stages_share_the_weights_by_layer_and_hold_a_sequence_in_all_of_them() -> None:
    whole, _, staged = ways_to_use(Deployment(), LLAMA_8B, Device(), 2)
    assert whole.ledger is not None
    assert staged.ledger is not None
    first, last = staged.ledger.stages
    assert first.kv_bytes_per_token == last.kv_bytes_per_token == 131_072 // 2
    assert first.weights.bytes < whole.ledger.weights.bytes
    assert staged.tokens == min(first.tokens, last.tokens)
    assert staged.left_after_a_loss == 0
