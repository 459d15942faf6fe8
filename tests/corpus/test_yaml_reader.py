from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from upheld.corpus import yaml_reader
from upheld.corpus.yaml_reader import MAX_ALIASES, MAX_BYTES, MAX_DEPTH, YamlError, read_yaml

# The reader refuses them, though they are of the category of letters.
LETTERS_DRAWN_AS_NOTHING = "\u115f\u1160\u3164\uffa0"


def value(text: str) -> Any:
    return read_yaml("a.yaml", text.encode()).value


def refusal(data: str | bytes) -> tuple[str, int, int, str]:
    """Rule, line, column and message."""
    with pytest.raises(YamlError) as caught:
        read_yaml("a.yaml", data if isinstance(data, bytes) else data.encode())
    finding = caught.value.finding
    assert finding.help
    assert len(finding.message) < 300
    return finding.rule, finding.place.line, finding.place.column, finding.message


class TestValues:
    @pytest.mark.parametrize(
        "text",
        ["NO", "yes", "014", "0o14", "0x1F", "0b11", "1_000", "1.10", "1e3", ".5", ".nan", "-.INF",
         "12:30:45", "22:22", "2026-11-02", "2026-11-08 10:00:00 -25:00", "+5", "true", "1e400",
         "9" * 20_000, "="],
    )  # fmt: skip
    def test_every_scalar_stays_the_text_that_was_written(self, text: str) -> None:
        assert value(f"a: {text}") == {"a": text}

    def test_keys_that_other_readers_take_for_one(self) -> None:
        assert value('1: a\n"1.0": b\n1.00: c\ntrue: d\nyes: e\n') == {
            "1": "a", "1.0": "b", "1.00": "c", "true": "d", "yes": "e",
        }  # fmt: skip

    def test_quoted_text_may_be_empty_or_look_like_nothing(self) -> None:
        assert value("a: ''\nb: \"~\"\nc: 'null'\n'<<': d\n") == {
            "a": "", "b": "~", "c": "null", "<<": "d",
        }  # fmt: skip

    def test_few_aliases_are_written_out(self) -> None:
        assert value("a: &x [1, 2]\nb: *x\n") == {"a": ["1", "2"], "b": ["1", "2"]}

    def test_a_mark_of_byte_order_and_line_ends_of_windows_are_fine(self) -> None:
        document = read_yaml("a.yaml", b"\xef\xbb\xbfa: 1\r\nb: 2\r\n")
        assert document.value == {"a": "1", "b": "2"}
        assert document.positions[("b",)] == (2, 1)

    @given(
        st.recursive(
            st.text(
                st.characters(
                    codec="utf-8",
                    exclude_categories=("C", "Z"),
                    exclude_characters=LETTERS_DRAWN_AS_NOTHING,
                ),
                min_size=1,
            ),
            lambda inner: st.lists(inner) | st.dictionaries(
                st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=1), inner
            ),
            max_leaves=20,
        )
    )  # fmt: skip
    def test_round_trip(self, written: Any) -> None:
        text = yaml.safe_dump(written, allow_unicode=True, default_style="'", width=10**6)
        assert value(text) == written


class TestAnyInput:
    @given(st.binary(max_size=200))
    def test_bytes(self, data: bytes) -> None:
        _read_or_refuse(data)

    @given(st.text(max_size=200))
    def test_text(self, text: str) -> None:
        _read_or_refuse(text.encode("utf-8", "surrogatepass"))

    @given(
        st.text("ab01:-?[]{}&*!|>'\"%@`#,. \n\t<~\\\r\u0085\u2028\ufeff\u202e", max_size=60)
    )  # fmt: skip
    def test_text_that_is_nearly_yaml(self, text: str) -> None:
        _read_or_refuse(text.encode())


def _read_or_refuse(data: bytes) -> None:
    try:
        document = read_yaml("a.yaml", data)
    except YamlError as error:
        place = error.finding.place
        rule, place = error.finding.rule, error.finding.place
    else:
        rule, place = None, document.place()
        _is_plain(document.value)
    assert rule in {None, "UPH101", "UPH102", "UPH103", "UPH104", "UPH105"}
    lines = data.decode("utf-8", "replace").split("\n")
    assert 1 <= place.line <= len(lines) + 1
    assert 1 <= place.column <= max(map(len, lines)) + 1


def _is_plain(found: Any) -> None:
    if isinstance(found, dict):
        for key, inner in found.items():
            assert type(key) is str
            _is_plain(inner)
    elif isinstance(found, list):
        for inner in found:
            _is_plain(inner)
    else:
        assert type(found) is str


