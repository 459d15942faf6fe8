"""XML as evidence needs it: no entity, no DTD of its own, bounded, with a line for every element.

Expat of the standard library does the work. A declaration of an entity, which is how a file of
a few lines becomes one of gigabytes or reads another file, is refused; nothing is ever loaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

MAX_DEPTH = 64
MAX_ELEMENTS = 1_000_000

_PROLOG = re.compile(
    r"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--(?:[^-]|-(?!->)){0,10000}-->\s*)?"
    r"(?:<!DOCTYPE[^\[>]{0,500}(?:\[[^\]]{0,50000}\]\s*)?>\s*)?<(?P<root>[A-Za-z_][\w.-]{0,100})[\s/>]"
)


@dataclass(slots=True)
class Element:
    """One element: its name, attributes, the text directly in it, its children, where it begins."""

    name: str
    attributes: dict[str, str]
    line: int
    column: int
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def child(self, *path: str) -> Element | None:
        """The first descendant along the path of names."""
        found: Element | None = self
        for name in path:
            if found is None:
                return None
            found = next((each for each in found.children if each.name == name), None)
        return found

    def value(self, *path: str) -> str | None:
        """The text of a descendant, without space around it; None where it is absent or empty."""
        found = self.child(*path)
        return (found.text.strip() or None) if found is not None else None

    def all(self, name: str) -> Iterator[Element]:
        """Every descendant of that name, in order."""
        for each in self.children:
            if each.name == name:
                yield each
            yield from each.all(name)


class XmlRefusedError(ValueError):
    """The text is not XML that can be relied on; line and column are where that shows."""

    def __init__(self, line: int, column: int, message: str, help_text: str) -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.message = message
        self.help = help_text


def root_name(text: str) -> str | None:
    """The name of the first element, looked up without parsing; None where the text is no XML."""
    found = _PROLOG.match(text)
    return found["root"] if found else None


def parse(text: str) -> Element:
    """The root element.

    Raises:
        XmlRefusedError: not XML, cut short, an entity declared, deeper than 64 levels, or more
            than a million elements.
    """
    return _Builder().build(text)


class _Builder:
    def __init__(self) -> None:
        # The text was decoded already: an encoding that the file declares must not count again.
        self._parser = expat.ParserCreate(encoding="utf-8")
        self._parser.buffer_text = True
        self._open: list[Element] = []
        self._root: Element | None = None
        self._count = 0
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.EntityDeclHandler = self._entity
        self._parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)

    def build(self, text: str) -> Element:
        try:
            self._parser.Parse(text.encode("utf-8"), True)
        except expat.ExpatError as error:
            raise XmlRefusedError(
                error.lineno,
                error.offset + 1,
                f"not XML: {expat.ErrorString(error.code)}",
                "use the file as its tool wrote it, complete",
            ) from None
        assert self._root is not None, "expat refuses a document without an element"
        return self._root

    def _refuse(self, message: str) -> XmlRefusedError:
        return XmlRefusedError(
            self._parser.CurrentLineNumber,
            self._parser.CurrentColumnNumber + 1,
            message,
            "no benchmark tool writes this; use the file as its tool wrote it",
        )

    def _entity(self, name: str, *_: object) -> None:
        raise self._refuse(f"the entity {name[:60]!r} is declared, and entities are not expanded")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > MAX_ELEMENTS:
            raise self._refuse(f"more than {MAX_ELEMENTS:,} elements")
        if len(self._open) >= MAX_DEPTH:
            raise self._refuse(f"nested deeper than {MAX_DEPTH} levels")
        line, column = self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1
        element = Element(name, attributes, line, column)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self._root = element
        self._open.append(element)

    def _end(self, _: str) -> None:
        self._open.pop()

    def _characters(self, text: str) -> None:
        if self._open:
            self._open[-1].text += text
