from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from upheld.measured.read import read_file
from upheld.measured.reading import FileReading, Row

Read = Callable[[str], FileReading]
BENCHMARKS = Path(__file__).parents[2] / "corpora" / "benchmarks"


def edited(name: str, old: str, new: str) -> FileReading:
    text = (BENCHMARKS / name).read_text(encoding="utf-8")
    assert old in text
    return read_file(name, text.replace(old, new, 1).encode())


def values(row: Row) -> dict[str, Fraction]:
    return {figure.name: figure.value for figure in row.figures}


@pytest.mark.parametrize("name", ["nvidia-smi-q.txt", "nvidia-smi.xml", "nvidia-smi-table.txt"])
def test_all_forms_of_one_snapshot_say_the_same(name: str, read: Read) -> None:
    reading = read(name)
    assert reading.tool_version == "570.00.01"
    assert reading.all_findings == ()
    row = reading.rows[0]
    found = values(row)
    assert found["device.memory_used.mean"] == 70000
    assert found["device.memory_total.mean"] == 81559
    assert found["device.utilisation.mean"] == 97
    assert round(found["device.power.mean"]) == 690
    assert found["device.power_limit.mean"] == 700
    assert found["device.temperature.mean"] == 66
    assert {figure.origin for figure in row.figures} == {"reported"}
    assert row.envelope == {"device": "Example GPU 80GB"}
    assert row.stated["date"] == "2026-11-20 08:00:00"


@pytest.mark.parametrize("name", ["nvidia-smi-q.txt", "nvidia-smi.xml"])
def test_what_holds_the_clocks_back_is_said(name: str, read: Read) -> None:
    assert read(name).rows[0].stated["clocks_held_back_by"] == "sw power cap"


def test_an_instance_is_not_the_device(read: Read) -> None:
    row = read("nvidia-smi-q.txt").rows[1]
    assert "device" in row.not_stated
    assert "Example GPU 80GB" in row.stated["mig"]
    assert "device.utilisation.mean" not in values(row)


def test_a_name_that_the_table_cuts_is_no_device(read: Read) -> None:
    row = read("nvidia-smi-table.txt").rows[1]
    assert row.envelope == {}
    assert values(row) == {
        "device.utilisation.mean": 0, "device.power.mean": 10, "device.temperature.mean": 35,
    }  # fmt: skip


def test_several_logs_of_one_file_are_told_apart() -> None:
    text = (BENCHMARKS / "nvidia-smi-q.txt").read_text(encoding="utf-8")
    reading = read_file("a.txt", (text + "\n$ nvidia-smi -q\n" + text).encode())
    assert [row.case for row in reading.rows][::2] == [
        "GPU 00000000:01:00.0, log 1",
        "GPU 00000000:01:00.0, log 2",
    ]


def test_a_query_is_a_row_a_device(read: Read) -> None:
    first, second = read("nvidia-smi-query.csv").rows
    found = values(first)
    assert found["device.memory_used.max"] == 71000
    assert found["device.utilisation.mean"] == found["device.utilisation.p50"] == 50
    assert found["device.power.max"] == Fraction("699.5")
    assert found["device.memory_total.mean"] == 81559
    assert first.samples["device.power"] == 2
    assert first.stated["idle_readings"] == "1 of 2: means are over idle time too"
    assert first.stated["clocks_held_back_by"] == "sw_power_cap in 1 of 2 readings"
    assert first.stated["date"] == "2026-11-20 08:00:00.100"
    assert "device.power.mean" not in values(second)
    assert second.case == "GPU 1"


def test_values_without_units_are_in_those_of_the_header() -> None:
    data = b"index, memory.used [MiB], utilization.gpu [%]\n0, 123, 45\n"
    (row,) = read_file("a.csv", data).rows
    assert values(row) == {"device.memory_used.mean": 123, "device.utilisation.mean": 45}


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("71000 MiB", "91000 MiB", "91000 MiB are in use of 81559 MiB"),
        ("100 %", "101 %", "more than device.utilisation can be"),
        ("699.50 W", "-699.50 W", "no reading of device.power"),
        ("699.50 W", "699.50 kW", "no reading of device.power"),
    ],
)
def test_a_reading_that_can_not_be_is_found(old: str, new: str, says: str) -> None:
    (finding,) = edited("nvidia-smi-query.csv", old, new).all_findings
    assert finding.rule == "UPH507"
    assert says in finding.message


def test_a_table_of_another_hand_is_unknown() -> None:
    data = b"timestamp,gpu_id,memory_used_mb,gpu_utilization_percent\n1.5,0,76064,93\n"
    assert read_file("a.csv", data).format == "unknown"


def test_a_header_alone_and_a_row_cut_short_measure_nothing() -> None:
    header = (BENCHMARKS / "nvidia-smi-query.csv").read_bytes().split(b"\n")[0]
    assert [each.rule for each in read_file("a.csv", header + b"\n").findings] == ["UPH504"]
    cut = read_file("a.csv", header + b"\n2026/11/20 08:00:00.100, 0, Exam")
    assert cut.rows == ()
    assert [(each.rule, each.place.line) for each in cut.findings] == [("UPH503", 2)]


def test_an_entry_that_was_cut_short_has_no_row() -> None:
    reading = edited("nvidia-smi-q.txt", "    Processes                             : None\n", "")
    assert len(reading.rows) == 1
    assert [each.rule for each in reading.findings] == ["UPH503"]


def test_the_fields_of_dcgmi(read: Read) -> None:
    first, second = read("dcgmi-dmon.txt").rows
    assert values(first)["device.utilisation.mean"] == 50
    assert values(first)["device.power.max"] == Fraction("690.25")
    assert values(first)["device.memory_used.max"] == 71000
    assert first.stated["SMACT"] == "0.375 is the mean of 2"
    assert "SMACT" not in second.stated
    assert first.envelope == {}


def test_a_line_of_dcgmi_that_was_cut_short_refuses_the_file() -> None:
    reading = edited("dcgmi-dmon.txt", "71000    0.750", "71000")
    assert reading.rows == ()
    assert [(each.rule, each.place.line) for each in reading.findings] == [("UPH503", 5)]
