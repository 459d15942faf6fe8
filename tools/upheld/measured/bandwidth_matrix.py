"""What the JSON and the text of nvbandwidth share: devices, a sum held against its matrix."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from upheld.measured.draft import DISAGREES, UNTOUCHED, RowDraft
from upheld.measured.printed import half_of_last_digit, shown
from upheld.measured.reading import Row
from upheld.records.units import format_number

_DEVICE = re.compile(r"(?:Device )?\d+: (?P<name>[^(]+)")


def state_devices(draft: RowDraft, lines: Sequence[str]) -> None:
    """The device and how many, where all lines such as `0: NVIDIA H200 (00000000:0c:00)` agree."""
    names = [found["name"].strip() for line in lines if (found := _DEVICE.match(line))]
    if len(set(names)) == 1:
        draft.envelope["device"] = shown(names[0])
        draft.envelope["device_count"] = len(names)
    elif names:
        draft.stated["devices"] = shown(", ".join(names))


def hold_against(draft: RowDraft, total: Fraction, rounding: Fraction, key: str) -> None:
    """A finding where the sum at `key` is not that of the matrix."""
    stated = draft.number(key)
    if stated is None:
        return
    allowed = rounding + half_of_last_digit(stated) + total / 10**9
    if abs(Fraction(stated) - total) > allowed:
        draft.find(
            DISAGREES,
            f"{key} says {format_number(Fraction(stated), 9)} GB/s, but the matrix adds up to "
            f"{format_number(total, 9)} GB/s",
            UNTOUCHED,
            key,
        )


def finish(draft: RowDraft) -> Row:
    """The row; its benchmark is the test case, whose name says what moves the copies and where."""
    if draft.case is not None:
        draft.envelope["benchmark"] = shown(draft.case)
    axes = ("benchmark", "device", "device_count")
    return draft.finish(tuple(axis for axis in axes if axis not in draft.envelope))
