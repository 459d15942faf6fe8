"""One device of an nvidia-smi log, whether printed with -q or as XML: what is read of it.

The quantities stand at paths of names, in lower case, as `("fb memory usage", "used")`. Drivers
before 535 say `Clocks Throttle Reasons` and `Power Readings`, later ones `Clocks Event Reasons` and
`GPU Power Readings`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from upheld.measured.gpu_readings import DeviceReadings
from upheld.measured.reading import Row
from upheld.records.finding import Place

Path = tuple[str, ...]

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_TAKEN = re.compile(r"[A-Z][a-z]{2} ([A-Z][a-z]{2}) +(\d{1,2}) ([\d:]{8}) (\d{4})")

_QUANTITIES: dict[str, tuple[Path, ...]] = {
    "device.utilisation": (("utilization", "gpu"),),
    "device.memory_used": (("fb memory usage", "used"),),
    "device.memory_total": (("fb memory usage", "total"),),
    "device.power": (
        ("gpu power readings", "power draw"),
        ("power readings", "power draw"),
        ("gpu power readings", "average power draw"),
        ("gpu power readings", "instantaneous power draw"),
    ),
    "device.power_limit": (
        ("gpu power readings", "current power limit"),
        ("power readings", "current power limit"),
        ("gpu power readings", "power limit"),
        ("power readings", "power limit"),
    ),
    "device.temperature": (("temperature", "gpu current temp"),),
    "device.clock": (("clocks", "sm"),),
}
_FACTS: dict[str, Path] = {
    "performance_state": ("performance state",),
    "ecc": ("ecc mode", "current"),
    "persistence_mode": ("persistence mode",),
    "compute_mode": ("compute mode",),
}
_REASONS = ("clocks event reasons", "clocks throttle reasons")
_HARMLESS = ("idle", "gpu idle", "none")


def when(text: str | None) -> dict[str, str]:
    """The fact that a log was taken `Tue Jul 14 08:12:38 2026`, as an ISO date where it is one."""
    if text is None:
        return {}
    found = _TAKEN.fullmatch(text.strip())
    if found is None or found[1] not in _MONTHS:
        return {"taken": text}
    month = _MONTHS.index(found[1]) + 1
    return {"date": f"{found[4]}-{month:02}-{int(found[2]):02} {found[3]}"}


def row(
    readings: DeviceReadings,
    values: Mapping[Path, tuple[str, Place]],
    log: Mapping[str, str],
    attached: str | None,
) -> Row:
    """The row of a device whose values are known by their paths; `log` are facts of the whole."""
    for quantity, paths in _QUANTITIES.items():
        for path in paths:
            if path in values:
                readings.take(quantity, *values[path])
            if quantity in readings.values:
                break
    stated = dict(log)
    for fact, path in _FACTS.items():
        if path in values and values[path][0] != "N/A":
            stated[fact] = values[path][0]
    held = [
        path[-1]
        for path, (value, _) in values.items()
        if path[0] in _REASONS and value == "Active" and path[-1] not in _HARMLESS
    ]
    if held:
        stated["clocks_held_back_by"] = ", ".join(held)
    if attached is not None:
        stated["devices_attached"] = attached
    product = values.get(("product name",))
    device = product[0] if product is not None else None
    mode = values.get(("mig mode", "current"))
    if device is not None and mode is not None and mode[0] == "Enabled":
        # A tenant has a part of it, and which part the log does not say.
        stated["mig"] = f"enabled on {device}: instances are parts of it"
        device = None
    return readings.row(device, stated)
