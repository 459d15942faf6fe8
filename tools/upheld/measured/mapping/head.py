"""The first records of a large file: enough to see its format and its keys."""

from __future__ import annotations

import json
import re
from typing import BinaryIO

from upheld.measured.content import Content
from upheld.records.mapping import Form

HEAD_BYTES = 1024 * 1024

_BETWEEN = re.compile(r"[ \t\r\n,]*")


def head_of(path: str, stream: BinaryIO, form: Form) -> Content:
    """The whole records among the first bytes, as a file of their own.

    Every format of several records is recognised by each of them, so one that does not recognise
    these does not recognise the file. There is no record where the first is longer than all that.
    """
    stream.seek(0)
    data = stream.read(HEAD_BYTES)
    stream.seek(0)
    if form != "json":
        return Content(path, data[: data.rfind(b"\n") + 1])
    return Content(path, _whole_items(data.decode("utf-8", "ignore")).encode())


def _whole_items(text: str) -> str:
    """The array that the whole items at the beginning of an array make; else the text itself."""
    start = text.find("[")
    if text[:start].strip(" \t\r\n\ufeff") or start < 0:
        return text
    decoder = json.JSONDecoder()
    end = start + 1
    while (item := _BETWEEN.match(text, end)) is not None:
        try:
            _, end = decoder.raw_decode(text, item.end())
        except (json.JSONDecodeError, RecursionError):
            break
    return text[start:end] + "]"
