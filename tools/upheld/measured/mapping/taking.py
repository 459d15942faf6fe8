"""A value that an expression found, as the number, name or count that its field wants."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from upheld.corpus.strict_json import Json, Special
from upheld.measured.mapping.csv_file import number_in
from upheld.measured.reading import AxisValue
from upheld.records.envelope import AXES
from upheld.records.shorten import shorten

Number = int | Decimal


class Otherwise(Exception):
    """Not what was wanted: `found` says what was found instead.

    `nothing`: there was nothing, or what a tool writes where it measured nothing.
    """

    def __init__(self, found: str, nothing: bool = False) -> None:
        super().__init__(found)
        self.found = found
        self.nothing = nothing


def single(value: Json) -> str | int | Decimal | bool:
    """The value, or the only one of a list.

    Raises:
        Otherwise: there is none, or several, or one that holds others.
    """
    if isinstance(value, list):
        if len(value) > 1:
            raise Otherwise(f"{len(value):,} values where one is wanted")
        value = value[0] if value else None
    match value:
        case None | "":
            raise Otherwise("nothing", nothing=True)
        case Special():
            raise Otherwise(f"{value.value}, which is no measurement", nothing=True)
        case dict() | list():
            kind = "object" if isinstance(value, dict) else "list"
            raise Otherwise(f"a whole {kind} where one value is wanted")
        case _:
            return value


def number(value: Json, texts: bool) -> Number:
    """An exact number that is not negative. `texts`: it may be written as text, as in CSV.

    Raises:
        Otherwise: it is something else.
    """
    found = single(value)
    if texts and isinstance(found, str):
        read = number_in(found)
        found = found if read is None else read
    match found:
        case bool():
            raise Otherwise(f"{str(found).lower()} where a number is wanted")
        case int() | Decimal():
            if found < 0:
                raise Otherwise(f"the negative number {found}")
            return found
        case str():
            raise Otherwise(f"the text {shorten(found)!r} where a number is wanted")


def whole(value: Json, texts: bool) -> int:
    """A count.

    Raises:
        Otherwise: it is something else.
    """
    found = number(value, texts)
    if found != int(found):
        raise Otherwise(f"{found}, which is not whole, where a count is wanted")
    return int(found)


def name(value: Json) -> str:
    """A text, or a number as it is written.

    Raises:
        Otherwise: it is something else.
    """
    found = single(value)
    return str(found).lower() if isinstance(found, bool) else str(found)


def axis(value: Json, texts: bool, axis_name: str) -> AxisValue:
    """What a file states on an axis of the envelope.

    Raises:
        Otherwise: it is nothing that the axis takes.
    """
    if AXES[axis_name].comparison != "number":
        found = single(value)
        return found if isinstance(found, bool) else name(value)
    return Fraction(number(value, texts)) if axis_name == "request_rate" else whole(value, texts)


def same(value: Json, wanted: str) -> bool:
    """Whether a value of the file is the one that a record writes as text."""
    if isinstance(value, bool):
        return wanted == str(value).lower()
    if isinstance(value, int | Decimal):
        read = number_in(wanted)
        return read is not None and read == value
    if isinstance(value, str) and value != wanted:
        read, there = number_in(wanted), number_in(value)
        return read is not None and read == there
    return value == wanted


def holds_something(value: Json) -> bool:
    """Whether an error's field says that there was one."""
    return value not in (None, "", False, 0, [], {}) and value not in ("0", "false", "False")
