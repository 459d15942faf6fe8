"""nvidia-smi without options: the table for people, one row a device."""

from __future__ import annotations

import re
from itertools import islice

from upheld.measured import nvsmi
from upheld.measured.content import Content
from upheld.measured.gpu_readings import DeviceReadings
from upheld.measured.printed import PrintedDraft, damaged, is_text, lines_in, shown
from upheld.measured.reading import Reading, Row
from upheld.records.finding import Finding, Place

NAME = "nvidia-smi-table"
TOOL = "nvidia-smi"
TITLE = "nvidia-smi: its table, text"

_VERSIONS = re.compile(
    r"\| NVIDIA-SMI (?P<smi>[\w.]+)\s+Driver Version: (?P<driver>[\w.]+)\s+"
    r"CUDA Version: (?P<cuda>[\w./]+)\s*\|"
)
_NAMED = re.compile(
    r"\|\s*(?P<index>\d+)\s+(?P<name>\S.*?)\s+(?:On|Off|N/A|WDDM|TCC|MCDM)\s*"
    r"\|\s*(?P<bus>[0-9A-Fa-f:.]{8,20})\s.*\|.*\|"
)
_READ = re.compile(
    r"\|\s*(?:\d+%|N/A|ERR!)\s+(?P<temperature>\d+C|N/A|ERR!)\s+(?P<state>\S+)\s+"
    r"(?P<power>\d+W|N/A|ERR!)\s*/\s*(?P<limit>\d+W|N/A|ERR!)\s*"
    r"\|\s*(?:(?P<used>\d+MiB)\s*/\s*(?P<total>\d+MiB)|Not Supported|N/A|\S.*?)\s*"
    r"\|\s*(?P<busy>\d+%|N/A|ERR!)\s+(?P<mode>.+?)\s*\|"
)
_FIRST_LINES = 12
_LONGEST_LINE = 300


def recognise(content: Content) -> bool:
    """Text that begins with the table's heading, after nothing but a date or a prompt."""
    if not is_text(content) or "NVIDIA-SMI" not in content.text[:2000]:
        return False
    if "NVSMI LOG" in content.text:
        return False
    first = islice(lines_in(content), _FIRST_LINES)
    return any(_VERSIONS.match(line.text[:_LONGEST_LINE]) for line in first)


def read(content: Content) -> Reading:
    """One row a device; watts and megabytes are whole, as the table rounds them."""
    rows: list[Row] = []
    findings: list[Finding] = []
    facts: dict[str, str] = {}
    date = content.text.partition("\n")[0].strip()
    named: tuple[re.Match[str], Place] | None = None
    for line in lines_in(content):
        if len(line.text) > _LONGEST_LINE:
            continue
        if found := _VERSIONS.match(line.text):
            facts = {"driver": found["driver"], "cuda_of_the_driver": found["cuda"]}
            if not date.startswith(("+", "|", "$")) and date:
                facts |= nvsmi.when(shown(date))
        elif found := _NAMED.match(line.text):
            if named is not None:
                findings.append(damaged(named[1], "a device has a name and no readings"))
            named = (found, line.place)
        elif named is not None and (found := _READ.match(line.text)):
            rows.append(_row(content, named, (found, line.place), facts))
            named = None
    if named is not None:
        findings.append(damaged(named[1], "a device has a name and no readings"))
    if not rows and not findings:
        findings.append(damaged(Place(content.path), "the table names no device"))
    return Reading(tuple(rows), facts.get("driver"), tuple(findings))


def _row(
    content: Content,
    named: tuple[re.Match[str], Place],
    read_from: tuple[re.Match[str], Place],
    facts: dict[str, str],
) -> Row:
    name, at = named
    found, place = read_from
    draft = PrintedDraft(content, at, f"GPU {name['index']}")
    readings = DeviceReadings(draft)
    for quantity, cell in (
        ("device.utilisation", found["busy"]),
        ("device.memory_used", found["used"]),
        ("device.memory_total", found["total"]),
        ("device.power", found["power"]),
        ("device.power_limit", found["limit"]),
        ("device.temperature", found["temperature"]),
    ):
        if cell is not None and cell != "ERR!":
            readings.take(quantity, cell, place)
    stated = facts | {"performance_state": found["state"], "compute_mode": found["mode"]}
    return readings.row(name["name"], stated)
