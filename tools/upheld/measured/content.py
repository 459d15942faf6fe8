"""A raw file's content: decoded once, parsed once, with a place for every finding about it."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from upheld.corpus.strict_json import (
    Document,
    JsonRefusedError,
    Keys,
    looks_like_json,
    parse,
    positions,
)
from upheld.records.finding import Finding, Place

NOT_READABLE = "UPH503"


class Content:
    """What formats look at: `text`, and `documents` where the text is JSON or JSON Lines.

    `refusal` says why a file that is not UTF-8, or that begins as JSON, could not be read;
    it has no documents then. A file that is no JSON at all has neither.
    """

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.text = ""
        self.documents: tuple[Document, ...] = ()
        self.refusal: Finding | None = None
        self._line_starts: list[int] | None = None
        self._positions: dict[int, dict[Keys, int]] = {}
        try:
            self.text = data.decode("utf-8").removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            line_start = data.rfind(b"\n", 0, error.start) + 1
            self.refusal = Finding(
                NOT_READABLE,
                Place(
                    path,
                    data.count(b"\n", 0, error.start) + 1,
                    len(data[line_start : error.start].decode("utf-8")) + 1,
                ),
                f"the byte 0x{data[error.start]:02X} is not UTF-8",
                "add the file as the tool wrote it; a text file of another encoding must be "
                "converted to UTF-8 first",
            )
            return
        if looks_like_json(self.text):
            try:
                self.documents = parse(self.text)
            except JsonRefusedError as refused:
                self.refusal = Finding(
                    NOT_READABLE, self._at(refused.offset), refused.message, refused.help
                )

    def place(self, document: int = 0, keys: Keys = ()) -> Place:
        """Where the value at `keys` of a document stands, or the nearest thing around it."""
        if not self.documents:
            return Place(self.path)
        known = self._positions.get(document)
        if known is None:
            known = positions(self.text, self.documents[document])
            self._positions[document] = known
        while keys and keys not in known:
            keys = keys[:-1]
        return self._at(known.get(keys, self.documents[document].offset))

    def _at(self, offset: int) -> Place:
        if self._line_starts is None:
            lengths = (len(line) + 1 for line in self.text.split("\n"))
            self._line_starts = [0, *accumulate(lengths)]
        line = bisect_right(self._line_starts, offset)
        return Place(self.path, line, offset - self._line_starts[line - 1] + 1)
