from __future__ import annotations

from decimal import Decimal

import pytest

from upheld.corpus.strict_json import Json, Special
from upheld.measured.content import Content
from upheld.measured.yaml_content import YamlContent, scalar


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None), ("null", "null"), ("true", True), ("False", False), ("0", 0), ("-12", -12),
        ("0.10", Decimal("0.10")), ("1.5e-7", Decimal("1.5e-7")), (".inf", Special.INFINITY),
        (".NaN", Special.NAN), ("0.9.0.1", "0.9.0.1"), ("1e999", "1e999"), ("1_000", "1_000"),
        ("9" * 40, "9" * 40), ("12 ms", "12 ms"),
    ],
)  # fmt: skip
def test_what_a_scalar_means(text: str, value: Json) -> None:
    assert scalar(text) == value
    assert type(scalar(text)) is type(value)


def test_values_keep_their_places_and_null_is_nothing() -> None:
    yaml = YamlContent(Content("a.yaml", b"a:\n  b: 1.5\n  c: null\nd: [1, x]\n"))
    assert yaml.value == {"a": {"b": Decimal("1.5"), "c": None}, "d": [1, "x"]}
    assert yaml.place(0, ("a", "b")).line == 2
    assert yaml.place(0, ("a", "z")).line == 1
    assert yaml.refusal is None


def test_what_is_no_yaml_is_refused_with_its_place() -> None:
    yaml = YamlContent(Content("a.yaml", b"a: 1\nb: [\n"))
    assert yaml.value is None
    assert yaml.refusal is not None
    assert (yaml.refusal.rule, yaml.refusal.place.line) == ("UPH503", 3)
    assert yaml.place().line == 1
