"""JSON as evidence needs it: exact numbers, no key twice, bounded before it is parsed.

The standard library's parser does the work; what it is too kind to refuse (duplicate keys, lone
surrogates, numbers of a million digits, nesting without end) is refused here, with the offset
where it stands. Several values, each on lines of its own, are several documents (JSON Lines).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Literal, TypeAlias

from upheld.records.units import MAX_DIGITS, MAX_EXPONENT

MAX_DEPTH = 64


class Special(Enum):
    """The three things that some tools write where JSON has no number for them."""

    NAN = "NaN"
    INFINITY = "Infinity"
    MINUS_INFINITY = "-Infinity"


Json: TypeAlias = "bool | int | Decimal | Special | str | list[Json] | dict[str, Json] | None"
Keys: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """One JSON value of a file and where it begins."""

    value: Json
    offset: int


class JsonRefusedError(ValueError):
    """The text is not JSON that can be relied on; `offset` is where that shows."""

    def __init__(self, offset: int, message: str, help_text: str) -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message
        self.help = help_text


def looks_like_json(text: str) -> bool:
    """Whether the text begins as a JSON object, or as an array of objects, arrays or strings."""
    return re.match(r"\s*(\{|\[\s*[\[{\"\]])", text) is not None


def parse(text: str) -> tuple[Document, ...]:
    """All JSON values of the text, each on lines of its own.

    Raises:
        JsonRefusedError: not JSON, cut short, nested deeper than 64 levels, a key twice in one
            object, a number of more than 30 digits or with an exponent beyond ±30, half of a
            surrogate pair.
    """
    _refuse_depth(text)
    decoder = json.JSONDecoder(
        object_pairs_hook=_object,
        parse_float=_decimal,
        parse_int=_integer,
        parse_constant=Special,
    )
    documents: list[Document] = []
    at = _after_space(text, 0)
    while at < len(text):
        try:
            value, end = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            message = error.msg[0].lower() + error.msg[1:]
            raise JsonRefusedError(
                error.pos, f"not JSON: {message}", "use the file as its tool wrote it, complete"
            ) from None
        except _UnreliableError:
            raise _first_refusal(text, at) from None
        documents.append(Document(value, at))
        at = _after_space(text, end)
        if at < len(text) and "\n" not in text[end:at]:
            raise JsonRefusedError(
                at,
                "not JSON: more text on the line where the value ended",
                "keep one JSON value in the file, or one on each line",
            )
    if _SURROGATE_ESCAPE.search(text):
        for document in documents:
            _refuse_surrogates(text, document.offset)
    return tuple(documents)


def positions(text: str, document: Document) -> dict[Keys, int]:
    """Where each member of an object, and each object or array, of a document begins."""
    return {
        keys: offset
        for kind, keys, offset, piece in _walk(text, document.offset)
        if kind == "value" and (piece in "{[" or (keys and isinstance(keys[-1], str)))
    }


class _UnreliableError(Exception):
    """The parser met something that a walk must find the place of."""


_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?'
_BRACKET = re.compile(rf"{_STRING}|[\[\]{{}}]", re.DOTALL)
_TOKEN = re.compile(rf"{_STRING}|[\[\]{{}},:]|[^\s\[\]{{}},:\"]+", re.DOTALL)
# As the parser takes it: `1e40x` is the number 1e40, and only then something that is not JSON.
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None
    return match.end()


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _UnreliableError
    return members


def _out_of_bounds(piece: str) -> str | None:
    mantissa, _, exponent = piece.lower().partition("e")
    if len(mantissa.lstrip("-").replace(".", "")) > MAX_DIGITS:
        return f"a number of more than {MAX_DIGITS} digits"
    if len(exponent) > 4 or (exponent and abs(int(exponent)) > MAX_EXPONENT):
        return f"a number with an exponent beyond ±{MAX_EXPONENT}"
    return None


def _decimal(piece: str) -> Decimal:
    if _out_of_bounds(piece):
        raise _UnreliableError
    return Decimal(piece)


def _integer(piece: str) -> int:
    if _out_of_bounds(piece):
        raise _UnreliableError
    return int(piece)


def _refuse_depth(text: str) -> None:
    depth = 0
    for match in _BRACKET.finditer(text):
        piece = match.group()
        if piece in "{[":
            depth += 1
            if depth > MAX_DEPTH:
                raise JsonRefusedError(
                    match.start(),
                    f"nested deeper than {MAX_DEPTH} levels",
                    "no tool writes this; use the file as its tool wrote it",
                )
        elif piece in "}]":
            depth -= 1


def _walk(text: str, start: int) -> Iterator[tuple[Literal["key", "value"], Keys, int, str]]:
    """Each key and value with its path, offset and token; valid up to the first bad syntax."""
    path: list[str | int] = []
    in_array: list[bool] = []
    key_next = False
    for match in _TOKEN.finditer(text, start):
        piece = match.group()
        if piece in ("}", "]"):
            path.pop()
            in_array.pop()
            key_next = False
        elif piece == ",":
            last = path[-1]
            if isinstance(last, int):
                path[-1] = last + 1
            key_next = not in_array[-1]
        elif piece == ":":
            continue
        elif key_next:
            path[-1] = json.loads(piece)
            key_next = False
            yield "key", tuple(path), match.start(), piece
        else:
            yield "value", tuple(path), match.start(), piece
            if piece in ("{", "["):
                in_array.append(piece == "[")
                path.append(0 if piece == "[" else "")
                key_next = piece == "{"
        if not path:
            return


def _first_refusal(text: str, start: int) -> JsonRefusedError:
    seen: set[Keys] = set()
    for kind, keys, offset, piece in _walk(text, start):
        if kind == "key":
            if keys in seen:
                return JsonRefusedError(
                    offset,
                    f"the key {piece[:60]} is twice in one object",
                    "readers disagree about which of the two counts; keep one",
                )
            seen.add(keys)
        elif (number := _NUMBER.match(piece)) and (reason := _out_of_bounds(number.group())):
            return JsonRefusedError(
                offset, reason, "no measurement or shape has it; use the file as its tool wrote it"
            )
    raise AssertionError("the parser refused what the walk does not")


def _refuse_surrogates(text: str, start: int) -> None:
    for _, _, offset, piece in _walk(text, start):
        if piece[0] == '"' and _SURROGATE.search(json.loads(piece)):
            raise JsonRefusedError(
                offset,
                "a string holds half of a surrogate pair, which is no character",
                "use the file as its tool wrote it",
            )
