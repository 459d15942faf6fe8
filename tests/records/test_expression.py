from __future__ import annotations

import pytest

from upheld.records.expression import ExpressionError, parse_expression, quoted

FILE = {"model": "m", "rows": [{"n": 1, "tags": ["a"]}, {"n": 2, "tags": ["b"]}], "errors": []}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("model", "m"),
        ("rows[?n == `2`].tags | [0][0]", "b"),
        ("rows[?contains(tags, 'b')].n", [2]),
        ("rows[?length(tags) > `0` && !(n == `1`)].n", [2]),
        ("rows[*].n", [1, 2]),
        ("nothing.here", None),
        ("nothing || model", "m"),
    ],
)
def test_an_expression_finds(text: str, found: object) -> None:
    assert parse_expression(text).find(FILE) == found


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("`0.1`", "a value of its own"),
        ("ttft || `0.1`", "a value of its own"),
        ("'12'", "a value of its own"),
        ("[model, rows]", "a list that it makes"),
        ("{a: model}", "an object that it makes"),
        ("a == b", "a comparison"),
        ("sum(rows[].n)", r"sum\(\) is not for here"),
        ("length(rows)", r"length\(\) is not for here"),
        ("max_by(rows, &n)", r"max_by\(\) is not for here"),
        ("rows[?sum(tags) > `1`]", r"sum\(\) is not for here"),
        ("ttft (ms)", "no function 'ttft'; a key with a space"),
        ("a b", "from character 3 on"),
        ("a.", "no JMESPath"),
        ("", "no JMESPath"),
        ("(" * 190, "cut short or too deep"),
        ("!" * 199 + "a", "cut short or too deep|a comparison"),
        ("a" * 201, "longer than 200 characters"),
    ],
)
def test_what_does_more_than_finding_is_refused(text: str, why: str) -> None:
    with pytest.raises(ExpressionError, match=why):
        parse_expression(text)


def test_a_count_may_be_the_length_of_a_list_and_of_nothing_else() -> None:
    assert parse_expression("length(rows)", counting=True).find(FILE) == 2
    with pytest.raises(ExpressionError):
        parse_expression("length(model)", counting=True).find(FILE)


def test_the_root_of_the_file_is_a_dollar() -> None:
    assert parse_expression("$.model").of_file
    assert parse_expression("$").find(FILE) == FILE
    assert not parse_expression("model").of_file


def test_a_plain_path_has_keys_and_others_have_none() -> None:
    assert parse_expression("a.b.c").keys == ("a", "b", "c")
    assert parse_expression('"TTFT (ms)"').keys == ("TTFT (ms)",)
    assert parse_expression("a[0]").keys is None
    assert parse_expression(quoted("a b", 'c"d', "e")).keys == ("a b", 'c"d', "e")


def test_a_choice_of_some_is_seen() -> None:
    assert parse_expression("runs[?ok]").chooses
    assert parse_expression("runs[:5]").chooses
    assert not parse_expression("result.runs[]").chooses
