"""What a mapping finds in files of people's own scripts, and what it says where it does not."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapped_files import mapped, read, said, values
from upheld.measured.read import read_file

SUMMARY = {
    "model": "example-8b",
    "concurrency": 4,
    "requests": 200,
    "error_count": 0,
    "wall_time_s": 100.0,
    "latency": {"mean_s": 1.25, "p99_s": 2.5},
    "tokens": {"total": 25600, "per_second": 256.0},
}
OF_SUMMARY = """
figures:
  - {metric: latency.e2e.mean, unit: s, at: latency.mean_s}
  - {metric: latency.e2e.p99, unit: s, at: latency.p99_s}
  - {metric: duration, unit: s, at: wall_time_s}
  - {metric: tokens.output.total, unit: tokens, at: tokens.total}
  - {metric: throughput.output_tokens, unit: tokens/s, at: tokens.per_second}
requests: {attempted: requests, failed: error_count}
envelope: {model: model, concurrency: concurrency}
"""

CSV = """\
engine,concurrency,n,p99 (ms),tok/s
a,1,100,20.5,100
a,8,100,35.25,"1,640.5"
b,1,100,,90
"""
OF_CSV = """
where: {engine: a}
case: [engine, concurrency]
figures:
  - {metric: latency.ttft.p99, unit: ms, at: '"p99 (ms)"'}
  - {metric: throughput.output_tokens, unit: tokens/s, at: '"tok/s"'}
requests: {completed: n}
envelope: {engine: engine, concurrency: concurrency}
"""

OF_REQUESTS = """
samples:
  completed: {ok: true}
  values:
    - {metric: latency.e2e, unit: s, at: s}
    - {metric: tokens.output.total, unit: tokens, at: usage.out}
"""


def requests(*seconds: float, failed: int = 0) -> str:
    good = [{"ok": True, "s": each, "usage": {"out": 10}} for each in seconds]
    bad = [{"ok": False, "s": None, "usage": {}}] * failed
    return "\n".join(map(json.dumps, [*good, *bad]))


def test_a_summary_is_reported_in_the_units_of_the_mapping() -> None:
    reading = read("json", OF_SUMMARY, json.dumps(SUMMARY))
    assert said(reading) == []
    found = values(reading)
    assert found["latency.e2e.p99"] == (2.5, "s", "reported")
    assert found["throughput.output_tokens"] == (256.0, "tokens/s", "reported")
    (row,) = reading.rows
    assert row.envelope == {"model": "example-8b", "concurrency": 4}
    assert row.requests is not None
    assert (row.requests.completed, row.requests.failed) == (200, 0)
    assert row.samples["latency.e2e"] == 200
    assert "engine_version" in row.not_stated
    assert (reading.format, reading.tool) == ("json", "a script of its own, read by a mapping")


def test_the_cells_of_a_table_are_numbers_where_one_is_wanted() -> None:
    reading = read("csv", OF_CSV, CSV)
    assert said(reading) == []
    first, second = reading.rows
    assert (first.case, second.case) == ("a 1", "a 8")
    assert (first.place.line, second.place.line) == (2, 3)
    figure = second.figure("throughput.output_tokens")
    assert figure is not None
    assert figure.value == Fraction("1640.5")
    assert second.envelope == {"engine": "a", "concurrency": 8}
    assert first.stated == {"records": "2 of 3, where engine is a"}


def test_statistics_of_single_requests_are_those_of_numpy() -> None:
    seconds = [0.5, 0.25, 2.0, 0.125, 1.75, 3.0]
    reading = read("jsonl", OF_REQUESTS, requests(*seconds, failed=2))
    assert said(reading) == []
    found = values(reading)
    for name, wanted in {
        "mean": np.mean(seconds),
        "std": np.std(seconds),
        "min": 0.125,
        "max": 3.0,
        **{f"p{percent}": np.percentile(seconds, percent) for percent in (50, 90, 95, 99)},
    }.items():
        value, unit, origin = found[f"latency.e2e.{name}"]
        assert (value, unit, origin) == (pytest.approx(float(wanted)), "s", "recomputed")
    assert found["tokens.output.total"] == (60.0, "tokens", "recomputed")
    (row,) = reading.rows
    assert row.requests is not None
    assert (row.requests.completed, row.requests.failed) == (6, 2)
    assert row.samples == {"latency.e2e": 6}


def test_without_a_word_of_failures_nobody_knows_them() -> None:
    (row,) = read("jsonl", OF_REQUESTS.replace("  completed: {ok: true}\n", ""), requests(1)).rows
    assert row.requests is not None
    assert (row.requests.completed, row.requests.failed) == (1, None)
    assert "UPH505" in {each.rule for each in row.findings}


def test_an_error_tells_a_failure() -> None:
    text = "\n".join(
        json.dumps({"s": 1, "usage": {"out": 1}, "error": error})
        for error in (None, "", 0, "timeout", 503)
    )
    mapping = OF_REQUESTS.replace("completed: {ok: true}", "failed: error")
    (row,) = read("jsonl", mapping, text).rows
    assert row.requests is not None
    assert (row.requests.completed, row.requests.failed) == (3, 2)


def test_readings_of_a_device_are_no_requests() -> None:
    mapping = "samples: {values: [{metric: device.power, unit: W, at: watts}]}"
    reading = read("csv", mapping, "watts,gpu\n300.5,0\n310.5,0\n")
    (row,) = reading.rows
    assert row.requests is None
    assert row.not_stated == ()
    assert values(reading)["device.power.mean"] == (305.5, "W", "recomputed")
    assert "UPH505" not in {each.rule for each in row.findings}


WITH_SUMMARY = """
figures:
  - {metric: duration, unit: s, at: wall}
  - {metric: latency.e2e.mean, unit: ms, at: mean_ms}
  - {metric: latency.e2e.p75, unit: ms, at: p75_ms}
  - {metric: latency.e2e.std, unit: ms, at: std_ms}
  - {metric: throughput.output_tokens, unit: tokens/s, at: tps}
