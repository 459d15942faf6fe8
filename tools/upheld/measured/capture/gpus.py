"""NVIDIA GPUs through their management library (NVML): which there are.

`nvidia-ml-py` is an optional extra (`upheld[gpu]`), imported where it is used. Where it or the
driver is absent, that is what is noted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

MIB = 1024 * 1024
_DRIVER = Path("/proc/driver/nvidia/version")


@dataclass(frozen=True, slots=True)
class Gpus:
    """The GPUs of this host, each as `capture.json` has it; `absent` says why none is seen.

    `unseen`: the kernel's driver is here, so there may be GPUs all the same. `library` is the
    module pynvml, `handles` its handles of the devices, in its order.
    """

    devices: tuple[Mapping[str, Any], ...] = ()
    driver: str | None = None
    absent: str | None = None
    unseen: bool = False
    library: Any = None
    handles: tuple[Any, ...] = ()

    def facts(self) -> dict[str, Any]:
        """The same, under the names of `capture.json`."""
        return {"driver": self.driver, "absent": self.absent, "devices": list(self.devices)}


@contextmanager
def look_for_gpus() -> Iterator[Gpus]:
    """The GPUs of this host, which can be sampled until this ends."""
    try:
        library = import_module("pynvml")
    except ImportError:
        there = _DRIVER.exists()
        yield Gpus(absent="not looked for: nvidia-ml-py is not installed", unseen=there)
        return
    try:
        library.nvmlInit()
    except library.NVMLError as error:
        yield Gpus(absent=f"none found: {error}", unseen=_DRIVER.exists())
        return
    try:
        yield _found(library)
    finally:
        library.nvmlShutdown()


def _found(library: Any) -> Gpus:
    ask = asker(library)
    count = ask(library.nvmlDeviceGetCount) or 0
    handles = tuple(library.nvmlDeviceGetHandleByIndex(index) for index in range(count))
    return Gpus(
        devices=tuple(_described(library, index, handle) for index, handle in enumerate(handles)),
        driver=_as_text(ask(library.nvmlSystemGetDriverVersion)),
        absent=None if handles else "none found: the driver knows of no device",
        library=library,
        handles=handles,
    )


def _described(library: Any, index: int, handle: Any) -> dict[str, Any]:
    ask = asker(library)
    memory = ask(library.nvmlDeviceGetMemoryInfo, handle)
    limit = ask(library.nvmlDeviceGetEnforcedPowerLimit, handle)
    return {
        "index": index,
        "name": _as_text(ask(library.nvmlDeviceGetName, handle)),
        "memory_mib": None if memory is None else memory.total // MIB,
        "power_limit_w": None if limit is None else limit / 1000,
    }


def asker(library: Any) -> Callable[..., Any]:
    """Calls a function of the library; None where the device does not offer it."""

    def ask(function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except library.NVMLError:
            return None

    return ask


def _as_text(value: Any) -> str | None:
    """Releases of the library before 11.5 return bytes."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
