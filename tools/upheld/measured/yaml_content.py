"""A YAML file as JSON's kinds of values, each with its place, for tools that write YAML.

A scalar means what YAML's core schema says of a plain one: null, true, a decimal number, text.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from upheld.corpus.strict_json import Json, Keys, Special
from upheld.corpus.yaml_reader import Document, YamlError, read_yaml
from upheld.measured.content import NOT_READABLE, Content
from upheld.records.finding import Finding, Place
from upheld.records.units import MAX_DIGITS, MAX_EXPONENT

_NUMBER = re.compile(r"-?(?P<digits>[0-9]+(?:\.[0-9]+)?)(?:[eE](?P<exponent>[-+]?[0-9]{1,3}))?")
_WORDS: dict[str, bool | Special | None] = {
    "": None, "true": True, "false": False,
    ".nan": Special.NAN, ".inf": Special.INFINITY, "-.inf": Special.MINUS_INFINITY,
}  # fmt: skip


class YamlContent:
    """The one value of a YAML file. `refusal` says why it could not be read; `value` is then None.

    Reading it is bounded like that of a record (corpus/yaml_reader.py).
    """

    def __init__(self, content: Content) -> None:
        self._path = content.path
        self._document: Document | None = None
        self.value: Json = None
        self.refusal: Finding | None = None
        try:
            self._document = read_yaml(
                content.path, content.text.encode("utf-8"), empty_values=True
            )
        except YamlError as error:
            refused = error.finding
            self.refusal = Finding(
                NOT_READABLE, refused.place, refused.message, "add the file as its tool wrote it"
            )
        else:
            self.value = _json(self._document.value)

    def place(self, document: int = 0, keys: Keys = ()) -> Place:
        """Where the value at `keys` stands, or the nearest thing around it."""
        del document  # a file has one
        return Place(self._path) if self._document is None else self._document.place(keys)


def scalar(text: str) -> Json:
    """What a plain scalar means; a number beyond all bounds stays text."""
    if text.casefold() in _WORDS:
        return _WORDS[text.casefold()]
    number = _NUMBER.fullmatch(text)
    if number is None or len(number["digits"]) > MAX_DIGITS + 1:
        return text
    if abs(int(number["exponent"] or 0)) > MAX_EXPONENT:
        return text
    return int(text) if text.lstrip("-").isdigit() else Decimal(text)


def _json(value: Any) -> Json:
    if isinstance(value, dict):
        return {key: _json(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_json(each) for each in value]
    return scalar(value) if isinstance(value, str) else None
