from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from upheld.measured.reading import FileReading

Read = Callable[[str], FileReading]
ReadChanged = Callable[[str, Callable[[Any], object]], FileReading]


def test_scores_of_lm_eval(read: Read) -> None:
    reading = read("lm-eval.json")
    assert reading.tool_version == "0.4.9"
    assert reading.all_findings == ()
    assert [(row.case, row.figures[0].name, row.figures[0].value) for row in reading.rows] == [
        ("arc_challenge acc", "quality.answers", Fraction("0.5")),
        ("arc_challenge acc_norm", "quality.answers", Fraction("0.54")),
        ("gsm8k exact_match strict-match", "quality.answers", Fraction("0.75")),
        ("wikitext word_perplexity", "quality.perplexity", Fraction("9.25")),
    ]
    assert reading.rows[0].samples == {"quality.answers": 1001}
    assert reading.rows[2].samples == {}
    assert reading.rows[0].envelope == {
        "model": "example-org/example-8b", "model_revision": "0123abc", "weight_dtype": "bf16",
        "benchmark": "arc_challenge",
    }  # fmt: skip
    assert reading.rows[0].stated["limit"] == "1001"


def test_scores_of_lighteval(read: Read) -> None:
    reading = read("lighteval.json")
    assert reading.all_findings == ()
    assert [row.case for row in reading.rows] == [
        "leaderboard|arc:challenge|25 acc", "leaderboard|arc:challenge|25 acc_norm", "all acc",
    ]  # fmt: skip
    assert reading.rows[0].samples == {"quality.answers": 1001}
    assert reading.rows[2].samples == {}
    assert "weight_dtype" not in reading.rows[0].envelope


@pytest.mark.parametrize(
    ("score", "rule"), [(0.6, "UPH502"), (1.5, "UPH507"), (-0.5, "UPH507"), ("x", "UPH507")]
)
def test_a_score_that_was_edited_is_found(
    score: object, rule: str, read_changed: ReadChanged
) -> None:
    def edit(saved: dict[str, Any]) -> None:
        saved["results"]["arc_challenge"]["acc,none"] = score

    assert rule in [each.rule for each in read_changed("lm-eval.json", edit).all_findings]


def test_results_without_a_score_that_is_read_measure_nothing(read_changed: ReadChanged) -> None:
    def edit(saved: dict[str, Any]) -> None:
        saved["results"] = {"wikitext": {"bits_per_byte,none": 0.6}}

    reading = read_changed("lm-eval.json", edit)
    assert reading.rows == ()
    assert [each.rule for each in reading.findings] == ["UPH504"]


def test_kernels_of_nsys(read: Read) -> None:
    reading = read("nsys-kernels.csv")
    assert reading.all_findings == ()
    first, second = reading.rows
    assert first.case == "void gemm<(int)4, bf16>(int, T2)"
    assert first.samples == {"time": 30}
    assert [each.name for each in first.figures] == [
        "time.mean", "time.p50", "time.min", "time.max", "time.std",
    ]  # fmt: skip
    assert [each.name for each in second.figures] == ["time.mean"]


def test_a_trace_is_recognised_and_spans_a_time(read: Read, read_changed: ReadChanged) -> None:
    (row,) = read("chrome-trace.json").rows
    assert [(each.name, each.value, each.unit) for each in row.figures] == [
        ("duration", Fraction("1000.25"), "us")
    ]
    assert row.stated["events"] == "3"
    empty = read_changed("chrome-trace.json", lambda saved: saved.update(traceEvents=[]))
    assert [each.rule for each in empty.all_findings] == ["UPH504"]


def test_what_nodes_and_pods_say_of_devices(read: Read) -> None:
    whole, shared = read("kubernetes-nodes.json").rows
    assert whole.case == "node-a"
    assert whole.envelope == {
        "device": "Example-GPU-80GB", "device_count": 8, "operating_system": "Ubuntu 24.04.2 LTS",
    }  # fmt: skip
    assert whole.stated["allocatable_of_nvidia.com/gpu"] == "7"
    assert shared.envelope == {}
    assert shared.stated["product"] == "Example-GPU-80GB-SHARED: a part of a device"
    (pod,) = read("kubernetes-pods.json").rows
    assert pod.case == "inference/serve-0"
    assert pod.envelope == {"device_count": 2}
    assert pod.stated["digest_of_engine"] == "registry.example/engine@sha256:00aa"
    assert pod.stated["restarts_of_engine"] == "3"
    assert "--tensor-parallel-size 2" in pod.stated["command_of_engine"]
    assert pod.requests is None


def test_other_objects_of_kubernetes_are_unknown(read_changed: ReadChanged) -> None:
    def edit(saved: dict[str, Any]) -> None:
        saved["items"][0]["kind"] = "ConfigMap"

    assert read_changed("kubernetes-nodes.json", edit).format == "unknown"
