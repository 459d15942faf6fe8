from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arithmetic_examples import (
    GRANITE_4_H_1B,
    LLAMA_8B,
    LLAMA_70B,
    Deployment,
    Device,
    Listed,
    Runtime,
)
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention
from upheld.arithmetic.ledger import METRICS, devices_needed, ledger
from upheld.arithmetic.sums import sum_of
from upheld.arithmetic.weights import weights
from upheld.records import metrics
from upheld.records.units import parse_quantity

GIB = 2**30


def test_the_total_is_its_three_terms() -> None:
    found = ledger(Deployment(), LLAMA_8B, Device())
    assert [term.name for term in found.terms] == ["weights", "kv_cache", "runtime"]
    assert found.kv_cache.bytes == 32 * GIB
    assert found.weights.bytes == weights(Deployment(), LLAMA_8B, 1).bytes
    assert found.device_total == found.weights.bytes + 32 * GIB + 4 * GIB
    assert found.budget.bytes == 72 * GIB
    assert found.fits


def test_capacity_is_what_weights_and_runtime_leave_in_whole_blocks() -> None:
    found = ledger(Deployment(), LLAMA_8B, Device())
    assert found.available_kv == 72 * GIB - 4 * GIB - found.weights.bytes
    assert found.block_bytes == 16 * 131_072
    assert found.blocks == found.available_kv // found.block_bytes
    assert found.tokens == found.blocks * 16
    assert found.max_concurrency == Fraction(found.tokens, 8192)
    assert found.sequences == found.blocks // 512


def test_a_sequence_takes_whole_blocks() -> None:
    longer = replace(Deployment(), max_model_len=parse_quantity("8193 tokens"))
    found = ledger(longer, LLAMA_8B, Device())
    assert found.kv_cache.bytes == 32 * 513 * found.block_bytes
    assert found.sequences == found.blocks // 513


def test_everything_exactly_at_the_budget_fits_and_a_byte_more_does_not() -> None:
    total = ledger(Deployment(), LLAMA_8B, Device()).device_total
    whole = replace(Deployment(), gpu_memory_utilization=Fraction(1))
    exact = Device(memory=parse_quantity(f"{total} B"))
    short = Device(memory=parse_quantity(f"{total - 1} B"))
    assert ledger(whole, LLAMA_8B, exact).fits
    assert not ledger(whole, LLAMA_8B, short).fits


def test_no_room_for_the_cache_is_no_tokens_and_not_a_negative_number() -> None:
    found = ledger(Deployment(), LLAMA_8B, Device(memory=parse_quantity("16 GiB")))
    assert found.available_kv < 0
    assert (found.blocks, found.tokens, found.sequences, found.max_concurrency) == (0, 0, 0, 0)
    assert not found.fits


def test_runtime_that_nobody_stated_is_left_out_and_never_worked_out() -> None:
    stated = ledger(Deployment(), LLAMA_8B, Device())
    found = ledger(replace(Deployment(), runtime_memory=None), LLAMA_8B, Device())
    assert found.runtime is None
    assert found.device_total == stated.device_total - 4 * GIB


def test_given_are_the_origins_of_facts_and_what_the_deployment_assumes() -> None:
    shape = replace(LLAMA_8B, origins={"head_dim": "head-assumption"})
    found = ledger(replace(Deployment(), assumes=("load",)), shape, Device())
    assert found.given == (
        "device-source",
        "head-assumption",
        "load",
        "runtime-assumption",
        "shape-source",
    )
    assert "head-assumption" in found.kv_cache.given
    inputs = {item.name: item.origin for item in found.kv_cache.inputs}
    assert inputs["block_size"] == "one-device"
    assert inputs["head_dim"] == "head-assumption"


def test_weight_quantisation_frees_memory_and_leaves_the_token_as_it_is() -> None:
    plain = ledger(Deployment(), LLAMA_8B, Device())
    int8 = ledger(replace(Deployment(), weight_dtype="int8"), LLAMA_8B, Device())
    fp8_cache = ledger(replace(Deployment(), kv_cache_dtype="fp8"), LLAMA_8B, Device())
    assert int8.kv_bytes_per_token == plain.kv_bytes_per_token == 131_072
    assert int8.tokens > plain.tokens
    assert fp8_cache.kv_bytes_per_token == 65_536
    assert fp8_cache.weights.bytes == plain.weights.bytes


