"""nvidia-smi -q -x: the log as XML, one row a device."""

from __future__ import annotations

from collections.abc import Iterator

from upheld.measured import nvsmi
from upheld.measured.content import NOT_READABLE, Content
from upheld.measured.gpu_readings import DeviceReadings
from upheld.measured.printed import PrintedDraft, damaged, is_text, shown
from upheld.measured.reading import Reading, Row
from upheld.measured.strict_xml import Element, XmlRefusedError, parse, root_name
from upheld.records.finding import Finding, Place

NAME = "nvidia-smi-xml"
TOOL = "nvidia-smi"
TITLE = "nvidia-smi: -q -x, XML"

_ROOT = "nvidia_smi_log"
_RENAMED = {
    "gpu util": "gpu", "gpu temp": "gpu current temp", "sm clock": "sm", "current mig": "current",
    "current ecc": "current",
}  # fmt: skip


def recognise(content: Content) -> bool:
    """XML whose root is the log of nvidia-smi."""
    return is_text(content) and root_name(content.text) == _ROOT


def read(content: Content) -> Reading:
    """One row a device."""
    try:
        log = parse(content.text)
    except XmlRefusedError as refused:
        place = Place(content.path, refused.line, refused.column)
        finding = Finding(NOT_READABLE, place, refused.message, refused.help)
        return Reading((), findings=(finding,))
    facts = {
        "driver": log.value("driver_version"),
        "cuda_of_the_driver": log.value("cuda_version"),
    }
    known = nvsmi.when(log.value("timestamp"))
    known |= {name: fact for name, fact in facts.items() if fact is not None}
    attached = log.value("attached_gpus")
    rows = tuple(
        _row(content, device, known, attached) for device in log.children if device.name == "gpu"
    )
    findings = () if rows else (damaged(Place(content.path, log.line), "the log names no device"),)
    return Reading(rows, log.value("driver_version"), findings)


def _row(content: Content, device: Element, facts: dict[str, str], attached: str | None) -> Row:
    bus = device.attributes.get("id")
    place = Place(content.path, device.line, device.column)
    draft = PrintedDraft(content, place, shown(f"GPU {bus}") if bus else None)
    values = dict(_values(content, device, ()))
    return nvsmi.row(DeviceReadings(draft), values, facts, attached)


def _values(
    content: Content, element: Element, above: nvsmi.Path
) -> Iterator[tuple[nvsmi.Path, tuple[str, Place]]]:
    """Every value by the path that `-q` has for it."""
    for child in element.children:
        name = child.name.replace("_", " ")
        for prefix in ("clocks throttle reason ", "clocks event reason "):
            name = name.removeprefix(prefix)
        path = (*above, _RENAMED.get(name, name))
        if child.children:
            yield from _values(content, child, path)
        elif child.text.strip():
            yield path, (child.text.strip(), Place(content.path, child.line, child.column))
