from __future__ import annotations

from upheld.measured.content import Content
from upheld.records.finding import Place


def test_a_place_is_a_line_and_a_column() -> None:
    content = Content("a.json", b'{"a": 1,\r\n  "b": {"c": 2}}\n')
    assert content.place(0, ("b", "c")) == Place("a.json", 2, 14)


def test_a_place_that_is_not_there_is_the_nearest_around_it() -> None:
    content = Content("a.json", b'{"a": 1,\n "b": {"c": 2}}')
    assert content.place(0, ("b", "x", "y")) == Place("a.json", 2, 7)


def test_a_byte_order_mark_is_allowed_in_front_only() -> None:
    assert Content("a.json", b'\xef\xbb\xbf{"a": 1}').documents[0].value == {"a": 1}
    assert Content("a.json", b'{"a": \xef\xbb\xbf1}').refusal is not None


def test_other_encodings_are_refused_where_they_begin() -> None:
    content = Content("a.json", '{"a":\n "é"}'.encode("latin-1"))
    assert content.refusal is not None
    assert content.refusal.rule == "UPH503"
    assert content.refusal.place == Place("a.json", 2, 3)
    assert "0xE9" in content.refusal.message


def test_text_that_is_no_json_is_kept_as_text() -> None:
    content = Content("a.csv", b"a,b\n1,2\n")
    assert content.text == "a,b\n1,2\n"
    assert content.documents == ()
    assert content.refusal is None
