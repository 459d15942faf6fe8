"""What the tools that watch a GPU share: readings of one device, and the row that they make.

Utilisation is the share of time in which any kernel ran, however few multiprocessors it used.
Memory in use is that of all processes. A mean over a log includes its idle beginning and end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache

from upheld.corpus.strict_json import Json
from upheld.measured.draft import IMPOSSIBLE, UNTOUCHED
from upheld.measured.printed import PrintedDraft, exact, is_number, shown
from upheld.measured.reading import Row
from upheld.records.finding import Place

UNITS = {
    "device.utilisation": "%", "device.memory_used": "MiB", "device.memory_total": "MiB",
    "device.power": "W", "device.power_limit": "W", "device.temperature": "°C",
    "device.clock": "MHz",
}  # fmt: skip

_ABSENT = re.compile(r"\[?(?:N/A|Not Supported|Unknown Error|GPU is lost|Not Found|-)\]?", re.I)
_VALUE = re.compile(r"(?P<number>[-+]?[\d.,]+(?:[eE][-+]?\d+)?)\s*(?P<unit>[A-Za-z%°]+)?")
_SPELLINGS = {
    "MiB": "MiB", "%": "%", "W": "W", "MHz": "MHz", "C": "°C", "°C": "°C",
}  # fmt: skip
_MOST = {"device.utilisation": 100, "device.temperature": 200}


@lru_cache(maxsize=4096)
def _parsed(text: str) -> tuple[Json, str | None]:
    """The number and the unit beside it; no number where nothing was read, text where none is.

    Readings repeat themselves: most of a long log is looked up.
    """
    plain = text.strip()
    if not plain or _ABSENT.fullmatch(plain):
        return None, None
    found = _VALUE.fullmatch(plain)
    if found is None:
        return plain, None
    unit = found["unit"]
    return exact(found["number"]), None if unit is None else _SPELLINGS.get(unit, unit)


class DeviceReadings:
    """Every reading of one device, by quantity, in the order of the file."""

    def __init__(self, draft: PrintedDraft) -> None:
        self.draft = draft
        self.values: dict[str, list[int | Decimal]] = {}

    def take(self, name: str, text: str, place: Place) -> None:
        """Keep what stands for a quantity, such as `21434 MiB`; nothing where it says N/A.

        A number without a unit is in the quantity's own, which the tool's header or table names.
        """
        value, unit = _parsed(text)
        if value is None:
            return
        if (unit or UNITS[name]) != UNITS[name] or not is_number(value):
            self._refuse(name, place, f"{shown(text)} is no reading of {name}")
            return
        assert isinstance(value, int | Decimal), "is_number() saw one"
        if value > _MOST.get(name, 10**9):
            self._refuse(name, place, f"{shown(text)} is more than {name} can be")
            return
        self.values.setdefault(name, []).append(value)

    def _refuse(self, name: str, place: Place, message: str) -> None:
        self.draft.keep(name, None, place)
        self.draft.find(IMPOSSIBLE, message, UNTOUCHED, name)

    def row(self, device: str | None, stated: Mapping[str, str], count: int | None = None) -> Row:
        """The row: figures over the readings, the device, what holds its clocks back."""
        draft = self.draft
        used = self.values.get("device.memory_used", [])
        total = self.values.get("device.memory_total", [])
        if used and total and max(used) > max(total):
            draft.find(
                IMPOSSIBLE, f"{max(used)} MiB are in use of {max(total)} MiB", UNTOUCHED
            )  # fmt: skip
        for name, unit in UNITS.items():
            draft.over(name, unit, self.values.get(name, []))
        busy = self.values.get("device.utilisation", [])
        idle = sum(value == 0 for value in busy)
        if idle and len(busy) > 1:
            draft.stated["idle_readings"] = (
                f"{idle:,} of {len(busy):,}: means are over idle time too"
            )
        if device is not None and not device.endswith("..."):
            draft.envelope["device"] = shown(device)
        if count is not None:
            draft.envelope["device_count"] = count
        draft.stated.update({name: shown(fact) for name, fact in stated.items()})
        axes = ("model", "engine", "device")
        return draft.finish(tuple(axis for axis in axes if axis not in draft.envelope))
