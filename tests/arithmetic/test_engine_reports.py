"""The arithmetic against what engines printed at start-up, in public reports by others."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine_report_checks.loading import score_weights
from engine_report_checks.scores import score_all

OWN = Path(__file__).parents[1] / "corpora" / "engine-reports"


def read(folder: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    files = [folder / name for name in ("reports.yaml", "blind.yaml")]
    return (
        [
            report
            for path in files
            if path.exists()
            for report in yaml.safe_load(path.read_text("utf-8"))
        ],
        yaml.safe_load((folder / "shapes.yaml").read_text("utf-8")),
    )


@pytest.fixture(scope="module", params=["own", pytest.param("shared", marks=pytest.mark.corpus)])
def given(request: pytest.FixtureRequest) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The reports and shapes kept here, and those of the folder of files by others."""
    if request.param == "own":
        return read(OWN)
    corpora: Path = request.getfixturevalue("corpora")
    return read(corpora / "engine-reports")


@pytest.fixture(scope="module")
def scored(given: Any) -> dict[str, Any]:
    return score_all(*given)


def do_not_follow() -> set[str]:
    """The cases that say why they are missed. Nothing is scored by it."""
    return {report["id"] for report in read(OWN)[0] if "does_not_follow" in report}


def test_all_but_the_known_misses_are_exact(scored: dict[str, Any]) -> None:
    missed = {case["id"] for case in scored["cases"] if case["verdict"] != "exact"}
    assert missed <= do_not_follow()
    assert scored["summary"]["exact"] >= 0.97 * scored["summary"]["total"]


@pytest.mark.parametrize(
    ("number", "verdicts"),
    [
        (1, {"exact": 89, "missed": 12, "within": 3, "error": 1, "not-predicted": 1}),
        (2, {"exact": 29, "missed": 3}),
    ],
)
def test_the_blind_scores_stay_as_they_were(number: int, verdicts: dict[str, int]) -> None:
    reports = yaml.safe_load((OWN / "blind.yaml").read_text("utf-8"))
    of_round = [report for report in reports if report["blind_round"] == number]
    assert Counter(report["first_verdict"] for report in of_round) == Counter(verdicts)


def test_what_is_said_not_to_follow_is_missed() -> None:
    cases = score_all(*read(OWN))["cases"]
    missed = {case["id"] for case in cases if case["verdict"] != "exact"}
    assert missed == do_not_follow()


def test_nothing_is_exact_for_want_of_a_check(scored: dict[str, Any]) -> None:
    for case in scored["cases"]:
        assert case["checks"], case["id"]


def test_same_digits_are_the_same(scored: dict[str, Any]) -> None:
    for case in scored["cases"]:
        for check in case["checks"]:
            if (check["verdict"], check["compared"]) == ("exact", "digits"):
                printed, predicted = (
                    float(check[name].replace(",", "")) for name in ("printed", "predicted")
                )
                assert printed == predicted, case["id"]


@pytest.mark.parametrize("perturb", ["layers", "kv-heads", "head-width"])
def test_a_wrong_shape_loses_most_of_its_exact_cases(
    given: Any, scored: dict[str, Any], perturb: str
) -> None:
    wrong = score_all(*given, perturb)["summary"]["exact"]
    assert wrong < scored["summary"]["exact"] / 4


# Of 62 printed figures; the others say why they are not predicted.
EXACT_WEIGHTS = 51


def test_weights_that_are_predicted_are_exact_but_for_the_known_miss(
    scored: dict[str, Any],
) -> None:
    found = scored["weights"]
    predicted = [row for row in found["rows"] if row["verdict"] != "not-predicted"]
    missed = {row["id"] for row in predicted if row["verdict"] != "exact"}
    assert missed == {report["id"] for report in read(OWN)[0] if "weights_do_not_follow" in report}
    assert found["exact"] >= EXACT_WEIGHTS
    assert found["total"] == len(found["rows"])


def test_weights_that_are_not_predicted_say_why(scored: dict[str, Any]) -> None:
    for row in scored["weights"]["rows"]:
        assert (row["verdict"] == "not-predicted") == bool(row.get("reason")), row["id"]


@pytest.mark.parametrize("field", ["num_hidden_layers", "hidden_size", "intermediate_size"])
def test_a_wrong_shape_loses_its_exact_weights(
    given: Any, scored: dict[str, Any], field: str
) -> None:
    reports, shapes = given
    wrong = {
        name: shape | {field: round(shape[field] * 1.04), "parameters": None}
        for name, shape in shapes.items()
        if field in shape
    }
    assert score_weights(reports, wrong)["exact"] < scored["weights"]["exact"] / 10


def test_every_report_and_shape_kept_here_names_its_source() -> None:
    reports, shapes = read(OWN)
    assert [report["id"] for report in reports if not report["source"]] == []
    assert [name for name, shape in shapes.items() if not shape["source"]] == []
    assert shapes.keys() == {report["model_shape"] for report in reports} & shapes.keys()
    assert {report["basis"] for report in reports} == {"stated", "inferred"}
