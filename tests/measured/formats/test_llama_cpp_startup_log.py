"""The logs of b11434 are of starts by this project; the others are by hand, in the old forms."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from upheld.measured.read import read_file
from upheld.measured.reading import FileReading, Row

LOGS = Path(__file__).parents[2] / "corpora" / "benchmarks"

Read = Callable[[str], FileReading]


def text_of(name: str) -> str:
    return (LOGS / name).read_text(encoding="utf-8")


def read_text(text: str) -> FileReading:
    return read_file("server.log", text.encode())


def figures(row: Row) -> dict[str, tuple[Fraction, str]]:
    return {each.name: (each.value, each.unit) for each in row.figures}


def note_of(row: Row, name: str) -> str | None:
    figure = row.figure(name)
    assert figure is not None
    return figure.note


def test_caches_of_full_and_sliding_layers_are_one_memory(read: Read) -> None:
    reading = read("llama-cpp-startup-b11434.log")
    assert (reading.format, reading.tool_version) == ("llama-cpp-startup-log", "b11434")
    (row,) = reading.rows
    assert figures(row) == {
        "memory.weights": (Fraction("247.82"), "MiB"),
        "memory.kv_cache": (Fraction(54), "MiB"),
        "capacity.tokens": (Fraction(8192), "tokens"),
        "capacity.sequences": (Fraction(1), "sequences"),
    }
    assert {each.origin for each in row.figures} == {"reported"}
    assert [each.rounding for each in row.figures] == [Fraction("0.01"), Fraction("0.01"), 0, 0]
    assert reading.all_findings == ()


def test_the_settings_of_the_context_are_the_envelope(read: Read) -> None:
    (row,) = read("llama-cpp-startup-b11434.log").rows
    assert row.envelope == {
        "engine": "llama.cpp",
        "engine_version": "b11434",
        "model": "Gemma 3 270m",
        "kv_cache_dtype": "fp16",
        "max_model_len": 8192,
    }
    assert row.not_stated == (
        "model_revision", "weight_dtype", "device", "device_count", "prefix_caching",
        "speculative_decoding",
    )  # fmt: skip
    assert row.stated["file_type"] == "Q4_K - Medium"
    assert row.stated["one_cache_for_all_sequences"] == "true"


def test_a_state_is_memory_and_holds_no_tokens(read: Read) -> None:
    (row,) = read("llama-cpp-startup-recurrent.log").rows
    assert figures(row)["memory.kv_cache"] == (Fraction("1.54"), "MiB")
    assert "capacity.tokens" not in figures(row)
    assert row.envelope["model"] == "example-mamba.gguf"


def test_a_trial_that_takes_no_memory_is_left_out(read: Read) -> None:
    (row,) = read("llama-cpp-startup-fitted.log").rows
    assert row.case is None
    assert figures(row)["memory.weights"] == (Fraction("247.82"), "MiB")
    assert figures(row)["memory.kv_cache"] == (Fraction("133.5"), "MiB")


def test_of_several_devices_the_fullest_is_taken_and_the_host_is_none(read: Read) -> None:
    (row,) = read("llama-cpp-startup-2024.log").rows
    assert figures(row) == {
        "memory.weights": (Fraction("3900.10"), "MiB"),
        "memory.kv_cache": (Fraction(289), "MiB"),
        "capacity.tokens": (Fraction(8192), "tokens"),
    }
    assert note_of(row, "memory.weights") == (
        "on CUDA0, the most of 2 devices; 532.31 MiB more on the host"
    )
    assert row.envelope["device_count"] == 2
    assert row.envelope["kv_cache_dtype"] == "q8_0"
    assert "max_model_len" in row.not_stated


def test_the_oldest_form_says_mb_and_means_mib(read: Read) -> None:
    reading = read("llama-cpp-startup-2023.log")
    (row,) = reading.rows
    assert reading.tool_version == "b900"
    assert figures(row)["memory.kv_cache"] == (Fraction(256), "MiB")
    assert note_of(row, "memory.kv_cache") == "of all devices: the log does not print one apart"
    assert row.envelope["model"] == "ggml-model-q4_0.bin"


def test_without_lines_of_devices_the_caches_are_added_up() -> None:
    lines = text_of("llama-cpp-startup-b11434.log").splitlines()
    (row,) = read_text("\n".join(line for line in lines if "KV buffer" not in line)).rows
    assert figures(row)["memory.kv_cache"] == (Fraction(54), "MiB")
    assert figures(row)["capacity.tokens"] == (Fraction(8192), "tokens")


def test_the_unified_cache_of_2025_says_what_one_sequence_can_have(read: Read) -> None:
    (row,) = read("llama-cpp-startup-unified-2025.log").rows
    assert figures(row)["memory.kv_cache"] == (Fraction(450), "MiB")
    assert figures(row)["capacity.sequences"] == (Fraction(2), "sequences")
    assert row.envelope["max_model_len"] == 4096
    assert row.envelope["weight_dtype"] == "bf16"
    assert row.stated["file"] == "example-4b.gguf"


def test_inside_a_log_of_ollama_the_version_is_that_of_ollama(read: Read) -> None:
    reading = read("ollama-startup-llama-cpp.log")
    (row,) = reading.rows
    assert (reading.format, reading.tool_version) == ("llama-cpp-startup-log", None)
    assert (row.envelope["engine"], row.envelope["engine_version"]) == ("Ollama", "0.5.13")
    assert figures(row)["memory.kv_cache"] == (Fraction(4048), "MiB")
    assert reading.all_findings == ()


def test_a_log_with_models_of_both_engines_is_of_one_format() -> None:
    for before in ("", "Sep 04 13:18:13 host ollama[146]: "):
        text = text_of("ollama-startup.log") + text_of("ollama-startup-llama-cpp.log")
        reading = read_text("".join(before + line for line in text.splitlines(keepends=True)))
        assert reading.format == "llama-cpp-startup-log"
        assert len(reading.rows) == 1


def test_keys_and_values_of_two_dtypes_leave_the_axis_open() -> None:
    text = text_of("llama-cpp-startup-2024.log").replace("V (q8_0)", "V (f16)")
    (row,) = read_text(text).rows
    assert "kv_cache_dtype" in row.not_stated
    assert row.stated["k_and_v_dtypes"] == "q8_0 and f16"


def test_each_context_is_a_row_and_a_model_may_have_two() -> None:
    text = text_of("llama-cpp-startup-2024.log")
    again = text[text.index("llama_new_context_with_model: n_ctx") :]
    both = read_text(text + again + text_of("llama-cpp-startup-b11434.log"))
    assert [row.case for row in both.rows] == ["context 1", "context 2", "context 3"]
    assert [row.envelope["model"] for row in both.rows] == ["Example 8B"] * 2 + ["Gemma 3 270m"]
    assert figures(both.rows[0]) == figures(both.rows[1])
    assert both.tool_version is None


def test_what_a_service_puts_before_a_line_does_not_matter(read: Read) -> None:
    painted = "\r\n".join(
        f"Sep 04 13:18:13 host ollama[146]: \x1b[0m{line}\x1b[0m"
        for line in text_of("llama-cpp-startup-2024.log").splitlines()
    )
    assert figures(read_text(painted).rows[0]) == figures(
        read("llama-cpp-startup-2024.log").rows[0]
    )


def test_a_log_without_the_caches_says_so() -> None:
    text = text_of("llama-cpp-startup-b11434.log")
    reading = read_text(text[: text.index("0.02.172.657")])
    (finding,) = reading.all_findings
    assert (finding.rule, finding.severity) == ("UPH504", "warning")
    assert "--verbose" in (finding.help or "")


def test_an_engine_that_could_not_start_is_an_error() -> None:
    text = text_of("llama-cpp-startup-b11434.log")
    reading = read_text(
        text[: text.index("0.02.174.498")]
        + "0.07.812.391 E llama_init_from_model: quantized V cache requires flash_attn to be "
        "enabled\n0.07.817.588 E cmn  common_init_: failed to create context with model 'm.gguf'\n"
    )
    (finding,) = reading.all_findings
    assert (finding.rule, finding.severity) == ("UPH504", "error")
    assert finding.place.line == 26


def test_pinned_memory_that_was_not_to_be_had_is_no_failure() -> None:
    warned = "ggml_cuda_host_malloc: failed to allocate 25.00 MiB of pinned memory: no\n"
    assert read_text(warned + text_of("llama-cpp-startup-2024.log")).all_findings == ()


@pytest.mark.parametrize(
    "text",
    [
        "the KV buffer size = 3 apples\n",
        "INFO 04-29 01:34:48 [core.py:58] GPU KV cache size: 1,024 tokens\n",
        "load_tensors: CPU model buffer size = 4.5 GB\n",
        "load_tensors: CPU model buffer size = 9" + "9" * 400 + " MiB\n",
    ],
)
def test_other_text_is_not_taken_for_it(text: str) -> None:
    assert read_text(text).format != "llama-cpp-startup-log"