class TestPositions:
    TEXT = """\
# a comment
kind: adr
claims:
  - id: é
    within: {é: x, deployment: y}
  - id: two
    says: >-
      folded
      text
"quoted": last
"""

    @pytest.mark.parametrize(
        ("path", "place"),
        [
            ((), (2, 1)),
            (("kind",), (2, 1)),
            (("claims",), (3, 1)),
            (("claims", 0), (4, 5)),
            (("claims", 0, "id"), (4, 5)),
            (("claims", 0, "within"), (5, 5)),
            (("claims", 0, "within", "deployment"), (5, 20)),
            (("claims", 1), (6, 5)),
            (("claims", 1, "says"), (7, 5)),
            (("quoted",), (10, 1)),
            (("claims", 1, "nothing", "here"), (6, 5)),
            (("nothing",), (2, 1)),
        ],
    )
    def test_are_of_the_key(self, path: tuple[str | int, ...], place: tuple[int, int]) -> None:
        found = read_yaml("a.yaml", self.TEXT.encode()).place(path)
        assert (found.line, found.column) == place

    @given(
        st.lists(st.text("abcé漢😀", min_size=1, max_size=5), unique=True, min_size=1, max_size=8),
        st.integers(0, 3),
    )
    def test_are_where_the_key_is_written(self, keys: list[str], blanks: int) -> None:
        lines: list[str] = []
        for key in keys:
            lines += ["# é漢😀"] * blanks
            lines.append(f"{key}: {{é😀: 1, inner: 2}}")
        document = read_yaml("a.yaml", "\n".join(lines).encode())
        for key in keys:
            for path, word in (((key,), f"{key}:"), ((key, "inner"), "inner:")):
                place = document.place(path)
                assert lines[place.line - 1][place.column - 1 :].startswith(word)


class TestNotYaml:
    @pytest.mark.parametrize("data", ["", "\n\n", "# only a comment\n"])
    def test_empty(self, data: str) -> None:
        assert refusal(data) == ("UPH101", 1, 1, "the file is empty")

    @pytest.mark.parametrize(
        ("data", "place", "byte"),
        [
            (b"a: \xff", (1, 4), "0xff"),
            ("é: ".encode() + b"\xff", (1, 4), "0xff"),
            (b"\xef\xbb\xbfa: 1\nb: \xe9t\xe9", (2, 4), "0xe9"),
            ("a: 1\n".encode("utf-16"), (1, 1), "0xff"),
            (b"a: \xed\xa0\x80", (1, 4), "0xed"),
            (b"a: \xc0\xaf", (1, 4), "0xc0"),
        ],
    )
    def test_not_utf_8(self, data: bytes, place: tuple[int, int], byte: str) -> None:
        assert refusal(data) == ("UPH101", *place, f"the file is not UTF-8: byte {byte}")

    @pytest.mark.parametrize(
        ("text", "place", "message"),
        [
            (
                "a:\n\tb: 1\n",
                (2, 1),
                "while scanning for the next token, found character that cannot start any token",
            ),
            ("a: b: c\n", (1, 5), "mapping values are not allowed in this context"),
            (
                "a: 1\n---\nb: 2\n",
                (2, 1),
                "expected a single document in the stream that begins "
                "on line 1, but found another document",
            ),
            ("a: 1\n...\nb: 2\n", (3, 1), "did not find expected <document start>"),
            ("a: *nobody\n", (1, 4), "found undefined alias"),
            (
                "a: [1\nb: 2\n",
                (2, 2),
                "while parsing a flow sequence that begins on line 1, did "
                "not find expected ',' or ']'",
            ),
            (
                "a: 'x\n",
                (2, 1),
                "while scanning a quoted scalar that begins on line 1, found "
                "unexpected end of stream",
            ),
            ("%YAML 9.9\n---\na: 1\n", (1, 1), "found incompatible YAML document"),
            (f"{'a' * 2000}: 1\n", (1, 2001), "mapping values are not allowed in this context"),
        ],
    )
    def test_is_placed(self, text: str, place: tuple[int, int], message: str) -> None:
        assert refusal(text) == ("UPH101", *place, f"not YAML: {message}")

    @pytest.mark.parametrize(
        ("text", "help_text"),
        [
            ("a:\n\tb: 1\n", "indent with spaces, not tabs; quote text that begins with @"),
            ("a: @b\n", "indent with spaces, not tabs; quote text that begins with @"),
            ("a: b: c\n", "quote text that holds ': '"),
            ("a: 1\n---\nb: 2\n", "keep one record a file"),
            ("a: *b\n", "define the anchor first, or write the value out"),
        ],
    )
    def test_says_how_to_mend_it(self, text: str, help_text: str) -> None:
        with pytest.raises(YamlError) as caught:
            read_yaml("a.yaml", text.encode())
        assert caught.value.finding.help == help_text


