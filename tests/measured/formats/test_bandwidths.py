from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from upheld.measured.read import read_file
from upheld.measured.reading import FileReading

Read = Callable[[str], FileReading]
ReadChanged = Callable[[str, Callable[[Any], object]], FileReading]
BENCHMARKS = Path(__file__).parents[2] / "corpora" / "benchmarks"


def edited(name: str, old: str, new: str) -> FileReading:
    text = (BENCHMARKS / name).read_text(encoding="utf-8")
    assert old in text
    return read_file(name, text.replace(old, new, 1).encode())


def test_each_collective_of_nccl_tests_is_a_row(read: Read) -> None:
    reading = read("nccl-tests.log")
    assert reading.tool_version == "2.17.8"
    assert reading.all_findings == ()
    reduce, sendrecv = reading.rows
    assert reduce.case == "0"
    assert [(each.name, each.value, each.origin) for each in reduce.figures] == [
        ("bandwidth.bus.avg", Fraction("54.94"), "reported"),
        ("bandwidth.bus.max", Fraction("78.64"), "recomputed"),
    ]
    assert reduce.envelope == {
        "benchmark": "all_reduce_perf", "device": "Example GPU 80GB", "device_count": 4,
    }  # fmt: skip
    assert sendrecv.envelope["device_count"] == 2


@pytest.mark.parametrize(
    ("old", "new", "rule", "line"),
    [
        ("bandwidth    : 54.94", "bandwidth    : 64.94", "UPH502", 18),
        ("20.97   31.46", "20.97   41.46", "UPH502", 14),
        ("values : 0 OK", "values : 3 FAILED", "UPH507", 3),
        ("31.46       0", "x       0", "UPH507", 14),
    ],
)
def test_what_was_edited_in_nccl_tests_is_found(old: str, new: str, rule: str, line: int) -> None:
    found = edited("nccl-tests.log", old, new).all_findings
    assert (rule, line) in [(each.rule, each.place.line) for each in found]


def test_a_collective_that_was_cut_short_has_no_row() -> None:
    reading = edited("nccl-tests.log", "# Avg bus bandwidth    : 54.94", "")
    assert [row.case for row in reading.rows] == ["1"]
    assert [each.rule for each in reading.findings] == ["UPH503"]


@pytest.mark.parametrize("name", ["nvbandwidth.json", "nvbandwidth.log"])
def test_nvbandwidth_says_the_same_in_both_forms(name: str, read: Read) -> None:
    reading = read(name)
    assert reading.all_findings == ()
    assert [row.case for row in reading.rows] == [
        "host_to_device_memcpy_ce",
        "device_to_device_memcpy_read_ce",
    ]
    for row, value in zip(reading.rows, (110.26, 482.0), strict=True):
        (figure,) = row.figures
        assert (figure.name, figure.unit) == ("bandwidth.sum", "GB/s")
        assert float(figure.value) == pytest.approx(value, abs=0.01)
        assert row.envelope == {
            "benchmark": row.case, "device": "Example GPU 80GB", "device_count": 2,
        }  # fmt: skip


def test_a_sum_of_nvbandwidth_that_was_edited_is_found(read_changed: ReadChanged) -> None:
    def edit(saved: dict[str, Any]) -> None:
        saved["nvbandwidth"]["testcases"][0]["sum"] = 120.0

    (finding,) = read_changed("nvbandwidth.json", edit).all_findings
    assert finding.rule == "UPH502"
    assert "adds up to 110.2615" in finding.message
    (finding,) = edited("nvbandwidth.log", "memcpy_ce 110.26", "memcpy_ce 120.26").all_findings
    assert finding.rule == "UPH502"


def test_a_test_that_failed_or_is_of_another_unit_has_no_bandwidth(
    read_changed: ReadChanged,
) -> None:
    def edit(saved: dict[str, Any]) -> None:
        first, second, _ = saved["nvbandwidth"]["testcases"]
        first["status"] = "Error"
        second["bandwidth_description"] = "latency (ns)"

    reading = read_changed("nvbandwidth.json", edit)
    assert [each.rule for each in reading.all_findings] == ["UPH504", "UPH504"]
    (row,) = reading.rows
    assert row.figures == ()


def test_a_machine_that_can_run_nothing_measured_nothing(read_changed: ReadChanged) -> None:
    def edit(saved: dict[str, Any]) -> None:
        for case in saved["nvbandwidth"]["testcases"]:
            case["status"] = "Waived"

    reading = read_changed("nvbandwidth.json", edit)
    assert reading.rows == ()
    assert [each.rule for each in reading.findings] == ["UPH504"]
