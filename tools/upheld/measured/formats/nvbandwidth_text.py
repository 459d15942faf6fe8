"""nvbandwidth: what it prints without `-j`, versions 0.5 to 0.10, one row a test case."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

from upheld.measured import bandwidth_matrix
from upheld.measured.content import Content
from upheld.measured.printed import (
    PrintedDraft,
    damaged,
    exact,
    half_of_last_digit,
    is_number,
    is_text,
    lines_in,
    shown,
)
from upheld.measured.reading import Reading, Row
from upheld.records.finding import Finding

NAME = "nvbandwidth-text"
TOOL = "nvbandwidth"
TITLE = "nvbandwidth: output, text"

_VERSION = re.compile(r"\s*nvbandwidth Version: v?(?P<version>[\w.]+)")
_FACTS = {
    "driver": re.compile(r"\s*Driver Version: (?P<value>\S+)"),
    "cuda_runtime": re.compile(r"\s*CUDA Runtime Version: (?P<value>\S.*)"),
}
_DEVICE = re.compile(r"\s*(?P<says>Device \d+: .+)")
_RUNNING = re.compile(r"\s*Running (?P<name>\w+)\.?")
_SUM = re.compile(r"\s*SUM (?P<name>\w+) (?P<value>\S+)")
_ROW = re.compile(r"\s*\d+(?P<cells>(?:\s+(?:\d+\.\d+|N/A))+)\s*")


def recognise(content: Content) -> bool:
    """Text with the tool's name and version, and a test that ran."""
    return (
        is_text(content)
        and "nvbandwidth Version:" in content.text
        and re.search(r"^\s*Running \w+", content.text, re.MULTILINE) is not None
    )


def read(content: Content) -> Reading:
    """One row for each test with a sum; a test that is waived prints none."""
    rows: list[Row] = []
    findings: list[Finding] = []
    versions: set[str] = set()
    facts: dict[str, str] = {}
    devices: list[str] = []
    draft: PrintedDraft | None = None
    cells: list[int | Decimal] = []
    for line in lines_in(content):
        if found := _VERSION.match(line.text):
            versions.add(found["version"])
            devices = []
        elif found := _DEVICE.match(line.text):
            devices.append(found["says"])
        elif found := _RUNNING.match(line.text):
            draft = PrintedDraft(content, line.place, found["name"])
            cells = []
        elif (found := _SUM.match(line.text)) and draft is not None:
            draft.put("SUM", found["value"], line.place)
            draft.stated.update(facts)
            bandwidth_matrix.state_devices(draft, devices)
            rows.append(_row(draft, cells))
            draft = None
        elif draft is not None and "(GB/s)" in line.text:
            draft.stated["measures"] = shown(line.text)
        elif draft is not None and (found := _ROW.fullmatch(line.text)):
            numbers = [exact(cell) for cell in found["cells"].split() if cell != "N/A"]
            cells += [
                each for each in numbers if isinstance(each, int | Decimal) and is_number(each)
            ]
        else:
            for name, pattern in _FACTS.items():
                if found := pattern.match(line.text):
                    facts[name] = shown(found["value"])
    if draft is not None and cells:
        findings.append(damaged(draft.place(), f"{draft.case} ends before its sum"))
    if not rows and not findings:
        findings.append(
            damaged(draft.place() if draft else content.place(), "no test has a sum of bandwidths")
        )
    return Reading(tuple(rows), versions.pop() if len(versions) == 1 else None, tuple(findings))


def _row(draft: PrintedDraft, cells: list[int | Decimal]) -> Row:
    if "measures" in draft.stated:
        draft.report("bandwidth.sum", "GB/s", "SUM")
        if cells:
            total = sum((Fraction(cell) for cell in cells), Fraction(0))
            rounding = sum(map(half_of_last_digit, cells), Fraction(0))
            bandwidth_matrix.hold_against(draft, total, rounding, "SUM")
    return bandwidth_matrix.finish(draft)
