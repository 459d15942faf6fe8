from __future__ import annotations

import re
from dataclasses import replace

from arithmetic_examples import LLAMA_8B, Deployment, Device
from upheld.arithmetic.ledger import ledger
from upheld.records.units import parse_quantity
from upheld.report.memory_text import ledger_as_text


def test_the_text_says_first_that_it_is_no_measurement() -> None:
    text = ledger_as_text("one-device", ledger(Deployment(), LLAMA_8B, Device()))
    assert text.startswith("Arithmetic, not a measurement\n")
    assert "Fits with 32 sequences of 8,192 tokens: " in text
    assert "16,094,142,464 B     14.99 GiB" in text
    assert "Given: device-source, runtime-assumption, shape-source." in text


def test_too_much_is_said_with_how_much() -> None:
    small = Device(memory=parse_quantity("16 GiB"))
    text = ledger_as_text("one-device", ledger(Deployment(), LLAMA_8B, small))
    assert "Does not fit with 32 sequences of 8,192 tokens: " in text
    assert "(36.59 GiB) too much." in text
    assert "  left for the KV cache  " in text
    assert "budget less weights and runtime" in text


def section(text: str, heading: str) -> list[list[str]]:
    """The lines below a heading, in columns."""
    (found,) = (each for each in text.split("\n\n") if each.startswith(heading))
    return [re.split(r"  +", line.strip()) for line in found.split("\n")[1:]]


def test_every_row_stands_in_its_column() -> None:
    text = ledger_as_text("one-device", ledger(Deployment(), LLAMA_8B, Device()))
    memory = {row[0]: row[1:] for row in section(text, "Memory of one device")}
    assert memory["total"][2] == "sum of the above"
    assert memory["budget"][1] == "72.00 GiB"
    capacity = {row[0]: row[1:] for row in section(text, "Capacity")}
    assert capacity["one token"] == ["131,072 B", "128.00 KiB", "in all layers that have attention"]
    assert capacity["devices needed"] == ["1", "fewest, a power of two, for one replica"]
    lines = text.split("\n")
    start = lines.index("Memory of one device") + 1
    ends = {line.index(" B ") for line in lines[start : lines.index("", start)]}
    assert len(ends) == 1


def test_what_fits_at_no_degree_is_said() -> None:
    tiny = Device(memory=parse_quantity("4.5 GiB"))
    text = ledger_as_text("one-device", ledger(Deployment(), LLAMA_8B, tiny))
    (row,) = (row for row in section(text, "Capacity") if row[0] == "devices needed")
    assert row[1:] == ["the replica fits at no degree that divides its heads"]


def test_without_runtime_nothing_says_that_it_simply_fits() -> None:
    found = ledger(replace(Deployment(), runtime_memory=None), LLAMA_8B, Device())
    text = ledger_as_text("one-device", found)
    assert "Weights and KV fit with 32 sequences of 8,192 tokens; runtime not stated." in text
    assert "Capacity, at most: runtime memory is not stated" in text
    assert "not stated, and left out of the total" in text
    assert "Fits" not in text
    assert "budget less weights\n" in text
    small = replace(Deployment(), runtime_memory=None), LLAMA_8B, Device(parse_quantity("16 GiB"))
    text = ledger_as_text("one-device", ledger(*small))
    assert "too much, before any runtime memory, which is not stated." in text


def test_one_sequence_is_one() -> None:
    found = ledger(replace(Deployment(), max_num_seqs=1), LLAMA_8B, Device())
    assert "Fits with 1 sequence of 8,192 tokens: " in ledger_as_text("one-device", found)


def test_control_characters_are_written_out_wherever_they_came_from() -> None:
    hostile = replace(LLAMA_8B, origin="\x1b[31mred\u202e\n")
    text = ledger_as_text("one\x07", ledger(Deployment(), hostile, Device()), ["a\rb"])
    assert text.replace("\n", "").isprintable()
    assert r"\x1b[31mred\u202e\n" in text


def test_concurrency_is_in_blocks_of_a_whole_sequence() -> None:
    text = ledger_as_text("one-device", ledger(Deployment(), LLAMA_8B, Device()))
    (row,) = (row for row in section(text, "Capacity") if row[0] == "concurrency")
    assert row[2] == "blocks / 512 blocks a sequence"


def test_one_long_value_does_not_push_the_origins_of_the_others_away() -> None:
    scaled = replace(LLAMA_8B, rope_scaling={"rope_type": "llama3", "factor": 8.0, "low": 1.0})
    text = ledger_as_text("one-device", ledger(Deployment(), scaled, Device()))
    (line,) = (each for each in text.split("\n") if each.startswith("  hidden_size "))
    assert len(line) < 60
    (line,) = (each for each in text.split("\n") if each.startswith("  rope_scaling "))
    assert line.endswith("rope_type llama3  shape-source")