@pytest.mark.parametrize(
    ("deployment", "field"),
    [
        (replace(Deployment(), engine="other"), "engine"),
        (replace(Deployment(), max_model_len=parse_quantity("0.5 tokens")), "max_model_len"),
        (replace(Deployment(), kv_cache_dtype="fp4"), "kv_cache_dtype"),
        (replace(Deployment(), tensor_parallel=3), "tensor_parallel"),
    ],
)
def test_choices_that_do_not_work_name_their_field(deployment: Deployment, field: str) -> None:
    with pytest.raises(ShapeError) as raised:
        ledger(deployment, LLAMA_8B, Device())
    assert raised.value.field == field


def test_devices_are_the_fewest_at_which_it_fits_whatever_the_deployment_has() -> None:
    small = replace(Deployment(), max_num_seqs=1)
    assert devices_needed(small, LLAMA_8B, Device()) == 1
    assert devices_needed(small, LLAMA_70B, Device()) == 2
    assert ledger(replace(small, tensor_parallel=8), LLAMA_70B, Device()).devices == 2


def test_no_number_of_devices_is_said_and_its_metric_refused() -> None:
    tiny = Device(memory=parse_quantity("4 GiB"))
    found = ledger(Deployment(), LLAMA_8B, tiny)
    assert found.devices is None
    with pytest.raises(ShapeError, match="fits at no degree"):
        METRICS["capacity.devices"](found)


def test_metrics_are_those_that_arithmetic_may_carry() -> None:
    carried = {name for name, row in metrics.METRICS.items() if "arithmetic" in row.shown_by}
    assert set(METRICS) == carried
    found = ledger(Deployment(), LLAMA_8B, Device())
    assert METRICS["memory.kv_cache_per_token"](found) == 131_072
    assert all(METRICS[name](found) > 0 for name in METRICS)


@given(st.integers(1, 200), st.integers(1, 200), st.integers(1, 4000))
def test_more_runtime_never_leaves_more_tokens(memory: int, runtime: int, more: int) -> None:
    device = Device(memory=parse_quantity(f"{memory} GiB"))

    def tokens(mib: int) -> int:
        stated = Runtime(size=parse_quantity(f"{mib} MiB"))
        return ledger(replace(Deployment(), runtime_memory=stated), LLAMA_8B, device).tokens

    assert tokens(runtime + more) <= tokens(runtime)


HYBRID = replace(
    Deployment(),
    max_model_len=parse_quantity("4096 tokens"),
    max_num_batched_tokens=2048,
    max_num_seqs=1,
    weight_memory=Runtime(parse_quantity("2.72 GiB"), "start-up-log"),
)


def test_a_hybrid_is_laid_out_as_the_engine_does_it() -> None:
    found = ledger(HYBRID, GRANITE_4_H_1B, Device())
    assert found.block_size == 400
    # 11 blocks of 400 tokens for the attention layers, and one of each state group.
    assert found.blocks_of_a_sequence == 11 + 9
    assert found.kv_cache.bytes == 20 * found.block_bytes
    assert [part.name for part in found.kv_cache.parts] == ["full_attention", "mamba2"]
    assert sum(part.bytes for part in found.kv_cache.parts) == found.kv_cache.bytes
    assert found.tokens == found.blocks // 10 * 400
    assert found.kv_bytes_per_token == 4 * 4 * 128 * 2 * 2


def test_stated_weights_are_not_worked_out_and_say_where_they_came_from() -> None:
    found = ledger(HYBRID, GRANITE_4_H_1B, Device())
    assert found.weights.stated
    assert found.weights.given == ("start-up-log",)
    assert not found.kv_cache.stated


def test_weights_of_listed_layers_are_refused_where_nobody_states_them() -> None:
    with pytest.raises(ShapeError) as raised:
        ledger(replace(HYBRID, weight_memory=None), GRANITE_4_H_1B, Device())
    assert raised.value.field == "weights"


def test_an_unknown_kind_of_attention_is_never_taken_for_a_plain_one() -> None:
    with pytest.raises(ShapeError, match="'linear' is not known"):
        ledger(HYBRID, replace(LLAMA_8B, attention="linear"), Device())


