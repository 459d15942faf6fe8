"""What is proposed loads when it is pasted, and holds no figure whose unit is open."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from mapped_files import HEAD, run_of, said
from upheld.measured.content import Content
from upheld.measured.formats import FORMATS
from upheld.measured.mapping.key_names import Meaning, Unclear, of_row, of_single_request
from upheld.measured.mapping.mapped import Mapped
from upheld.measured.mapping.suggest import suggest
from upheld.measured.read import read_file
from upheld.measured.reading import FileReading
from upheld.records.run import Run
from upheld.report.suggestion import Proposal


def proposal(text: str, path: str = "evidence/runs/raw/own/result") -> Proposal:
    return Proposal(path, "0" * 64, [], suggest(Content(path, text.encode())), None)


def pasted(text: str, yaml_text: str) -> FileReading:
    """The text read by what was proposed for it, pasted into a run record."""
    document, run = run_of(HEAD + yaml_text)
    assert isinstance(run, Run), [f"{each.place}: {each.message}" for each in run]
    (raw,) = run.files
    assert raw.mapping is not None
    return read_file(
        raw.path,
        text.encode(),
        Mapped(
            raw.format,  # type: ignore[arg-type]
            raw.mapping,
            lambda path: document.place(("files", 0, "mapping", *path)),
        ),
    )


@pytest.mark.parametrize(
    ("key", "metric", "unit"),
    [
        ("ttft_ms_p99", "latency.ttft.p99", "ms"),
        ("p99TtftMs", "latency.ttft.p99", "ms"),
        ("mean_time_to_first_token_seconds", "latency.ttft.mean", "s"),
        ("tpot_median_us", "latency.tpot.p50", "us"),
        ("p99.9_itl_ms", "latency.itl.p99.9", "ms"),
        ("e2e_p95_s", "latency.e2e.p95", "s"),
        ("output_tokens_per_second", "throughput.output_tokens", "tokens/s"),
        ("out_tok_s", "throughput.output_tokens", "tokens/s"),
        ("total_tokens_per_sec", "throughput.total_tokens", "tokens/s"),
        ("tps", "throughput.output_tokens", "tokens/s"),
        ("qps", "throughput.requests", "requests/s"),
        ("requests_per_second", "throughput.requests", "requests/s"),
        ("wall_time_s", "duration", "s"),
        ("total_output_tokens", "tokens.output.total", "tokens"),
    ],
)
def test_a_name_that_says_metric_and_unit(key: str, metric: str, unit: str) -> None:
    meaning = of_row((key,))
    assert isinstance(meaning, Meaning)
    assert (meaning.metric, meaning.unit) == (metric, unit)


@pytest.mark.parametrize(
    "key",
    [
        "ttft_p99", "latency_p50", "ttft_ms", "throughput", "output_throughput", "wall_time",
        "requests_per_minute", "throughput_tokens_per_s_p95", "tokens_per_second_per_gpu",
        "ttft_p95_spread_ms",
    ],
)  # fmt: skip
def test_a_name_that_leaves_metric_or_unit_open_gives_no_figure(key: str) -> None:
    assert isinstance(of_row((key,)), Unclear)


@pytest.mark.parametrize(
    "key", ["id", "prompt", "max_tokens", "qps_target", "temperature", "timestamp_ms", "seed"]
)
def test_a_name_of_something_else_is_passed_by(key: str) -> None:
    assert of_row((key,)) is None


def test_of_a_single_request() -> None:
    assert of_single_request(("ttft",)) == Unclear("its name says no unit: ms or s")
    assert of_single_request(("usage", "completion_tokens")) == Meaning(
        "tokens.output.total", "tokens"
    )
    latency = of_single_request(("latency_s",))
    assert isinstance(latency, Meaning)
    assert latency.guess == "taken as the time of a whole request"


SWEEP = json.dumps(
    {
        "model": "example-8b",
        "rows": [
            {"tag": f"c{each}", "concurrency": each, "n_req": 100, "errors": 0,
             "ttft_p99_ms": 20.5 * each, "latency_p50": 1.5, "out_tok_s": 90.0}
            for each in (1, 2)
        ],
    }
)  # fmt: skip
REQUESTS = "".join(
    json.dumps({"success": each % 3 > 0, "ttft_ms": 10.0 + each, "wall": 1.5, "new_tokens": 8})
    + "\n"
    for each in range(9)
)
TABLE = "model,TTFT p99 (ms),Tokens/s,gpu\nexample,10.5,100,card\nexample,11.5,200,card\n"
NESTED = json.dumps(
    {"tp": 2, "summary": {"mean_e2e_ms": 1500.0, "completed": 2},
     "runs": [{"latency_s": 1.0, "error": None}, {"latency_s": 2.0, "error": None}]}
)  # fmt: skip


@pytest.mark.parametrize("text", [SWEEP, REQUESTS, TABLE, NESTED, f"[{NESTED},{NESTED}]"])
def test_what_is_proposed_loads_and_finds_when_it_is_pasted(text: str) -> None:
    made = proposal(text)
    assert made.yaml
    reading = pasted(text, made.yaml)
    assert said(reading) == []
    assert all(row.figures for row in reading.rows)


def test_it_tells_what_is_a_guess_and_what_is_left_to_decide() -> None:
    text = proposal(SWEEP).yaml
    assert text
    assert text.startswith("# Proposed from the names of keys alone.")
    assert "        attempted: n_req  # a guess: taken as requests that were sent\n" in text
    assert "      #   latency_p50: its name says no unit: ms or s\n" in text
    assert "metric: latency.e2e" not in text
    mapping = yaml.safe_load(text)["files"][0]["mapping"]
    assert mapping["rows"] == "rows"
    assert mapping["envelope"] == {"concurrency": "concurrency", "model": "$.model"}


def test_requests_are_samples_and_success_tells_them_apart() -> None:
    made = proposal(REQUESTS)
    assert made.yaml
    (row,) = pasted(REQUESTS, made.yaml).rows
    assert row.requests is not None
    assert (row.requests.completed, row.requests.failed) == (6, 3)
    assert row.samples == {"latency.ttft": 6}


def test_what_the_file_contradicts_is_left_out() -> None:
    runs = [{"latency_s": 1.0}, {"latency_s": 2.0}]
    made = proposal(json.dumps({"mean_latency_s": 9.0, "runs": runs}))
    assert made.suggestion is not None
    assert made.suggestion.mapping is not None
    assert "figures" not in made.suggestion.mapping or not made.suggestion.mapping["figures"]
    assert "mean_latency_s says 9 s" in made.suggestion.left_out["mean_latency_s"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no JSON"),
        ("hello\nworld\n", "no JSON"),
        ('{"a": 1}', "no key of it names a metric"),
        ("a,b\n1,2\n", "no key of it names a metric"),
        ('{"ttft_p99_ms": "fast"}', "no key of it names a metric"),
    ],
)
def test_nothing_is_proposed_of_nothing(text: str, why: str) -> None:
    made = proposal(text)
    assert made.yaml is None
    assert why in made.why_not


NAMES = st.text(max_size=8) | st.sampled_from(
    [
        "ttft_ms",
        "p99_ttft_ms",
        "it's",
        "a: b",
        "#",
        "- x",
        '"',
        "\\",
        "ttft {p99} [ms]",
        "latency_s\n",
    ]
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(0, 9), st.floats(0, 9), st.text(max_size=4)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(value=st.dictionaries(NAMES, VALUES, min_size=1, max_size=5))
def test_whatever_the_names_are_a_proposal_loads(value: object) -> None:
    text = json.dumps(value)
    made = proposal(text)
    if made.yaml is not None:
        found = pasted(text, made.yaml).findings
        assert [each for each in found if each.severity == "error"] == []


@pytest.mark.corpus
def test_proposals_for_files_of_real_scripts_load(corpora: Path) -> None:
    expected = yaml.safe_load((corpora / "benchmark-files/expected.yaml").read_text("utf-8"))
    files = [
        corpora / "benchmark-files" / each["file"]
        for each in expected
        if each["format"] == "unknown"
    ]
    claimed = sorted((corpora / "claim-pairs" / "files").rglob("*.[jc]s*"))
    proposed = 0
    for file in [*files, *claimed]:
        text = file.read_text("utf-8")
        if read_file(file.name, text.encode()).format in FORMATS:
            continue
        made = proposal(text)
        if made.yaml is not None:
            proposed += 1
            errors = [each for each in pasted(text, made.yaml).findings if each.severity == "error"]
            assert errors == [], file
    assert proposed >= 20
