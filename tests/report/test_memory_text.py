from __future__ import annotations

from dataclasses import replace

from arithmetic_examples import LLAMA_8B, Deployment, Device
from upheld.arithmetic.ledger import ledger
from upheld.records.units import parse_quantity
from upheld.report.memory_text import ledger_as_text


def test_the_text_says_first_that_it_is_no_measurement() -> None:
    text = ledger_as_text("one-device", ledger(Deployment(), LLAMA_8B, Device()))
    assert text.startswith("Arithmetic, not a measurement\n")
    assert "Fits with 32 sequences of 8,192 tokens: " in text
    assert "16,060,522,496 B     14.96 GiB" in text
    assert "Given: device-source, runtime-assumption, shape-source." in text


def test_too_much_is_said_with_how_much() -> None:
    small = Device(memory=parse_quantity("16 GiB"))
    text = ledger_as_text("one-device", ledger(Deployment(), LLAMA_8B, small))
    assert "Does not fit with 32 sequences of 8,192 tokens: " in text
    assert "(36.56 GiB) too much." in text


def test_without_runtime_nothing_says_that_it_simply_fits() -> None:
    found = ledger(replace(Deployment(), runtime_memory=None), LLAMA_8B, Device())
    text = ledger_as_text("one-device", found)
    assert "Weights and KV fit with 32 sequences of 8,192 tokens; runtime not stated." in text
    assert "Capacity, at most: runtime memory is not stated" in text
    assert "not stated, and left out of the total" in text
    assert "Fits" not in text


def test_control_characters_are_written_out_wherever_they_came_from() -> None:
    hostile = replace(LLAMA_8B, origin="\x1b[31mred\u202e\n")
    text = ledger_as_text("one\x07", ledger(Deployment(), hostile, Device()), ["a\rb"])
    assert text.replace("\n", "").isprintable()
    assert r"\x1b[31mred\u202e\n" in text
