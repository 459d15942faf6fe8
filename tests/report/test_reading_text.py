from __future__ import annotations

from fractions import Fraction

import click
import pytest

from report.readings import BOTH, PLACE, figure, reading
from upheld.measured.read import UNKNOWN
from upheld.measured.reading import Figure, FileReading, Row
from upheld.report.reading_text import reading_text


def lines(shown: FileReading) -> list[str]:
    return click.unstyle(reading_text(shown)).split("\n")


def row_of(*figures: Figure) -> list[list[str]]:
    """The table of a file with these figures in its only row, as words."""
    shown = lines(reading(Row(None, PLACE, figures)))
    start = next(index for index, line in enumerate(shown) if line.split()[:1] == ["metric"])
    return [line.split() for line in shown[start + 1 : start + 1 + len(figures)]]


def test_in_full() -> None:
    assert lines(BOTH) == [
        "result.json",
        "  A tool 1.2 · a-format",
        "  sha256 0123456789abcdef…",
        "",
        "  one",
        "    Stated        concurrent requests  8",
        "                  request rate         0.5",
        "    Also says     warm up  3",
        "    metric            value  unit      n  origin",
        "    latency.ttft.p99    300  ms    1,200  recomputed ✓ the summary agrees",
        "",
        "  two",
        "    Stated        concurrent requests  16",
        "                  prefix caching       off",
        "    metric            value  unit  n  origin",
        "    latency.ttft.p99    400  ms    ?  reported only [1]",
        "    [1] a note",
        "",
        "    Stated        model  m",
        "    Also says     date  today",
        "    Not stated    device, engine, KV cache dtype",
        "",
        "result.json:1:1: UPH505 warning: 3 failed",
        "  help: look",
    ]


def test_an_unknown_file_and_a_tool_of_no_version() -> None:
    assert lines(reading(format=UNKNOWN, tool=None, tool_version=None))[1] == "  unknown format"
    assert lines(reading(tool_version=None))[1] == "  A tool · a-format"


def test_a_row_without_figures() -> None:
    assert lines(reading(Row(None, PLACE, ())))[-2:] == ["    no figures", ""]


def test_a_flag_is_on_or_off() -> None:
    shown = lines(reading(Row(None, PLACE, (), envelope={"prefix_caching": True})))
    assert shown[-1] == "    Stated        prefix caching  on"


def test_a_long_list_is_wrapped_below_its_heading() -> None:
    axes = ("model", "engine", "engine_version", "weight_dtype", "kv_cache_dtype", "device",
            "device_count", "tensor_parallel", "max_model_len")  # fmt: skip
    first, second = lines(reading(Row(None, PLACE, (), not_stated=axes)))[-2:]
    assert first.startswith("    Not stated    model, engine, ")
    assert second.startswith(" " * 18 + "tensor parallel size")
    assert len(first) <= 100


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        ("0.5", "s", ["0.5", "s"]),
        ("0.001", "s", ["0.001", "s"]),
        ("0.000999", "s", ["999", "us"]),
        ("0.000001", "s", ["1", "us"]),
        ("0.0000005", "s", ["500", "ns"]),
        ("0", "s", ["0", "s"]),
        ("0.0005", "ms", ["0.0005", "ms"]),
        ("1234567.8", "tokens", ["1,234,568", "tokens"]),
        ("123456.7", "tokens", ["123,457", "tokens"]),
    ],
)
def test_seconds_below_a_millisecond_in_the_unit_that_fits(
    value: str, unit: str, shown: list[str]
) -> None:
    (words,) = row_of(figure(value, unit))
    assert words[1:3] == shown


@pytest.mark.parametrize(
    ("more", "shown"),
    [
        ({}, "reported only"),
        ({"origin": "recomputed"}, "recomputed"),
        ({"origin": "recomputed", "reported": Fraction(300)}, "recomputed ✓ the summary agrees"),
        ({"origin": "recomputed", "reported": Fraction(301)},
         "recomputed ✗ the summary says 301"),
        ({"origin": "recomputed", "reported": Fraction("1234.567891")},
         "recomputed ✗ the summary says 1,234.56789"),
    ],
)  # fmt: skip
def test_where_a_figure_comes_from(more: dict[str, object], shown: str) -> None:
    (words,) = row_of(figure(300, **more))
    assert " ".join(words[4:]) == shown


def test_one_note_is_written_once() -> None:
    shown = lines(reading(Row(None, PLACE, (
        figure(1, note="first"), figure(2, note="second"), figure(3, note="first"),
    ))))  # fmt: skip
    assert [line.split()[-1] for line in shown if "only" in line] == ["[1]", "[2]", "[1]"]
    assert [line.strip() for line in shown if line.startswith("    [")] == [
        "[1] first", "[2] second",
    ]  # fmt: skip


def test_a_count_is_asked_for_where_there_is_a_distribution() -> None:
    (words,) = row_of(figure(5, "s", name="duration"))
    assert words == ["duration", "5", "s", "reported", "only"]
