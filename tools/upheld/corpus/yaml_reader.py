"""YAML by libyaml's composer, built into plain values: mappings, lists and text.

Every scalar stays text; what it means is for the record's field to say. One pass sees what a
reviewer could miss: keys written twice, aliases, tags, merge keys, hidden characters, and
documents that are too large or too deep. Each value's position is kept for the findings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.cyaml import CParser  # type: ignore[attr-defined]
from yaml.resolver import BaseResolver

from upheld.records.finding import Finding, Place
from upheld.records.shorten import shorten

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 32
MAX_NODES = 100_000
MAX_ALIASES = 50

Path = tuple[str | int, ...]
Position = tuple[int, int]

_TOO_DEEP = (f"nested more than {MAX_DEPTH} deep", "flatten the document")

_TEXT_TAG = "tag:yaml.org,2002:str"
_LIST_TAG = "tag:yaml.org,2002:seq"
_MAPPING_TAG = "tag:yaml.org,2002:map"

# Bidirectional controls, zero-width characters, and line breaks that YAML 1.1 sees and people do
# not; then C0 and C1 controls apart from tab and newline; then lone surrogates; then letters that
# are drawn as nothing, and tags, which spell text that nobody sees.
_HIDDEN = re.compile(
    "[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u0085\u2028\u2029"
    "\x00-\x08\x0b-\x0d\x0e-\x1f\x7f-\x9f\ud800-\udfff"
    "\u00ad\u115f\u1160\u180e\u3164\uffa0\ufff9-\ufffb\U000e0000-\U000e007f]"
)
# Begins at the first blank and never gives one back, so that time stays linear.
_PADDING = re.compile(r"(?<![^\S\n])[^\S\n]{120,}+(?=\S)")


@dataclass(slots=True)
class Document:
    """One YAML file: its value, and where each key and each list item stands."""

    path: str
    value: Any
    positions: dict[Path, Position] = field(default_factory=dict)

    def place(self, path: Path = ()) -> Place:
        """Where `path` stands; what has no position of its own stands where its holder does."""
        while path and path not in self.positions:
            path = path[:-1]
        line, column = self.positions.get(path, (1, 1))
        return Place(self.path, line, column)


class YamlError(Exception):
    """The file is refused; `finding` says where, why and how to mend it."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


class _TooDeepError(yaml.MarkedYAMLError):
    """A value nested deeper than any record; `problem_mark` is where its holder begins."""


class _Composer(CParser, BaseResolver):
    """libyaml's parser and composer without implicit types: every plain scalar is text.

    The composer calls itself for each level, and libyaml before 0.2.6 sets it no bound: the
    depth is counted here, before the stack ends and the process with it.
    """

    def __init__(self, text: str) -> None:
        CParser.__init__(self, text)
        BaseResolver.__init__(self)
        self._depth = -1

    def descend_resolver(self, holder: yaml.Node | None, _index: object) -> None:
        """One level down, into a value of `holder`."""
        self._depth += 1
        if self._depth > MAX_DEPTH and holder is not None:
            raise _TooDeepError(problem_mark=holder.start_mark)

    def ascend_resolver(self) -> None:
        """One level up again."""
        self._depth -= 1


def read_yaml(path: str, data: bytes, *, empty_values: bool = False) -> Document:
    """Read one YAML document from the bytes of a file.

    A value that is empty or null is refused, since a record's keys each say something; with
    `empty_values` it is the empty text.

    Raises:
        YamlError: rules UPH101 to UPH105.
    """
    if len(data) > MAX_BYTES:
        raise _refuse(
            "UPH103",
            Place(path),
            f"the file has {len(data):,} bytes; a record has at most {MAX_BYTES:,}",
            "keep raw data in a file of its own and name it in a run record",
        )
    text = _decode(path, data)
    _refuse_hidden_text(path, text)
    composer = _Composer(text)
    try:
        node = composer.get_single_node()
    except _TooDeepError as error:
        raise _refuse("UPH103", _at(path, error.problem_mark), *_TOO_DEEP) from None
    except yaml.MarkedYAMLError as error:
        raise _from_libyaml(path, error) from None
    except yaml.YAMLError as error:
        raise _refuse("UPH101", Place(path), f"not YAML: {error}", "mend the file") from None
    finally:
        composer.dispose()
    if node is None:
        raise _refuse(
            "UPH101", Place(path), "the file is empty", "write a record, or delete the file"
        )
    document = Document(path, None)
    document.value = _Builder(document, empty_values).build(node)
    return document


