"""What must hold for every shape: memory grows in each factor, and shards sum to the whole."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arithmetic_examples import Deployment, Device, Model
from upheld.arithmetic.ledger import ledger
from upheld.records.units import parse_quantity


@st.composite
def shapes(draw: st.DrawFn) -> Model:
    """A dense decoder: KV heads divide the query heads, heads are of an even width."""
    kv_heads = draw(st.sampled_from([1, 2, 4, 8]))
    heads = kv_heads * draw(st.sampled_from([1, 2, 4, 8]))
    head_dim = 2 * draw(st.integers(16, 128))
    return replace(
        Model(),
        num_hidden_layers=draw(st.integers(1, 100)),
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        head_dim=head_dim,
        hidden_size=heads * head_dim,
        intermediate_size=draw(st.integers(1, 400)) * 64,
        vocab_size=draw(st.integers(1000, 300_000)),
    )


def cache_bytes(model: Model, **changed: Any) -> int:
    return ledger(replace(Deployment(), **changed), model, Device()).kv_cache.bytes


def tensor_bytes(model: Model, **changed: Any) -> int:
    """The weights' tensors, without what PyTorch's allocator rounds them up to."""
    weights = ledger(replace(Deployment(), **changed), model, Device()).weights
    rounding = [part for part in weights.parts if part.name == "allocator rounding"]
    assert len(rounding) == 1
    return weights.bytes - rounding[0].bytes


@given(model=shapes())
@pytest.mark.parametrize(
    ("field", "more"),
    [("num_hidden_layers", 1), ("head_dim", 2)],
)
def test_a_larger_shape_has_a_larger_cache_and_more_weights(
    field: str, more: int, model: Model
) -> None:
    larger = replace(model, **{field: getattr(model, field) + more})
    assert cache_bytes(larger) > cache_bytes(model)
    assert tensor_bytes(larger) > tensor_bytes(model)


@given(model=shapes())
def test_twice_the_kv_heads_are_twice_the_cache(model: Model) -> None:
    doubled = replace(
        model,
        num_key_value_heads=2 * model.num_key_value_heads,
        num_attention_heads=2 * model.num_attention_heads,
    )
    assert cache_bytes(doubled) == 2 * cache_bytes(model)


@given(model=shapes())
@pytest.mark.parametrize("field", ["intermediate_size", "vocab_size"])
def test_what_no_token_is_kept_of_leaves_the_cache_as_it_is(field: str, model: Model) -> None:
    larger = replace(model, **{field: getattr(model, field) + 4096})
    assert cache_bytes(larger) == cache_bytes(model)
    assert tensor_bytes(larger) > tensor_bytes(model)


@given(model=shapes(), sequences=st.integers(1, 500), blocks=st.integers(1, 2000))
def test_the_cache_grows_with_sequences_and_with_each_block_of_context(
    model: Model, sequences: int, blocks: int
) -> None:
    def cache(seqs: int, tokens: int) -> int:
        context = parse_quantity(f"{tokens} tokens")
        return cache_bytes(model, max_num_seqs=seqs, max_model_len=context)

    whole = cache(sequences, 16 * blocks)
    assert cache(sequences + 1, 16 * blocks) * sequences == whole * (sequences + 1)
    assert cache(sequences, 16 * blocks + 1) == cache(sequences, 16 * blocks + 16) > whole
    assert cache(sequences, 16 * blocks - 15) == whole


@given(model=shapes(), degree=st.sampled_from([2, 4, 8]))
def test_the_shards_of_the_cache_sum_to_the_whole_and_the_heads_that_are_copied(
    model: Model, degree: int
) -> None:
    sharded = replace(model, num_attention_heads=8 * model.num_attention_heads)
    copies = max(1, degree // model.num_key_value_heads)
    shards = degree * cache_bytes(sharded, tensor_parallel=degree)
    assert shards == copies * cache_bytes(sharded)


@given(model=shapes(), degree=st.sampled_from([2, 4, 8]))
def test_the_shards_of_the_weights_are_never_less_than_the_whole(model: Model, degree: int) -> None:
    heads = 8 * model.num_attention_heads
    sharded = replace(
        model,
        num_attention_heads=heads,
        hidden_size=heads * model.head_dim,
        intermediate_size=8 * model.intermediate_size,
    )
    one = tensor_bytes(sharded, tensor_parallel=degree)
    assert tensor_bytes(sharded) <= degree * one
    assert one < tensor_bytes(sharded)
