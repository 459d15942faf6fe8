"""A kind of accelerator."""

from __future__ import annotations

from typing import Literal

from upheld.records.types import Bandwidth, Line, Memory, OriginRef, Record, Text


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