class TestKeys:
    def test_written_twice(self) -> None:
        assert refusal("id: x\nstatus: proposed\nstatus: accepted\n") == (
            "UPH102", 3, 1, "the key 'status' is written twice; it is on line 2 already",
        )  # fmt: skip

    def test_written_twice_deep_down_and_quoted(self) -> None:
        assert refusal("a:\n  - {b: 1, 'b': 2}\n") == (
            "UPH102", 2, 12, "the key 'b' is written twice; it is on line 2 already",
        )  # fmt: skip

    @pytest.mark.parametrize("text", ["[a, b]: c", "{a: b}: c", "? [a]\n: b"])
    def test_that_is_no_text(self, text: str) -> None:
        rule, *_, message = refusal(text)
        assert (rule, message) == ("UPH105", "a key is a list or a mapping")

    def test_that_merges(self) -> None:
        assert refusal("base: &b {basis: measured}\nclaim:\n  <<: *b\n") == (
            "UPH105", 3, 3, "a merge key hides where a value comes from",
        )  # fmt: skip

    @pytest.mark.parametrize("key", ["~", "null", "&a"])
    def test_that_is_nothing(self, key: str) -> None:
        assert refusal(f"{key}: x\n")[0] == "UPH105"


class TestNotPlain:
    @pytest.mark.parametrize("text", ["a:", "a: ~", "a: null", "a: NULL", "- ", "a: &x", "a: {b}"])
    def test_a_value_that_is_nothing(self, text: str) -> None:
        assert refusal(text)[::3] == ("UPH105", "the value is empty")

    @pytest.mark.parametrize(
        ("text", "tag"),
        [
            ("a: !!python/object/apply:os.system [x]", "tag:yaml.org,2002:python/object/apply:os."),
            ("a: !include /etc/passwd", "!include"),
            ("a: !!binary aGk=", "tag:yaml.org,2002:binary"),
            ("a: !!set {b: c}", "tag:yaml.org,2002:set"),
            ("a: !!int 3", "tag:yaml.org,2002:int"),
            ("!!omap [a: 1]", "tag:yaml.org,2002:omap"),
            ("!x a: 1", "!x"),
            ("a: !<tag:evil> b", "tag:evil"),
        ],
    )
    def test_a_tag(self, text: str, tag: str) -> None:
        rule, line, _, message = refusal(text)
        assert (rule, line) == ("UPH105", 1)
        assert message.startswith(f"the tag {tag}")


HIDDEN = [
    "\x00", "\x07", "\x1b", "\x7f", "\x0b", "\x0c", "\x85", "\x9b", "\xad", "\u061c", "\u180e",
    "\u200b", "\u200d", "\u200f", "\u2028", "\u2029", "\u202e", "\u2066", "\u2069", "\u3164",
    "\ufeff", "\ufffb", "\U000e0041",
]  # fmt: skip


class TestHiddenText:
    @pytest.mark.parametrize("character", HIDDEN)
    @pytest.mark.parametrize("before", ["", "é😀"])
    def test_in_the_file(self, character: str, before: str) -> None:
        assert refusal(f"a: 1\nb: {before}{character}x\n") == (
            "UPH104", 2, 4 + len(before),
            f"the file holds the hidden character U+{ord(character):04X}",
        )  # fmt: skip

    @pytest.mark.parametrize("character", HIDDEN)
    def test_by_an_escape(self, character: str) -> None:
        assert refusal(f'a: "x\\U{ord(character):08x}"\n') == (
            "UPH104", 1, 4, f"the text holds the hidden character U+{ord(character):04X}",
        )  # fmt: skip

    def test_in_a_key_by_an_escape(self) -> None:
        assert refusal('"ba\\u200bsis": measured\n')[:3] == ("UPH104", 1, 1)

    def test_half_a_character_by_an_escape(self) -> None:
        assert refusal('a: "\\ud800"\n')[0] in ("UPH101", "UPH104")

    def test_a_carriage_return_alone(self) -> None:
        assert refusal("a: 1\r\nb: x\ry\r\n")[:3] == ("UPH104", 2, 5)
        assert refusal('a: "x\\ry"\n')[:3] == ("UPH104", 1, 4)

    @pytest.mark.parametrize("blank", [" ", "\t", "\u00a0", "\u3000"])
    def test_behind_a_long_run_of_blanks(self, blank: str) -> None:
        assert refusal(f"status: proposed{blank * 200}# x\n") == (
            "UPH104", 1, 217,
            "text stands behind a long run of spaces, where a reviewer would not see it",
        )  # fmt: skip

    def test_blanks_at_the_end_of_a_line_hide_nothing(self) -> None:
        assert value(f"a: 1{' ' * 500}\r\nb: 2\n") == {"a": "1", "b": "2"}


