"""The logs are written by hand in SGLang's form; their numbers describe no engine."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from upheld.measured.read import read_file
from upheld.measured.reading import FileReading

LOG = Path(__file__).parents[2] / "corpora" / "benchmarks" / "sglang-startup-tp2.log"
Read = Callable[[str], FileReading]


def changed(*changes: tuple[str, str]) -> FileReading:
    text = LOG.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return read_file("engine.log", text.encode())


def test_gb_is_gib_and_the_rank_that_limits_is_taken(read: Read) -> None:
    reading = read("sglang-startup-tp2.log")
    assert (reading.format, reading.tool, reading.tool_version) == (
        "sglang-startup-log",
        "SGLang",
        None,
    )
    (row,) = reading.rows
    weights, tokens, of_a_token = row.figures
    assert (weights.name, weights.value, weights.unit) == (
        "memory.weights",
        Fraction("7.6"),
        "GiB",
    )
    assert (weights.rounding, weights.note) == (
        Fraction("0.005"),
        "the most of 2 that ranks or engines print",
    )
    assert (tokens.name, tokens.value) == ("capacity.tokens", 367404)
    assert (of_a_token.name, of_a_token.unit) == ("memory.kv_cache_per_token", "B")
    assert abs(of_a_token.value - 4 * 128 * 2 * 32 * 2) <= of_a_token.rounding < 40
    assert reading.all_findings == ()


def test_the_pool_is_stated_and_no_figure_since_it_fills_what_is_left(read: Read) -> None:
    (row,) = read("sglang-startup-tp2.log").rows
    assert row.figure("memory.kv_cache") is None
    assert row.stated["kv_cache_pools"] == "367,404 tokens in K 11.21 and V 11.21 GiB"


def test_the_arguments_of_the_server_are_the_envelope(read: Read) -> None:
    (row,) = read("sglang-startup-tp2.log").rows
    assert row.envelope == {
        "engine": "SGLang",
        "model": "example-org/example-8b",
        "weight_dtype": "bf16",
        "kv_cache_dtype": "bf16",
        "tensor_parallel": 2,
        "device_count": 2,
        "max_model_len": 131072,
        "prefix_caching": True,
        "speculative_decoding": "none",
    }
    assert row.not_stated == ("model_revision", "engine_version", "device")
    assert row.stated["max_running_requests"] == "2,049"


@pytest.mark.parametrize(
    ("changes", "dtype"),
    [
        ((("kv_cache_dtype='auto'", "kv_cache_dtype='fp8_e5m2'"),), "bf16"),
        (
            (
                ("kv_cache_dtype='auto'", "kv_cache_dtype='fp8_e5m2'"),
                ("Using KV cache dtype: torch.bfloat16", "Ready"),
            ),
            "fp8",
        ),
        ((("allocated. #", "allocated. dtype: torch.float8_e4m3fn, #"),), "fp8"),
    ],
)
def test_what_a_pool_was_allotted_in_outweighs_the_argument(
    changes: tuple[tuple[str, str], ...], dtype: str
) -> None:
    (row,) = changed(*changes).rows
    assert row.envelope["kv_cache_dtype"] == dtype


def test_a_quantised_model_leaves_the_weight_dtype_open() -> None:
    (row,) = changed(("quantization=None", "quantization='fp8'")).rows
    assert "weight_dtype" in row.not_stated
    assert row.stated["quantization"] == "fp8"


def test_a_draft_model_is_loaded_beside_the_model_on_each_rank() -> None:
    draft = (
        "[2026-03-01 10:14:58 TP0] Load weight end. elapsed=0.5 s, type=LlamaForCausalLMEagle, "
        "avail mem=47.02 GB, mem usage=0.90 GB.\n"
        "[2026-03-01 10:14:59 TP0] KV Cache is allocated. #tokens: 367404, K size: 0.35 GB, "
        "V size: 0.35 GB\n"
    )
    last = "[2026-03-01 10:15:20 TP0]"
    (row,) = changed((last, draft + last)).rows
    weights = row.figure("memory.weights")
    assert weights is not None
    assert (weights.value, weights.rounding) == (Fraction("8.5"), Fraction("0.01"))
    assert weights.note is not None
    assert "draft model" in weights.note
    assert row.figure("memory.kv_cache_per_token") is None


def test_older_lines_do_not_say_what_loading_took() -> None:
    (row,) = changed((", mem usage=7.59 GB", ""), (", mem usage=7.60 GB", "")).rows
    assert row.figure("memory.weights") is None
    assert row.figure("capacity.tokens") is not None


def test_ranks_that_share_attention_are_no_more_devices() -> None:
    (row,) = changed(
        ("dp_size=1, enable_dp_attention=False", "dp_size=2, enable_dp_attention=True")
    ).rows
    assert row.envelope["device_count"] == 2


def test_a_server_without_memory_for_a_cache_did_not_start() -> None:
    lines = LOG.read_text(encoding="utf-8").splitlines()[:6]
    lines.append(
        "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static. "
        "Current value: self.server_args.mem_fraction_static=0.1"
    )
    (finding,) = read_file("engine.log", "\n".join(lines).encode()).all_findings
    assert (finding.rule, finding.severity, finding.place.line) == ("UPH504", "error", 7)


def test_a_log_cut_before_the_cache_says_so() -> None:
    text = "\n".join(LOG.read_text(encoding="utf-8").splitlines()[:6])
    (finding,) = read_file("engine.log", text.encode()).all_findings
    assert (finding.rule, finding.severity) == ("UPH504", "warning")


def test_each_start_is_a_row_of_its_own() -> None:
    text = LOG.read_text(encoding="utf-8")
    reading = read_file("engine.log", (text + text).encode())
    assert [row.case for row in reading.rows] == ["start 1", "start 2"]


@pytest.mark.parametrize(
    "text",
    [
        "KV Cache is allocated. #tokens: 367404, K size: 8.23 GB, V size: 8.23 GB",
        "[2026-03-01 10:14:56] The server is fired up and ready to roll!",
        "[2026-03-01 10:14:56] KV Cache is allocated. #tokens: " + "9" * 4000,
    ],
)
def test_a_line_that_was_quoted_is_no_log(text: str) -> None:
    assert read_file("engine.log", text.encode()).format == "unknown"
