from __future__ import annotations

import pytest

from mapped_files import record, run_of
from upheld.records.claim import Axes
from upheld.records.mapping import MappedAxes
from upheld.records.run import Run

FIGURE = "figures: [{metric: latency.ttft.p99, unit: ms, at: p99}]"


def refused(mapping: str, form: str = "json") -> list[tuple[str, str]]:
    _, found = run_of(record(form, mapping))
    assert not isinstance(found, Run)
    return [(f"{each.rule} {each.place.line}:{each.place.column}", each.message) for each in found]


def test_every_axis_can_be_mapped() -> None:
    assert list(MappedAxes.model_fields) == list(Axes.model_fields)


def test_an_unknown_key_has_its_place_and_what_was_meant() -> None:
    _, found = run_of(record("json", f"{FIGURE}\nrowz: rows"))
    assert isinstance(found, list)
    assert [(each.rule, str(each.place), each.help) for each in found] == [
        ("UPH107", "run.yaml:13:7", "did you mean 'rows'?")
    ]


def test_an_unknown_axis_too() -> None:
    ((place, message),) = refused(f"{FIGURE}\nenvelope: {{modle: model}}")
    assert place == "UPH107 13:18"
    assert message == "unknown key files[1].mapping.envelope.modle"


@pytest.mark.parametrize(
    ("line", "key", "why"),
    [
        ("{metric: latency.ttft.p99, unit: GiB, at: a}", "unit", "units that fit: ns, us, ms"),
        ("{metric: latency.ttft.p99, unit: msec, at: a}", "unit", "unknown unit 'msec'"),
        ("{metric: latency.ttft, unit: ms, at: a}", "metric", "name a statistic, such as latency"),
        ("{metric: latency.tfft.p99, unit: ms, at: a}", "metric", "unknown metric"),
        ("{metric: safety.bounded_queue, unit: ms, at: a}", "metric", "no file can have it"),
        ("{metric: budget.slots, unit: requests, at: a}", "metric", "no file can have it"),
        ("{metric: requests.failed, unit: requests, at: a}", "metric", "stands under requests:"),
        ("{metric: latency.ttft.p99, unit: ms, at: a b}", "at", "is no JMESPath from character 3"),
        ("{metric: latency.ttft.p99, unit: ms, at: '`12`'}", "at", "a value of its own"),
    ],
)  # fmt: skip
def test_a_figure_that_can_t_be_is_told_at_its_place(line: str, key: str, why: str) -> None:
    ((place, message),) = refused(f"figures:\n- {line}")
    assert place == f"UPH109 13:{9 + line.index(f'{key}: ')}"
    assert why in message


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{metric: latency.ttft.p99, unit: ms, at: a}", "write latency.ttft"),
        ("{metric: duration, unit: s, at: a}", "is of a whole run"),
    ],
)
def test_a_sample_is_of_a_single_request(line: str, why: str) -> None:
    ((_, message),) = refused(f"samples: {{values: [{line}]}}")
    assert why in message


def test_the_records_of_requests_are_all_of_them() -> None:
    value = "values: [{metric: latency.e2e, unit: s, at: s}]"
    ((place, message),) = refused(f"samples: {{each: 'runs[?ok]', {value}}}")
    assert place == "UPH109 12:17"
    assert "each finds all requests, failed ones too" in message


def test_where_leaves_no_failed_request_out() -> None:
    samples = "{completed: {ok: true}, values: [{metric: latency.e2e, unit: s, at: s}]}"
    ((_, message),) = refused(f"where: {{ok: true}}\nsamples: {samples}", "jsonl")
    assert "those that failed would be left out" in message


def test_a_metric_stands_once() -> None:
    line = "- {metric: latency.ttft.p99, unit: ms, at: a}"
    ((place, message),) = refused(f"figures:\n{line}\n{line}")
    assert place == "UPH109 12:7"
    assert "latency.ttft.p99 stands here twice" in message


def test_a_mapping_has_figures_or_samples() -> None:
    ((_, message),) = refused("rows: rows")
    assert "finds nothing; write one" in message


def test_a_known_format_has_no_mapping_and_another_needs_one() -> None:
    ((place, message),) = refused(FIGURE, "vllm-bench-serve")
    assert place == "UPH109 8:5"
    assert "has no mapping" in message
    text = record("json", FIGURE)
    _, found = run_of(text[: text.index("    mapping:")])
    assert isinstance(found, list)
    assert "upheld read --suggest FILE proposes" in found[0].message


@pytest.mark.parametrize("value", ["[a, b]", "{a: b}"])
def test_an_expression_is_one_text(value: str) -> None:
    ((_, message),) = refused(f"{FIGURE}\nrows: {value}")
    assert "wants one expression" in message
