from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from arithmetic_examples import LLAMA_8B, Deployment, Device
from upheld.arithmetic.ledger import ledger
from upheld.arithmetic.solve import LONGEST, least_share, longest_context
from upheld.records.units import parse_quantity


def test_the_longest_context_fits_and_one_token_more_does_not() -> None:
    longest = longest_context(ledger(Deployment(), LLAMA_8B, Device()))
    for tokens, fits in ((longest, True), (longest + 1, False)):
        length = parse_quantity(f"{tokens} tokens")
        assert ledger(replace(Deployment(), max_model_len=length), LLAMA_8B, Device()).fits is fits


@given(st.integers(1, 64), st.integers(1, 40))
def test_the_least_share_fits_and_a_little_less_does_not(sequences: int, kibi: int) -> None:
    asked = replace(
        Deployment(),
        max_num_seqs=sequences,
        max_model_len=parse_quantity(f"{kibi * 1024} tokens"),
    )
    share = least_share(ledger(asked, LLAMA_8B, Device()))
    if share is None:
        whole = replace(asked, gpu_memory_utilization=Fraction(1))
        assert not ledger(whole, LLAMA_8B, Device()).fits
        return
    for tried, fits in ((share, True), (share - Fraction(1, 10_000), False)):
        assert ledger(replace(asked, gpu_memory_utilization=tried), LLAMA_8B, Device()).fits is fits


def test_nothing_fits_where_the_weights_take_all() -> None:
    found = ledger(Deployment(), LLAMA_8B, Device(memory=parse_quantity("16 GiB")))
    assert longest_context(found) == 0
    assert least_share(found) is None


def test_windows_alone_hold_any_length() -> None:
    from types import SimpleNamespace

    layers = SimpleNamespace(
        kind="sliding", layers=32, kv_heads=8, k_dim=128, v_dim=128, window=1024
    )
    windowed = replace(LLAMA_8B, attention="listed", cached_layers=(layers,))
    assert longest_context(ledger(Deployment(), windowed, Device())) == LONGEST