samples:
  each: runs
  values:
    - {metric: latency.e2e, unit: s, at: s}
    - {metric: tokens.output.total, unit: tokens, at: out}
requests: {failed: failed}
"""


def summarised(**changes: object) -> str:
    runs = [{"s": each, "out": 100} for each in (1.0, 2.0, 3.0, 4.0)]
    summary = {
        "wall": 5.0, "mean_ms": 2500.0, "p75_ms": 3250.0, "std_ms": 1290.99, "tps": 80.0,
        "failed": 0, "runs": runs,
    }  # fmt: skip
    return json.dumps(summary | changes)


def test_a_summary_stands_beside_what_its_requests_give() -> None:
    reading = read("json", WITH_SUMMARY, summarised())
    assert said(reading) == []
    found = values(reading)
    assert found["latency.e2e.mean"] == (2500.0, "ms", "recomputed")
    assert found["latency.e2e.p75"] == (3250.0, "ms", "recomputed")
    # Of a sample, as the script printed it, and not of a population.
    assert found["latency.e2e.std"][0] == pytest.approx(1290.9944)
    assert found["latency.e2e.p90"] == (3700.0, "ms", "recomputed")
    assert found["throughput.output_tokens"] == (80.0, "tokens/s", "recomputed")
    assert found["throughput.requests"] == (0.8, "requests/s", "recomputed")


@pytest.mark.parametrize(
    ("key", "value", "line"), [("mean_ms", 2400.0, 14), ("p75_ms", 3000.5, 15), ("tps", 170.0, 17)]
)
def test_a_summary_that_disagrees_is_told_where_it_is_mapped(
    key: str, value: float, line: int
) -> None:
    (finding,) = said(read("json", WITH_SUMMARY, summarised(**{key: value})))
    assert finding.startswith(f"UPH502 {line}:")
    assert f"{key} says" in finding


def test_a_rate_may_be_as_far_off_as_its_duration_is_rounded() -> None:
    summary = SUMMARY | {"wall_time_s": 5.602, "tokens": {"total": 12800, "per_second": 2284.78}}
    assert said(read("json", OF_SUMMARY, json.dumps(summary))) == []
    summary["tokens"] = {"total": 12800, "per_second": 2290.0}
    (finding,) = said(read("json", OF_SUMMARY, json.dumps(summary)))
    assert "in its duration gives throughput.output_tokens" in finding


def test_statistics_that_no_values_have_are_told() -> None:
    mapping = OF_SUMMARY.replace("latency.e2e.mean", "latency.e2e.p50")
    summary = SUMMARY | {"latency": {"mean_s": 2.75, "p99_s": 2.5}}
    (finding,) = said(read("json", mapping, json.dumps(summary)))
    assert finding.startswith("UPH507")
    assert "latency.e2e.p50 is greater than latency.e2e.p99" in finding


@pytest.mark.parametrize(
    ("at", "finds"),
    [
        ("latency.p98_s", "nothing"),
        ("model", "the text 'example-8b' where a number is wanted"),
        ("latency", "a whole object where one value is wanted"),
        ("latency.*", "2 values where one is wanted"),
        ("flag", "true where a number is wanted"),
        ("below", "the negative number -1"),
        ("nan", "NaN, which is no measurement"),
        ("words[0]", "the text '12' where a number is wanted"),
        ("model[?contains(a, 'b')]", "nothing"),
    ],
)
def test_what_is_found_instead_is_named_with_the_mapping(at: str, finds: str) -> None:
    summary = SUMMARY | {"flag": True, "below": -1, "nan": float("nan"), "words": ["12"]}
    mapping = f'figures:\n  - {{metric: latency.e2e.p99, unit: s, at: "{at}"}}\n'
    reading = read("json", mapping, json.dumps(summary))
    assert said(reading) == [f"UPH522 13:46 figures: {at} finds {finds}"]
    assert reading.rows[0].figures == ()


def test_the_key_that_was_meant_is_named() -> None:
    mapping = OF_SUMMARY.replace("latency.p99_s", "latency.p99s")
    (finding,) = read("json", mapping, json.dumps(SUMMARY)).findings
    assert finding.help == "did you mean p99_s?"


def test_what_only_some_rows_lack_is_a_warning_told_once() -> None:
    reading = read("csv", OF_CSV.replace("where: {engine: a}\n", ""), CSV)
    (finding,) = reading.findings
    assert (finding.rule, finding.severity) == ("UPH522", "warning")
    assert finding.message == 'figures: "p99 (ms)" finds nothing, in 1 of 3 rows'


@pytest.mark.parametrize(
    ("form", "mapping", "text", "finding"),
    [
        ("json", "rows: runz\n" + OF_SUMMARY, json.dumps(SUMMARY), "UPH522 12:7 rows: runz finds"),
        ("csv", OF_CSV.replace("engine: a", "engin: a"), CSV, "UPH522 12:15 where: no record has"),
        ("csv", OF_CSV.replace("engine: a", "engine: c"), CSV, "UPH522 12:7 where: of 3 records"),
        ("csv", OF_CSV, CSV.partition("\n")[0] + "\n", "UPH522 11:5 the file holds no"),
        ("jsonl", OF_REQUESTS.replace("ok: t", "okay: t"), requests(1), "UPH522 13:21 samples"),
        ("jsonl", OF_REQUESTS.replace("at: s}", "at: t}"), requests(1), "UPH522 15:44 samples"),
        ("jsonl", OF_REQUESTS.replace("at: s}", "at: usage}"), requests(1), "UPH522 15:44 samples"),
        ("json", OF_REQUESTS, json.dumps(SUMMARY), "UPH522 12:7 samples: the records of single"),
        ("json", OF_SUMMARY, CSV, "UPH508 11:5 raw/own is no JSON, not json"),
        ("json", OF_SUMMARY, requests(1, 2), "UPH508 11:5 raw/own holds 2 JSON values"),
        ("csv", OF_CSV, json.dumps(SUMMARY), "UPH508 11:5 raw/own is JSON, not csv"),
        ("csv", OF_CSV, CSV + "a,1\n", "UPH503 5:1 2 cells below a header of 5"),
        ("csv", OF_CSV, CSV.replace("n,p99", "n,n,p99"), "UPH503 1:1 the column 'n'"),
        ("json", OF_SUMMARY, json.dumps(SUMMARY)[:-9], "UPH503 1:"),
    ],
)  # fmt: skip
def test_a_file_that_a_mapping_does_not_fit_gives_one_finding_and_no_figure(
    form: str, mapping: str, text: str, finding: str
) -> None:
    reading = read(form, mapping, text)
    (found,) = said(reading)
    assert found.startswith(finding)
    assert not any(each.name.startswith("latency") for row in reading.rows for each in row.figures)


def test_a_sum_over_requests_that_lack_a_part_is_none() -> None:
    text = requests(1, 2) + '\n{"ok": true, "s": 3, "usage": {}}'
    reading = read("jsonl", OF_REQUESTS, text)
    assert "tokens.output.total" not in values(reading)
    (finding,) = said(reading)
    assert "finds nothing in 1 of 3 completed requests, so they have no sum" in finding


def test_more_rows_than_anybody_reads_are_refused() -> None:
    text = "engine,concurrency,n,p99 (ms),tok/s\n" + "a,1,1,1,1\n" * 10_001
    (finding,) = said(read("csv", OF_CSV, text))
    assert "finds 10,001 rows; at most 10,000" in finding


def test_a_mapping_is_never_applied_to_what_a_format_recognises() -> None:
    file = Path(__file__).parents[2] / "corpora/benchmarks/vllm-serve-summary.json"
    mapping = "figures: [{metric: latency.ttft.p99, unit: ms, at: median_ttft_ms}]"
    reading = read_file("raw/own", file.read_bytes(), mapped("json", mapping))
    assert reading.format == "vllm-bench-serve"
    assert reading == read_file("raw/own", file.read_bytes())


JUNK = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 10**12), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abs"), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_no_file_leads_to_a_traceback(data: st.DataObject) -> None:
    summary = SUMMARY | data.draw(st.dictionaries(st.sampled_from(sorted(SUMMARY)), JUNK))
    rows = data.draw(st.lists(JUNK, max_size=3))
    reading = read("json", OF_SUMMARY, json.dumps(summary | {"rows": rows}))
    assert reading.format in ("json", "unknown")
    text = "\n".join(json.dumps({"ok": data.draw(JUNK), "s": each, "usage": each}) for each in rows)
    assert read("jsonl", OF_REQUESTS, text).format in ("jsonl", "unknown")
