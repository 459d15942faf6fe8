"""dcgmi dmon: columns of fields by their short names, one row a device.

Names and units are those of DCGM's field table: GPUTL and MCUTL are percent, POWER watts, TMPTR °C,
FBUSD and FBTTL MiB, SMCLK MHz. The profiling fields (SMACT, TENSO, DRAMA …) are shares of 1 of the
time, averaged over multiprocessors, and are stated as means; there is no metric for them.
"""

from __future__ import annotations

import re
from decimal import Decimal

from upheld.measured.content import Content
from upheld.measured.gpu_readings import DeviceReadings
from upheld.measured.printed import PrintedDraft, damaged, exact, is_number, is_text, lines_in
from upheld.measured.reading import Reading
from upheld.measured.recompute import Values
from upheld.records.finding import Place
from upheld.records.units import format_number

NAME = "dcgmi-dmon"
TOOL = "dcgmi"
TITLE = "dcgmi dmon: columns, text"

_HEADER = re.compile(r"#\s*Entity(?P<columns>(?:\s+[A-Z][A-Z0-9]{1,5})+)\s*")
_ROW = re.compile(r"(?P<entity>GPU|GPU-I|GPU-CI|Switch|CPU)\s+(?P<id>[\d/]+)(?P<cells>(?:\s+\S+)+)")
_QUANTITIES = {
    "GPUTL": "device.utilisation", "POWER": "device.power", "TMPTR": "device.temperature",
    "FBUSD": "device.memory_used", "FBTTL": "device.memory_total", "SMCLK": "device.clock",
}  # fmt: skip
_SHARES = ("GRACT", "SMACT", "SMOCC", "TENSO", "DRAMA", "FP64A", "FP32A", "FP16A")


def recognise(content: Content) -> bool:
    """Text whose first line is a header of entities and fields."""
    return is_text(content) and any(
        _HEADER.fullmatch(line) for line in content.text[:4000].split("\n")[:3]
    )


def read(content: Content) -> Reading:
    """One row a device or instance, over all its readings."""
    columns: list[str] = []
    devices: dict[str, DeviceReadings] = {}
    shares: dict[str, dict[str, list[int | Decimal]]] = {}
    for line in lines_in(content):
        if found := _HEADER.fullmatch(line.text):
            columns = found["columns"].split()
            continue
        found = _ROW.fullmatch(line.text.rstrip())
        if found is None:
            continue
        cells = found["cells"].split()
        if len(cells) != len(columns):
            finding = damaged(line.place, f"{len(cells)} cells below {len(columns)} columns")
            return Reading((), findings=(finding,))
        case = f"{found['entity']} {found['id']}"
        readings = devices.setdefault(case, DeviceReadings(PrintedDraft(content, line.place, case)))
        for column, cell in zip(columns, cells, strict=True):
            value = exact(cell)
            if column in _QUANTITIES:
                readings.take(_QUANTITIES[column], cell, line.place)
            elif column in _SHARES and is_number(value):
                assert isinstance(value, int | Decimal), "is_number() saw one"
                shares.setdefault(case, {}).setdefault(column, []).append(value)
    if not devices:
        finding = damaged(Place(content.path), "there is a header and no reading")
        return Reading((), findings=(finding,))
    rows = tuple(
        readings.row(
            None,
            {
                column: f"{format_number(Values(values).mean)} is the mean of {len(values):,}"
                for column, values in shares.get(case, {}).items()
            },
        )
        for case, readings in devices.items()
    )
    return Reading(rows)
