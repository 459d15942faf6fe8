from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from upheld.corpus.strict_json import (
    JsonRefusedError,
    Special,
    looks_like_json,
    parse,
    positions,
)


def test_numbers_are_exact() -> None:
    (document,) = parse('{"total":9007199254740993,"p99":0.1,"rate":123456789012345678.5}')
    assert document.value == {
        "total": 9007199254740993,
        "p99": Decimal("0.1"),
        "rate": Decimal("123456789012345678.5"),
    }


def test_several_values_are_several_documents() -> None:
    documents = parse('{"a": 1}\n{"a": 2}\n\n')
    assert [document.value for document in documents] == [{"a": 1}, {"a": 2}]
    assert documents[1].offset == 9


def test_what_is_no_number_is_kept_apart() -> None:
    (document,) = parse('{"a": NaN, "b": Infinity, "c": -Infinity}')
    assert document.value == {
        "a": Special.NAN,
        "b": Special.INFINITY,
        "c": Special.MINUS_INFINITY,
    }


@pytest.mark.parametrize(
    ("text", "offset", "says"),
    [
        ('{"a": 1, "b": {"c": 1, "c": 2}}', 23, "twice"),
        (r'{"a": 1, "\u0061": 2}', 9, "twice"),
        ('{"a": [1, 1e31]}', 10, "exponent"),
        ('{"a": [1, 1e999999999999]}', 10, "exponent"),
        ('{"a": 1e40x}', 6, "exponent"),
        ('{"a": -0E40E', 6, "exponent"),
        ('{"a": ' + "1" * 31 + "x}", 6, "digits"),
        ('{"a": ' + "1" * 31 + "}", 6, "digits"),
        ('{"a": -' + "1" * 5000 + "}", 6, "digits"),
        ("[" * 65 + "]" * 65, 64, "deeper"),
        (r'{"a": "\ud800"}', 6, "surrogate"),
        (r'{"\udc00": 1}', 1, "surrogate"),
        ('{"a": 1 /* x */}', 8, "not JSON"),
        ('{"a": 1} {"a": 2}', 9, "more text"),
        ('{"a": 1', 7, "not JSON"),
        ('{"a": "x', 6, "not JSON"),
        ('{"a": 01}', 7, "not JSON"),
        ('{"a": 1}\n{"a": ', 15, "not JSON"),
        ('{"a": "\x01"}', 7, "not JSON"),
    ],
)
def test_refuses(text: str, offset: int, says: str) -> None:
    with pytest.raises(JsonRefusedError) as refused:
        parse(text)
    assert says in refused.value.message
    assert refused.value.offset == offset


def test_a_whole_surrogate_pair_is_a_character() -> None:
    (document,) = parse(r'{"a": "\ud83d\ude00"}')
    assert document.value == {"a": "😀"}


def test_brackets_in_strings_are_no_depth() -> None:
    text = '{"a": "' + "[" * 100 + r"\"{" + '"}'
    assert parse(text)[0].value == {"a": "[" * 100 + '"{'}


def test_an_unclosed_string_of_escapes_takes_linear_time() -> None:
    with pytest.raises(JsonRefusedError):
        parse('{"a": "' + '\\"' * 1_000_000)


def test_positions_of_members_and_of_what_holds_others() -> None:
    text = '{"a": 1,\n "b": [{"c": 2}, 3]}'
    (document,) = parse(text)
    assert positions(text, document) == {
        (): 0,
        ("a",): text.index("1"),
        ("b",): text.index("["),
        ("b", 0): text.index('{"c"'),
        ("b", 0, "c"): text.index("2"),
    }


@pytest.mark.parametrize("text", ["[11/12/2024] started", "# TYPE vllm:x counter", "a,b\n1,2", ""])
def test_other_text_does_not_look_like_json(text: str) -> None:
    assert not looks_like_json(text)


@given(st.text(alphabet='{}[]",:\\u0123456789.eE-+ntrfasl \n', max_size=60))
@example("0E40E")
def test_any_text_is_parsed_or_refused_inside_it(text: str) -> None:
    offset = 0
    try:
        parse(text)
    except JsonRefusedError as refused:
        offset = refused.offset
    assert 0 <= offset <= len(text)
