"""What raw files say, as plain values for JSON: the versioned shape of `upheld read`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from upheld.measured.reading import AxisValue, Capture, Figure, FileReading
from upheld.report.beside_json import beside_object
from upheld.report.json_text import VERSION, finding_object

if TYPE_CHECKING:
    from upheld.judge.beside import Beside


def readings_object(
    readings: Sequence[FileReading], besides: Sequence[Sequence[Beside] | None] = ()
) -> dict[str, Any]:
    """The documented shape, version 1: plain values, every number a float of the exact one.

    `besides` are the starts of each file beside arithmetic, None where that was not asked for.
    """
    files = [_file_as_json(reading) for reading in readings]
    for file, starts in zip(files, besides, strict=False):
        if starts is not None:
            file["beside"] = [beside_object(start) for start in starts]
    return {"version": VERSION, "files": files}


def _file_as_json(reading: FileReading) -> dict[str, Any]:
    rows = reading.rows
    unstated = dict.fromkeys(axis for row in rows for axis in row.not_stated)
    return {
        "path": reading.path,
        "sha256": reading.sha256,
        "format": reading.format,
        "tool": reading.tool,
        "tool_version": reading.tool_version,
        "metrics": [
            {"case": row.case, **_figure_as_json(figure)} for row in rows for figure in row.figures
        ],
        "envelope": _envelope_as_json(in_common([row.envelope for row in rows])),
        "stated": in_common([row.stated for row in rows]),
        "not_stated": list(unstated),
        "rows": [
            {
                "case": row.case,
                "metrics": [_figure_as_json(figure) for figure in row.figures],
                "samples": dict(row.samples),
                "envelope": _envelope_as_json(row.envelope),
                "stated": dict(row.stated),
                "not_stated": list(row.not_stated),
                **({"tests": dict(row.tests)} if row.tests else {}),
            }
            for row in rows
        ],
        "capture": None if reading.capture is None else _capture_as_json(reading.capture),
        "findings": [finding_object(each) for each in reading.all_findings],
    }


def _capture_as_json(capture: Capture) -> dict[str, Any]:
    return {
        "outcome": capture.outcome,
        "envelope": _envelope_as_json(capture.envelope),
        "stated": dict(capture.stated),
    }


def _figure_as_json(figure: Figure) -> dict[str, Any]:
    return {
        "name": figure.name,
        "value": float(figure.value),
        "unit": figure.unit,
        "origin": figure.origin,
        "reported": None if figure.reported is None else float(figure.reported),
        "note": figure.note,
    }


def _envelope_as_json(envelope: Mapping[str, AxisValue]) -> dict[str, Any]:
    return {
        axis: float(value) if isinstance(value, Fraction) else value
        for axis, value in envelope.items()
    }


def in_common(mappings: list[Any]) -> dict[str, Any]:
    """What all of them say alike."""
    if not mappings:
        return {}
    first, *others = mappings
    return {
        key: value
        for key, value in first.items()
        if all(key in other and other[key] == value for other in others)
    }