def test_a_window_bounds_what_a_sequence_needs() -> None:
    sliding = replace(
        LLAMA_8B,
        attention="listed",
        cached_layers=(
            Listed("full", 16, kv_heads=8, k_dim=128, v_dim=128),
            Listed("sliding", 16, kv_heads=8, k_dim=128, v_dim=128, window=1024),
        ),
    )
    long = replace(HYBRID, max_model_len=parse_quantity("131072 tokens"))
    windowed = ledger(long, sliding, Device()).kv_cache.bytes
    assert windowed < ledger(long, LLAMA_8B, Device()).kv_cache.bytes * 0.6


DEEPSEEK_SPARSE = replace(
    LLAMA_8B,
    attention="listed",
    weights_unknown="they are stated",
    cached_layers=(LatentAttention(61, 512, 64, index_dim=128),),
)


@pytest.mark.parametrize(("dtype", "row"), [("bf16", 576 * 2 + 132), ("fp8", 656 + 132)])
def test_a_token_and_a_block_of_it_agree(dtype: str, row: int) -> None:
    found = ledger(replace(HYBRID, kv_cache_dtype=dtype), DEEPSEEK_SPARSE, Device())
    assert found.kv_bytes_per_token == 61 * row
    assert found.block_bytes == 16 * found.kv_bytes_per_token
    assert "132 B of the indexer" in found.kv_token_formula
    assert found.kv_token_formula in found.kv_cache.formula


def test_parts_of_the_cache_are_what_a_sequence_needs_whatever_its_blocks() -> None:
    layers = (
        FullAttention(10, 8, 128, 128),
        FullAttention(10, 4, 128, 128),
        SlidingAttention(10, 8, 128, 128, 1024),
    )
    model = replace(GRANITE_4_H_1B, cached_layers=layers)
    found = ledger(HYBRID, model, Device())
    assert found.kv_cache.bytes == sum(need.bytes for need in found.plan.needs(1, 4096))
    assert sum(part.bytes for part in found.kv_cache.parts) == found.kv_cache.bytes


def test_stated_weights_say_how_many_devices_are_needed_only_where_one_is_enough() -> None:
    one = ledger(HYBRID, GRANITE_4_H_1B, Device())
    assert (one.devices, one.devices_problem) == (1, None)
    two = ledger(replace(HYBRID, tensor_parallel=2), GRANITE_4_H_1B, Device())
    assert two.fits
    tiny = ledger(HYBRID, GRANITE_4_H_1B, Device(memory=parse_quantity("2 GiB")))
    for found, words in ((two, "stated for 2 devices"), (tiny, "stated for 1 device a replica")):
        assert found.devices is None
        with pytest.raises(ShapeError, match=words):
            METRICS["capacity.devices"](found)


def test_a_state_is_kept_in_the_dtype_that_the_weights_are_loaded_in() -> None:
    stored_wide = replace(GRANITE_4_H_1B, torch_dtype="float32")
    assert HYBRID.weight_dtype == "bf16"
    assert ledger(HYBRID, stored_wide, Device()).block_size == 400
    wide = replace(HYBRID, weight_dtype="fp32")
    assert ledger(wide, stored_wide, Device()).block_size == 800


def test_what_nobody_stated_of_a_step_is_shown_with_the_figure_that_was_used() -> None:
    model = replace(GRANITE_4_H_1B, cached_layers=(SlidingAttention(4, 4, 128, 128, 1024),))
    unstated = replace(HYBRID, max_num_batched_tokens=None)
    small = Device(memory=parse_quantity("24 GiB"))
    for device, batched in ((Device(), 8192), (small, 2048)):
        inputs = {item.name: item for item in ledger(unstated, model, device).kv_cache.inputs}
        assert inputs["max_num_batched_tokens"].value == batched
        assert "not stated" in inputs["max_num_batched_tokens"].origin
    stated = {item.name: item for item in ledger(HYBRID, model, small).kv_cache.inputs}
    assert stated["max_num_batched_tokens"].origin == "one-device"


def test_the_sum_behind_each_metric_has_a_figure_on_both_sides() -> None:
    for version in ("0.19", "0.21"):
        found = ledger(replace(HYBRID, engine_version=version), GRANITE_4_H_1B, Device())
        for metric in METRICS:
            assert sum_of(metric, found).formula.strip(), metric
        assert f"= {found.tokens:,} tokens" in sum_of("capacity.tokens", found).formula
    assert sum_of("memory.weights", found).formula == "stated, not worked out"
    assert "groups of layers" not in sum_of("capacity.tokens", found).formula
    assert sum_of("memory.kv_cache_per_token", found).formula == (
        "4 layers × 4 KV heads × 128 × 2 (K and V) × 2 B"
    )
