"""What holds for every format of text: one reader, words of records, nothing from a cut file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from upheld.measured.content import Content
from upheld.measured.formats import FORMATS
from upheld.measured.read import read_file, recognised_by
from upheld.measured.reading import FileReading
from upheld.records.envelope import AXES
from upheld.records.metrics import resolve
from upheld.records.units import UNITS

BENCHMARKS = Path(__file__).parents[2] / "corpora" / "benchmarks"
TEXTS = {
    "dcgmi-dmon.txt": "dcgmi-dmon",
    "hey.csv": "hey-csv",
    "hey.txt": "hey",
    "junit.xml": "junit-xml",
    "k6-points.ndjson": "k6",
    "locust-failures.csv": "locust-failures",
    "locust-history.csv": "locust-history",
    "locust-stats.csv": "locust-stats",
    "mlperf-detail-offline.txt": "mlperf-loadgen-detail",
    "mlperf-summary-server.txt": "mlperf-loadgen-summary",
    "nccl-tests.log": "nccl-tests",
    "nsys-kernels.csv": "nsys-stats",
    "nvbandwidth.log": "nvbandwidth-text",
    "nvidia-smi-q.txt": "nvidia-smi-q",
    "nvidia-smi-query.csv": "nvidia-smi-csv",
    "nvidia-smi-table.txt": "nvidia-smi-table",
    "nvidia-smi.xml": "nvidia-smi-xml",
    "prometheus-sglang-tgi-dcgm.txt": "prometheus",
    "prometheus-vllm.txt": "prometheus",
    "wrk.txt": "wrk",
}
# Files that may end after any line, or after any run.
OPEN_ENDED = ("dcgmi-dmon.txt", "wrk.txt")
Read = Callable[[str], FileReading]


@pytest.mark.parametrize(("name", "format_"), TEXTS.items())
def test_a_text_is_of_exactly_one_format(name: str, format_: str) -> None:
    content = Content("a.log", (BENCHMARKS / name).read_bytes())
    assert [each.NAME for each in recognised_by(content, FORMATS)] == [format_]


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_read_is_in_the_words_of_records(name: str, read: Read) -> None:
    reading = read(name)
    assert any(row.figures for row in reading.rows)
    for row in reading.rows:
        for figure in row.figures:
            metric, _ = resolve(figure.name)
            assert UNITS[figure.unit].dimension == metric.dimension
        assert row.envelope.keys() <= AXES.keys()
        assert set(row.not_stated) <= AXES.keys() - row.envelope.keys()


@pytest.mark.parametrize("name", TEXTS)
def test_windows_ends_of_lines_change_nothing(name: str) -> None:
    data = (BENCHMARKS / name).read_bytes()
    plain = read_file(name, data).rows
    other = read_file(name, data.replace(b"\n", b"\r\n")).rows
    assert [row.figures for row in other] == [row.figures for row in plain]


@pytest.mark.parametrize("name", TEXTS)
def test_half_a_file_gives_no_more_rows_and_a_finding(name: str) -> None:
    data = (BENCHMARKS / name).read_bytes()
    whole = read_file(name, data)
    cut = read_file(name, data[: len(data) // 2])
    assert len(cut.rows) <= len(whole.rows)
    assert cut.findings or len(cut.rows) == len(whole.rows) or name in OPEN_ENDED


@pytest.mark.parametrize(
    "name",
    [
        *(name for name in TEXTS if name.endswith(".csv")),
        "hey.txt", "mlperf-detail-offline.txt", "mlperf-summary-server.txt", "prometheus-vllm.txt",
    ],
)  # fmt: skip
def test_two_runs_in_one_file_are_not_mixed(name: str) -> None:
    data = (BENCHMARKS / name).read_bytes()
    reading = read_file(name, data + data)
    assert reading.rows == ()
    assert [each.rule for each in reading.findings] == ["UPH503"]


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_no_edit_leads_to_a_traceback(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(TEXTS)))
    raw = (BENCHMARKS / name).read_bytes()
    at = data.draw(st.integers(0, len(raw)))
    until = data.draw(st.integers(at, min(len(raw), at + 60)))
    junk = data.draw(
        st.one_of(
            st.binary(max_size=8),
            st.sampled_from(
                [b"-1", b"nan", b"1e400", b"9" * 50, b"\n", b"\x00", b'"', b",,,", b"0", b"-"]
            ),
        )
    )
    reading = read_file(name, raw[:at] + junk + raw[until:])
    assert reading.format in (*FORMATS, "unknown")
    for row in reading.rows:
        for figure in row.figures:
            resolve(figure.name)
