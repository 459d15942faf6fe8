from __future__ import annotations

from fractions import Fraction

import pytest

from upheld.measured.envelope import Difference, compare, contradictions


def lower(axis: str, name: str) -> str:
    return name.casefold()


@pytest.mark.parametrize(
    ("axis", "claimed", "found", "covers"),
    [
        ("model", "Org/Model-8B", "org/model-8b", True),
        ("model", "org/model-8b", "org/model-70b", False),
        ("engine_version", "0.11", "0.11.2", True),
        ("engine_version", "0.11", "v0.11.2+cu128", True),
        ("engine_version", "0.11.2+cu128", "0.11.2", False),
        ("engine_version", "0.1", "0.11.2", False),
        ("engine_version", "0.11.2", "0.11", False),
        ("concurrency", 16, Fraction(16), True),
        ("concurrency", 16, "16", True),
        ("concurrency", 16, 32, False),
        ("concurrency", 16, "many", False),
        ("request_rate", Fraction(5, 2), "2.5", True),
        ("prefix_caching", True, True, True),
        ("prefix_caching", True, False, False),
        ("device", "H100", None, False),
    ],
)
def test_an_axis_is_compared_by_its_own_rule(
    axis: str, claimed: object, found: object, covers: bool
) -> None:
    differences = compare({axis: claimed}, {axis: found}, lower)
    assert differences == ([] if covers else [Difference(axis, claimed, found)])


def test_what_the_claim_leaves_open_is_not_compared() -> None:
    assert compare({"model": None}, {"model": "a", "device": "b"}, lower) == []


def test_a_record_may_say_more_than_its_file_but_not_otherwise() -> None:
    file = {"model": "a", "concurrency": 8, "engine_version": "0.11.2"}
    assert contradictions(file, {"device": "H100", "engine_version": "0.11"}, lower) == []
    assert contradictions(file, {"concurrency": 16, "model": "A"}, lower) == [
        Difference("concurrency", 16, 8)
    ]
