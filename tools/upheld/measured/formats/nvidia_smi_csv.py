"""nvidia-smi --query-gpu --format=csv: one line a device and reading, one row a device.

The header carries the units, each value repeats its own unless `nounits` was given. `noheader`
output says nothing of what its numbers are and is not read.
"""

from __future__ import annotations

import re

from upheld.measured.content import Content
from upheld.measured.csv_table import CsvRow, header_of, read_table
from upheld.measured.draft import NOT_MEASURED
from upheld.measured.gpu_readings import UNITS, DeviceReadings
from upheld.measured.printed import PrintedDraft, shown
from upheld.measured.reading import Reading, Row
from upheld.records.finding import Finding, Place

NAME = "nvidia-smi-csv"
TOOL = "nvidia-smi"
TITLE = "nvidia-smi: --query-gpu, CSV"

_COLUMN = re.compile(r"[a-zA-Z0-9_.]+(?: \[(?P<unit>[A-Za-z/%]+)\])?")
_QUANTITIES = {
    "utilization.gpu": "device.utilisation", "memory.used": "device.memory_used",
    "memory.total": "device.memory_total", "power.draw": "device.power",
    "power.draw.average": "device.power", "power.limit": "device.power_limit",
    "enforced.power.limit": "device.power_limit", "temperature.gpu": "device.temperature",
    "clocks.sm": "device.clock", "clocks.current.sm": "device.clock",
}  # fmt: skip
_OURS = re.compile(r"(?:utilization|memory|power|clocks|temperature|pci|driver_model)\.[\w.]+")
_IDENTITIES = ("index", "uuid", "gpu_uuid", "pci.bus_id", "gpu_bus_id", "serial", "gpu_serial")
_REASON = re.compile(r"clocks_(?:throttle|event)_reasons\.(?P<reason>\w+)")
_FACTS = (
    "driver_version", "pstate", "mig.mode.current", "ecc.mode.current", "persistence_mode",
    "compute_mode", "compute_cap",
)  # fmt: skip
_REASONS_OF_NO_HARM = ("supported", "active", "gpu_idle")


def _plain(column: str) -> str:
    return column.partition(" [")[0]


def recognise(content: Content) -> bool:
    """A header of nvidia-smi's own property names only, at least one of them of a quantity."""
    header = header_of(content)
    return (
        bool(header)
        and all(map(_COLUMN.fullmatch, header))
        and any(_OURS.fullmatch(_plain(column)) for column in header)
    )


def read(content: Content) -> Reading:
    """One row a device; lines that name no device are one, or one each where none has a time."""
    table = read_table(content)
    if table.refusal is not None:
        return Reading((), findings=(table.refusal,))
    columns = {_plain(column): column for column in header_of(content)}
    if not table.rows:
        finding = Finding(
            NOT_MEASURED, Place(content.path), "there is a header and no reading",
            "let nvidia-smi run until it has printed one",
        )  # fmt: skip
        return Reading((), findings=(finding,))
    devices: dict[str | None, list[CsvRow]] = {}
    for number, row in enumerate(table.rows, start=1):
        devices.setdefault(_identity(row, columns, number), []).append(row)
    rows = tuple(_row(content, name, rows, columns) for name, rows in devices.items())
    return Reading(rows)


def _identity(row: CsvRow, columns: dict[str, str], number: int) -> str | None:
    for name in _IDENTITIES:
        if name in columns and row.cells[columns[name]] not in ("", "[N/A]", "N/A"):
            return f"GPU {row.cells[columns[name]]}"
    return None if "timestamp" in columns else f"line {number}"


def _row(content: Content, case: str | None, rows: list[CsvRow], columns: dict[str, str]) -> Row:
    draft = PrintedDraft(content, rows[0].place, None if case is None else shown(case))
    readings = DeviceReadings(draft)
    named: set[str] = set()
    for name, quantity in _QUANTITIES.items():
        if name not in columns or quantity in named:
            continue
        named.add(quantity)
        column = columns[name]
        header_unit = _COLUMN.fullmatch(column)
        assert header_unit is not None, "recognise() saw the header"
        unit = header_unit["unit"]
        if unit is not None and unit != UNITS[quantity]:
            draft.stated[name] = f"in {unit}, which is not read"
            continue
        for row in rows:
            readings.take(quantity, row.cells[column], row.place)
    stated: dict[str, str] = {}
    names = {row.cells[columns["name"]] for row in rows} if "name" in columns else set()
    for name in _FACTS:
        if name in columns:
            facts = list(dict.fromkeys(row.cells[columns[name]] for row in rows))
            if facts != ["[N/A]"]:
                stated[name] = ", ".join(facts[:5])
    if "timestamp" in columns:
        first, last = rows[0].cells[columns["timestamp"]], rows[-1].cells[columns["timestamp"]]
        stated["date"] = first.replace("/", "-", 2)
        if len(rows) > 1:
            stated["readings"] = f"{len(rows):,}, from {first} to {last}"
    if held := _held_back(rows, columns):
        stated["clocks_held_back_by"] = held
    return readings.row(names.pop() if len(names) == 1 else None, stated)


def _held_back(rows: list[CsvRow], columns: dict[str, str]) -> str | None:
    """What kept the clocks down, and in how many readings; None where nothing did."""
    found: list[str] = []
    for name, column in columns.items():
        reason = _REASON.fullmatch(name)
        if reason is None or reason["reason"] in _REASONS_OF_NO_HARM:
            continue
        active = sum(row.cells[column] == "Active" for row in rows)
        if active:
            found.append(f"{reason['reason']} in {active:,} of {len(rows):,} readings")
    return ", ".join(found) or None
