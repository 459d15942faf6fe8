"""What the published config.json of a reported model says, from its shape and beside it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from engine_report_checks.predictions import NotPredicted

_FILE = Path(__file__).with_name("configurations.yaml")


def configuration(report: Mapping[str, Any], shapes: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of the reported model: its shape, and what the file beside this one adds.

    What the model that was printed has of its own goes before its shape, and the shape before what
    is added to it.

    Raises:
        NotPredicted: there is no shape, or it is known that no weights follow.
    """
    shape = shapes.get(report["model_shape"])
    if not shape:
        raise NotPredicted("the shape is not known")
    facts = with_published(report, shape)
    if "unknown" in facts:
        raise NotPredicted(facts["unknown"])
    return facts


def with_published(report: Mapping[str, Any], shape: Mapping[str, Any]) -> dict[str, Any]:
    """The shape of the reported model, with what the file beside this one adds to it."""
    name, printed = report["model_shape"], report["model"]
    added = _added()
    facts = {**added.get(name, {}), **shape}
    if printed != name:
        facts |= added.get(printed, {})
    return facts


@cache
def _added() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load(_FILE.read_text("utf-8"))
    return found
