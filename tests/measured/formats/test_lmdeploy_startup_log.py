"""The logs are written by hand in LMDeploy's form; their numbers describe no engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from upheld.measured.read import read_file
from upheld.measured.reading import FileReading

LOGS = Path(__file__).parents[2] / "corpora" / "benchmarks"
Read = Callable[[str], FileReading]


def changed(name: str, *changes: tuple[str, str]) -> FileReading:
    text = (LOGS / name).read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return read_file("engine.log", text.encode())


def test_tokens_are_blocks_of_the_length_that_the_engine_was_given(read: Read) -> None:
    reading = read("lmdeploy-startup-turbomind.log")
    assert (reading.format, reading.tool_version) == ("lmdeploy-startup-log", None)
    (row,) = reading.rows
    tokens, of_a_token = row.figures
    assert (tokens.name, tokens.value, tokens.unit) == ("capacity.tokens", 1740 * 64, "tokens")
    assert tokens.note == "blocks of 64 tokens that the log prints"
    # Eight bits, with a scale and a zero point of 4 bytes beside each of 8 heads in 32 layers.
    assert abs(of_a_token.value - 32 * 8 * 2 * (128 + 4)) <= of_a_token.rounding
    assert row.envelope == {
        "engine": "LMDeploy",
        "kv_cache_dtype": "int8",
        "tensor_parallel": 1,
        "device_count": 1,
        "max_model_len": 111360,
        "prefix_caching": False,
    }
    assert row.stated["block_size"] == "4.125 MiB"
    assert reading.all_findings == ()


def test_the_configuration_as_it_is_used_outweighs_what_was_asked_for() -> None:
    (row,) = changed(
        "lmdeploy-startup-turbomind.log",
        ("quant_policy=8", "quant_policy=0"),
        ("[TM][WARNING] No enough blocks", "[TM][WARNING] Blocks"),
    ).rows
    assert row.envelope["kv_cache_dtype"] == "bf16"
    assert row.envelope["max_model_len"] == 131072


def test_blocks_of_no_known_length_are_no_tokens() -> None:
    (row,) = changed("lmdeploy-startup-turbomind.log", ("cache_block_seq_len=64, ", "")).rows
    assert row.figures == ()
    (finding,) = row.findings
    assert (finding.rule, finding.severity) == ("UPH504", "warning")
    assert "how many tokens a block has" in finding.message
    assert row.stated["blocks"] == "1,740"


def test_a_size_that_was_cut_to_whole_mib_gives_no_bytes_of_a_token() -> None:
    (row,) = changed("lmdeploy-startup-turbomind.log", ("= 4.125 MB", "= 4 MB")).rows
    assert [each.name for each in row.figures] == ["capacity.tokens"]


def test_of_several_ranks_the_fewest_blocks_count() -> None:
    line = "[TM][INFO] [BlockManager] max_block_count = 1740\n"
    (row,) = changed(
        "lmdeploy-startup-turbomind.log", (line, line + line.replace("1740", "1738"))
    ).rows
    tokens = row.figure("capacity.tokens")
    assert tokens is not None
    assert tokens.value == 1738 * 64
    assert tokens.note is not None
    assert "the fewest of 2" in tokens.note


def test_the_pytorch_engine_keeps_reserved_blocks_for_itself(read: Read) -> None:
    (row,) = read("lmdeploy-startup-pytorch.log").rows
    (tokens,) = row.figures
    assert tokens.value == (6120 - 1) * 64
    assert row.envelope["max_model_len"] == 32768
    assert row.envelope["prefix_caching"] is True


@pytest.mark.parametrize(
    "text",
    [
        "[BlockManager] max_block_count = 863",
        "[TM][INFO] [BlockManager] block_size = 9.000 MB",
        "CacheConfig(max_batches=256, block_size=64, num_gpu_blocks=6120)",
    ],
)
def test_a_quoted_line_is_no_log(text: str) -> None:
    assert read_file("engine.log", text.encode()).format == "unknown"
