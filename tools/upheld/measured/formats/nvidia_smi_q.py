"""nvidia-smi -q: a log of names and values by indentation, one row a device of each log."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from upheld.measured import nvsmi
from upheld.measured.content import Content
from upheld.measured.gpu_readings import DeviceReadings
from upheld.measured.printed import Line, PrintedDraft, damaged, is_text, lines_in, shown
from upheld.measured.reading import Reading, Row
from upheld.records.finding import Finding, Place

NAME = "nvidia-smi-q"
TOOL = "nvidia-smi"
TITLE = "nvidia-smi: -q, text"

_LOG = re.compile(r"=+\s*NVSMI LOG\s*=+")
_DEVICE = re.compile(r"GPU (?P<bus>[0-9A-Fa-f:.]+)\s*")
_ENDS = re.compile(r"#{4,}|\$ |\+-{4,}|C:\\")


@dataclass(slots=True)
class _Device:
    at: Place
    bus: str
    values: dict[nvsmi.Path, tuple[str, Place]] = field(default_factory=dict)


@dataclass(slots=True)
class _Log:
    at: Place
    facts: dict[str, str] = field(default_factory=dict)
    devices: list[_Device] = field(default_factory=list)


def recognise(content: Content) -> bool:
    """Text with the title of such a log on a line of its own."""
    return (
        is_text(content)
        and "NVSMI LOG" in content.text
        and any(_LOG.fullmatch(line.text.strip()) for line in lines_in(content))
    )


def read(content: Content) -> Reading:
    """One row a device and log. A device whose entry is cut short has none."""
    logs = list(_logs(content))
    rows: list[Row] = []
    findings: list[Finding] = []
    for number, log in enumerate(logs, start=1):
        if not log.devices:
            findings.append(damaged(log.at, "the log names no device"))
        for device in log.devices:
            # Only the whole query prints a product, and it always ends with the processes.
            if ("product name",) in device.values and not any(
                path[0] == "processes" for path in device.values
            ):
                findings.append(damaged(device.at, f"the entry of GPU {device.bus} is cut short"))
                continue
            rows.append(_row(content, log, device, number if len(logs) > 1 else None))
    versions = {log.facts.get("Driver Version") for log in logs}
    version = versions.pop() if len(versions) == 1 else None
    return Reading(tuple(rows), version, tuple(findings))


def _logs(content: Content) -> Iterator[_Log]:
    log: _Log | None = None
    above: list[tuple[int, str]] = []
    for line in lines_in(content):
        if _LOG.fullmatch(line.text.strip()):
            if log is not None:
                yield log
            log = _Log(line.place)
        elif log is None or not line.text.strip():
            continue
        elif _ENDS.match(line.text):
            yield log
            log = None
        elif found := _DEVICE.fullmatch(line.text):
            log.devices.append(_Device(line.place, found["bus"]))
            above = []
        else:
            above = _take(log, above, line)
    if log is not None:
        yield log


def _take(log: _Log, above: list[tuple[int, str]], line: Line) -> list[tuple[int, str]]:
    """Keep what a line says; `above` are the headings over it, each with its indentation."""
    name, _, value = line.text.partition(": ")
    depth = len(name) - len(name.lstrip(" "))
    name, value = name.strip(), value.strip()
    if not log.devices:
        if value:
            log.facts.setdefault(name, value)
        return above
    # `HW Slowdown : Active` has a value and its kinds below it.
    above = [*(each for each in above if each[0] < depth), (depth, name.casefold())]
    if value or name == "Processes":
        path = tuple(heading for _, heading in above)
        log.devices[-1].values.setdefault(path, (value, line.place))
    return above


def _row(content: Content, log: _Log, device: _Device, number: int | None) -> Row:
    case = f"GPU {device.bus}" + (f", log {number}" if number is not None else "")
    draft = PrintedDraft(content, device.at, shown(case))
    facts = {
        "driver": log.facts.get("Driver Version"),
        "cuda_of_the_driver": log.facts.get("CUDA Version"),
    }
    known = nvsmi.when(log.facts.get("Timestamp"))
    known |= {name: fact for name, fact in facts.items() if fact is not None}
    return nvsmi.row(DeviceReadings(draft), device.values, known, log.facts.get("Attached GPUs"))
