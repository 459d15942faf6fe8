"""A kind of accelerator."""

from __future__ import annotations

from typing import Literal

from pydantic import field_validator

from upheld.records.types import (
    Bandwidth,
    Line,
    Memory,
    OriginRef,
    Record,
    Text,
    check_origins,
)


class Device(Record):
    """One kind of device. `memory` is what the driver reports, not the name on the box."""

    kind: Literal["device"]
    aliases: list[Line] = []
    vendor: Line
    memory: Memory
    memory_bandwidth: Bandwidth | None = None
    origin: OriginRef
    origins: dict[str, OriginRef] = {}
    notes: Text | None = None

    @field_validator("origins")
    @classmethod
    def _name_fields(cls, origins: dict[str, OriginRef]) -> dict[str, OriginRef]:
        return check_origins(cls, origins)