class TestBounds:
    def test_a_file_too_large(self) -> None:
        assert refusal(b"#" * (MAX_BYTES + 1)) == (
            "UPH103", 1, 1, "the file has 1,048,577 bytes; a record has at most 1,048,576",
        )  # fmt: skip

    def test_depth(self) -> None:
        inside = "[" * (MAX_DEPTH - 1) + "x" + "]" * (MAX_DEPTH - 1)
        assert value(f"a: {inside}")
        rule, line, _, message = refusal(f"a: [[{inside}]]")
        assert (rule, line, message) == ("UPH103", 1, f"nested more than {MAX_DEPTH} deep")

    def test_depth_that_the_composer_itself_may_not_follow(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # Before libyaml 0.2.6 it has no bound of its own, and its stack ends the process.
        monkeypatch.setattr(
            yaml_reader._Builder, "build", lambda *_: pytest.fail("it was composed in full")
        )
        deep = "a:\n- [" + "[" * MAX_DEPTH + "]" * MAX_DEPTH + "]"
        assert refusal(deep) == (
            "UPH103", 2, 1 + MAX_DEPTH, f"nested more than {MAX_DEPTH} deep",
        )  # fmt: skip

    def test_breadth_is_no_depth(self) -> None:
        assert len(value("[" + "[x], {y: z}, " * MAX_DEPTH + "]")) == 2 * MAX_DEPTH

    def test_aliases(self) -> None:
        uses = [f"k{index}: *x" for index in range(MAX_ALIASES)]
        assert value("\n".join(["a: &x y", *uses]))
        assert refusal("\n".join(["a: &x y", *uses, "one: *x"])) == (
            "UPH103", MAX_ALIASES + 2, 1, f"more than {MAX_ALIASES} aliased values",
        )  # fmt: skip

    def test_values(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(yaml_reader, "MAX_NODES", 5)
        assert value("[a, b, c, d]")
        assert refusal("[a, b, c, d,\n e]") == (
            "UPH103", 2, 2, "more than 5 values once aliases are expanded",
        )  # fmt: skip

    @pytest.mark.parametrize("text", ["a: &a [*a]", "&a [*a, *a]", "&a {b: *a}"])
    def test_an_alias_within_itself(self, text: str) -> None:
        assert refusal(text)[0] == "UPH103"

    def test_a_bomb_of_aliases(self) -> None:
        lines = ['a: &a ["lol","lol","lol","lol"]']
        lines += [f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]" for a, b in pairwise("abcdefghi")]
        assert refusal("\n".join(lines))[0] == "UPH103"


# A process of its own: what hangs or ends in a stack overflow must not take the tests with it.
HANG_PRONE = {
    "flow lists": "'[' * 500_000",
    "flow mappings": "'{a: ' * 200_000",
    "block lists": "'- ' * 500_000",
    "explicit keys": "'? ' * 500_000",
    "block mappings": "'\\n'.join(' ' * depth + 'a:' for depth in range(1_000))",
    "anchors": "'&a ' * 300_000",
    "blanks": "'a: b' + ' ' * 1_000_000",
    "runs of blanks": "('x' + ' ' * 119) * 8_000",
    "quotes": "'\"' * 1_000_000",
    "long key": "'a' * 1_000_000 + ': b'",
    "keys alike": "'\\n'.join(f'k{n}: v' for n in range(90_000))",
    "digits": "'a: ' + '9' * 1_000_000",
}


@pytest.mark.parametrize("name", HANG_PRONE)
def test_a_hostile_file_is_done_with_in_time(name: str) -> None:
    program = (
        "from upheld.corpus.yaml_reader import read_yaml, YamlError\n"
        f"text = {HANG_PRONE[name]}\n"
        "try:\n    read_yaml('a.yaml', text.encode())\n"
        "except YamlError as error:\n    print(error.finding.rule)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=20, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
