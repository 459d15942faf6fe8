from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from upheld.measured import read as reading_module
from upheld.measured.content import Content
from upheld.measured.formats import FORMATS, vllm_bench_serve
from upheld.measured.read import read_file, recognised_by
from upheld.measured.reading import FileReading
from upheld.records.envelope import AXES
from upheld.records.metrics import resolve
from upheld.records.units import UNITS

BENCHMARKS = Path(__file__).parents[1] / "corpora" / "benchmarks"
OURS = sorted(
    path.name for path in BENCHMARKS.glob("*.json*") if not path.name.startswith("other-")
)
OTHERS = sorted(path.name for path in BENCHMARKS.glob("other-*"))
EVERY = sorted(
    path.name
    for path in BENCHMARKS.iterdir()
    if path.suffix != ".py" and not path.name.startswith("other-")
)


@pytest.mark.parametrize("name", EVERY)
def test_every_fixture_is_of_exactly_one_format(name: str) -> None:
    content = Content(name, (BENCHMARKS / name).read_bytes())
    assert len(recognised_by(content, FORMATS)) == 1


@pytest.mark.parametrize("name", EVERY)
def test_what_is_read_is_in_the_words_of_records(
    name: str, read: Callable[[str], FileReading]
) -> None:
    for row in read(name).rows:
        for figure in row.figures:
            metric, _ = resolve(figure.name)
            assert UNITS[figure.unit].dimension == metric.dimension
        assert row.envelope.keys() <= AXES.keys()
        assert set(row.not_stated) <= AXES.keys()
        assert not set(row.not_stated) & row.envelope.keys()


@pytest.mark.parametrize("name", OTHERS)
def test_another_tool_s_file_is_unknown(name: str, read: Callable[[str], FileReading]) -> None:
    reading = read(name)
    assert reading.format == "unknown"
    assert reading.rows == ()
    (finding,) = reading.findings
    assert finding.rule == "UPH501"
    assert all(known in finding.help for known in FORMATS)


def test_the_name_of_a_file_says_nothing() -> None:
    data = (BENCHMARKS / "vllm-serve-summary.json").read_bytes()
    reading = read_file("pytest-benchmark.csv", data)
    assert reading.format == "vllm-bench-serve"
    assert reading.sha256 == hashlib.sha256(data).hexdigest()


def test_content_of_two_formats_is_of_none() -> None:
    both = json.loads((BENCHMARKS / "vllm-serve-summary.json").read_text(encoding="utf-8"))
    both |= json.loads((BENCHMARKS / "pytest-benchmark-data.json").read_text(encoding="utf-8"))
    reading = read_file("both.json", json.dumps(both).encode())
    assert reading.format == "unknown"
    assert "pytest-benchmark and vllm-bench-serve" in reading.findings[0].message


def test_formats_of_other_packages_are_asked_last(monkeypatch: pytest.MonkeyPatch) -> None:
    class Plugged:
        NAME = "theirs"
        TOOL = "their tool"
        TITLE = "their tool: log"
        recognise = staticmethod(lambda content: content.text.startswith("theirs"))
        read = staticmethod(vllm_bench_serve.read)

    monkeypatch.setattr(reading_module, "plugged_in", lambda: {"theirs": Plugged})
    assert read_file("a.log", b"theirs: 1 s").format == "theirs"
    data = (BENCHMARKS / "vllm-serve-summary.json").read_bytes()
    assert read_file("a.json", data).format == "vllm-bench-serve"


@pytest.mark.parametrize("name", OURS)
def test_a_file_cut_short_gives_a_finding_and_no_number(name: str) -> None:
    data = (BENCHMARKS / name).read_bytes()
    for share in (0.1, 0.5, 0.9, 0.999):
        cut = data[: int(len(data.rstrip()) * share)]
        if cut.endswith(b"}\n") or data[len(cut) :].startswith(b"\n{"):
            continue  # whole lines: nothing shows that there were more
        reading = read_file(name, cut)
        assert reading.rows == ()
        assert [finding.rule for finding in reading.findings] == ["UPH503"]


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"null", b"[]", b"{}", b"[{}]", b"\x00\x01", b"\xff\xfe{"]
)
def test_nothing_is_made_of_nothing(data: bytes) -> None:
    reading = read_file("a.json", data)
    assert reading.format == "unknown"
    assert len(reading.findings) == 1


EDITED = (
    "guidellm-report.json",
    "aiperf-summary.json",
    "genai-perf.json",
    "pytest-benchmark-data.json",
    "sglang-serving-detailed.jsonl",
    "sglang-serving-split.jsonl",
    "vllm-bench-latency.json",
    "vllm-bench-throughput.json",
    "vllm-derived-seconds.json",
    "vllm-serve-summary.json",
)
JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 10**40), st.floats(), st.text(max_size=5),
    st.lists(st.one_of(st.none(), st.floats(), st.text(max_size=3)), max_size=4),
    st.just({}), st.just([[]]),
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_no_edit_leads_to_a_traceback(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(EDITED))
    value = json.loads((BENCHMARKS / name).read_text(encoding="utf-8"))
    target = value
    if name.startswith("pytest"):
        target = data.draw(
            st.sampled_from(
                [
                    value,
                    value["machine_info"],
                    value["benchmarks"][0],
                    value["benchmarks"][0]["stats"],
                ]
            )
        )
    elif name.startswith("guidellm"):
        first = value["benchmarks"][0]
        request, metrics = first["requests"]["successful"][0], first["metrics"]
        target = data.draw(
            st.sampled_from([first, first["config"], request, metrics, metrics["request_latency"]])
        )
    elif nested := [value[key] for key in ("server_info", "input_config") if key in value]:
        target = data.draw(st.sampled_from([value, *nested]))
    for key in data.draw(st.lists(st.sampled_from(sorted(target)), min_size=1, max_size=4)):
        target[key] = data.draw(JUNK)
    if data.draw(st.booleans()):
        target |= {"ttfts": data.draw(JUNK), "itls": data.draw(JUNK), "errors": data.draw(JUNK)}
    reading = read_file(name, json.dumps(value).encode())
    assert reading.format in (*FORMATS, "unknown")


PIECES = st.binary(max_size=4) | st.text('0.,"|-=\r\n', max_size=4).map(str.encode)
TABLES = ("*.csv", "guidellm-console.txt", "vllm-serve-console.txt")


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_no_bytes_in_a_table_lead_to_a_traceback(data: st.DataObject) -> None:
    paths = sorted(path for pattern in TABLES for path in BENCHMARKS.glob(pattern))
    path = data.draw(st.sampled_from(paths))
    text = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        end = at + data.draw(st.integers(0, 9))
        text[at:end] = data.draw(PIECES)
    reading = read_file(path.name, bytes(text))
    assert reading.format in (*FORMATS, "unknown")


@pytest.mark.corpus
def test_attacks_give_a_finding_and_no_number(corpora: Path) -> None:
    files = sorted((corpora / "attacks" / "json").iterdir())
    assert files
    for file in files:
        reading = read_file(file.name, file.read_bytes())
        assert reading.rows == ()
        assert [finding.rule for finding in reading.findings] in (["UPH501"], ["UPH503"])