class _Builder:
    def __init__(self, document: Document, empty_values: bool) -> None:
        self._document = document
        self._empty_values = empty_values
        self._nodes = 0
        self._aliases = 0
        self._seen: set[int] = set()

    def build(self, node: yaml.Node, at: Path = (), depth: int = 0) -> Any:
        mark = node.start_mark
        self._document.positions.setdefault(at, (mark.line + 1, mark.column + 1))
        self._stay_inside_bounds(node, at, depth)
        if isinstance(node, yaml.ScalarNode):
            return self._text(node)
        if isinstance(node, yaml.SequenceNode):
            self._refuse_tag(node, _LIST_TAG)
            return [
                self.build(item, (*at, index), depth + 1) for index, item in enumerate(node.value)
            ]
        return self._mapping(node, at, depth)

    def _mapping(self, node: yaml.Node, at: Path, depth: int) -> dict[str, Any]:
        self._refuse_tag(node, _MAPPING_TAG)
        built: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self._key(key_node)
            here = (*at, key)
            if key in built:
                first = self._document.positions[here]
                raise self._refuse(
                    "UPH102",
                    key_node,
                    f"the key {shorten(key)!r} is written twice; it is on line {first[0]} already",
                    "keep one of the two",
                )
            mark = key_node.start_mark
            self._document.positions[here] = (mark.line + 1, mark.column + 1)
            built[key] = self.build(value_node, here, depth + 1)
        return built

    def _key(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise self._refuse(
                "UPH105", node, "a key is a list or a mapping", "write a plain word as the key"
            )
        if node.value == "<<" and not node.style:
            raise self._refuse(
                "UPH105",
                node,
                "a merge key hides where a value comes from",
                "write the keys out where they are needed",
            )
        return self._text(node)

    def _text(self, node: yaml.ScalarNode) -> str:
        self._refuse_tag(node, _TEXT_TAG)
        value: str = node.value
        if not node.style and value in ("", "~", "null", "Null", "NULL"):
            if self._empty_values:
                return ""
            raise self._refuse(
                "UPH105", node, "the value is empty", "write a value, or remove the key"
            )
        if node.style == '"':
            hidden = _HIDDEN.search(value)
            if hidden:
                raise self._refuse(
                    "UPH104",
                    node,
                    f"the text holds the hidden character {_name(hidden.group())}",
                    "remove it, or write what it stands for in words",
                )
        return value

    def _stay_inside_bounds(self, node: yaml.Node, at: Path, depth: int) -> None:
        self._nodes += 1
        self._aliases += id(node) in self._seen
        self._seen.add(id(node))
        if depth > MAX_DEPTH:
            message, help_text = _TOO_DEEP
        elif self._nodes > MAX_NODES:
            message = f"more than {MAX_NODES:,} values once aliases are expanded"
            help_text = "split the document, or write fewer aliases"
        elif self._aliases > MAX_ALIASES:
            message = f"more than {MAX_ALIASES} aliased values"
            help_text = "write the values out where they are needed"
        else:
            return
        # Where an alias is used, not where its anchor stands.
        raise _refuse("UPH103", self._document.place(at), message, help_text)

    def _refuse_tag(self, node: yaml.Node, wanted: str) -> None:
        if node.tag != wanted:
            raise self._refuse(
                "UPH105",
                node,
                f"the tag {shorten(node.tag)} is not allowed",
                "remove the tag; a field decides what its value means",
            )

    def _refuse(self, rule: str, node: yaml.Node, message: str, help_text: str) -> YamlError:
        return _refuse(rule, _at(self._document.path, node.start_mark), message, help_text)


def _decode(path: str, data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8").removeprefix("\ufeff")
        raise _refuse(
            "UPH101",
            _place_of(path, before, len(before)),
            f"the file is not UTF-8: byte 0x{data[error.start]:02x}",
            "save the file as UTF-8",
        ) from None
    return text.removeprefix("\ufeff")


def _refuse_hidden_text(path: str, text: str) -> None:
    # Carriage returns are fine before a newline and nowhere else.
    found = _HIDDEN.search(text.replace("\r\n", "\n"))
    if found:
        offset = found.start()
        raise _refuse(
            "UPH104",
            _place_of(path, text.replace("\r\n", "\n"), offset),
            f"the file holds the hidden character {_name(found.group())}",
            "remove it; what a reviewer can't see must not be in a record",
        )
    padding = _PADDING.search(text)
    if padding:
        raise _refuse(
            "UPH104",
            _place_of(path, text, padding.end()),
            "text stands behind a long run of spaces, where a reviewer would not see it",
            "move it to a line of its own",
        )


def _at(path: str, mark: yaml.Mark | None) -> Place:
    return Place(path, mark.line + 1, mark.column + 1) if mark else Place(path)


def _place_of(path: str, text: str, offset: int) -> Place:
    line_start = text.rfind("\n", 0, offset) + 1
    return Place(path, text.count("\n", 0, offset) + 1, offset - line_start + 1)


def _from_libyaml(path: str, error: yaml.MarkedYAMLError) -> YamlError:
    mark = error.problem_mark or error.context_mark
    place = _at(path, mark)
    context = error.context or ""
    if error.context_mark and mark and error.context_mark.line < mark.line:
        context += f" that begins on line {error.context_mark.line + 1}"
    problem = ", ".join(part for part in (context, error.problem) if part)
    if "nesting" in problem or "depth" in problem:
        return _refuse("UPH103", place, f"nested too deep: {problem}", "flatten the document")
    helps = {
        "cannot start any token": "indent with spaces, not tabs; quote text that begins with @",
        "but found another document": "keep one record a file",
        "undefined alias": "define the anchor first, or write the value out",
        "mapping values are not allowed": "quote text that holds ': '",
    }
    help_text = next(
        (text for part, text in helps.items() if part in problem), "mend the YAML here"
    )
    return _refuse("UPH101", place, f"not YAML: {problem}", help_text)


def _refuse(rule: str, place: Place, message: str, help_text: str) -> YamlError:
    return YamlError(Finding(rule, place, message, help_text))


def _name(character: str) -> str:
    return f"U+{ord(character):04X}"
