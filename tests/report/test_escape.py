from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upheld.report.escape import one_line, printable

# With surrogates, as file names that are not UTF-8 bring them.
_ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(_ANY_TEXT)
def test_what_is_shown_has_nothing_that_a_terminal_obeys_and_can_be_encoded(text: str) -> None:
    for shown in (printable(text), one_line(text)):
        assert shown.isprintable()
        shown.encode("utf-8")


@given(_ANY_TEXT, st.sampled_from(["::error::x", "##[error]x", "##vso[x]y", "::stop-commands::z"]))
def test_what_is_shown_is_no_command_to_a_ci_runner(text: str, command: str) -> None:
    shown_texts = [
        show(each)
        for show in (printable, one_line)
        for each in (command, text + command, command + text, f"  {command}")
    ]
    for shown in shown_texts:
        assert not shown.lstrip().startswith("::")
        assert not re.search(r"##(\[|vso\[)", shown)


@given(st.text(st.characters(categories=("L", "N", "P", "S")), min_size=1))
def test_what_is_harmless_is_shown_as_it_is(text: str) -> None:
    harmless = text.replace(":", "").replace("#", "")
    assert printable(harmless) == one_line(harmless) == harmless


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\x9b31mb", "a\\x9b31mb"),
        ("a\x07b\x7f", "a\\x07b\\x7f"),
        ("safe\u202elive", "safe\\u202elive"),
        ("a\u200bb\ufeff", "a\\u200bb\\ufeff"),
        ("a\udcffb", "a\\udcffb"),
        ("a\U000e0041b", "a\\U000e0041b"),
    ],
)
def test_characters(text: str, shown: str) -> None:
    assert printable(text) == one_line(text) == shown


def test_ends_of_lines() -> None:
    assert printable("a\nb\rc") == "a\\nb\\rc"
    assert one_line(" a\n\n::b\r\tc\u2028d ") == "a ::b c d"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::error file=a::b", "\\x3a:error file=a::b"),
        ("\n  ::error::b", "\\x3a:error::b"),
        ("it is ::b", "it is ::b"),
        ("see ##[error]b", "see \\x23#[error]b"),
        ("###[error]b", "#\\x23#[error]b"),
        ("##vso[task.x]b", "\\x23#vso[task.x]b"),
        ("## Heading", "## Heading"),
    ],
)
def test_commands_to_ci_runners(text: str, shown: str) -> None:
    assert one_line(text) == shown


def test_a_line_that_is_indented_is_obeyed_as_well() -> None:
    assert printable("  ::error::b") == "  \\x3a:error::b"
