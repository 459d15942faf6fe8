"""How GPUs were while a command ran: every sample in a CSV file, and a summary of them."""

from __future__ import annotations

import csv
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from upheld.measured.capture.gpus import MIB, Gpus, asker

SAMPLES = "gpu-samples.csv"

INTERVAL = 1.0
"""Seconds between two samples."""

QUANTITIES = (
    "utilisation_percent",
    "memory_used_mib",
    "power_w",
    "sm_clock_mhz",
    "memory_clock_mhz",
    "temperature_c",
)

Sample = dict[str, int | float | None]


def sample(library: Any, handle: Any) -> Sample:
    """One device at this moment, under the names of QUANTITIES; None where it does not say."""
    ask = asker(library)
    rates = ask(library.nvmlDeviceGetUtilizationRates, handle)
    memory = ask(library.nvmlDeviceGetMemoryInfo, handle)
    power = ask(library.nvmlDeviceGetPowerUsage, handle)
    values = (
        None if rates is None else rates.gpu,
        None if memory is None else memory.used // MIB,
        None if power is None else power / 1000,
        ask(library.nvmlDeviceGetClockInfo, handle, library.NVML_CLOCK_SM),
        ask(library.nvmlDeviceGetClockInfo, handle, library.NVML_CLOCK_MEM),
        ask(library.nvmlDeviceGetTemperature, handle, library.NVML_TEMPERATURE_GPU),
    )
    return dict(zip(QUANTITIES, values, strict=True))


class GpuSampler:
    """Samples all GPUs into `folder` while it is open: once at once, then about every second.

    Where there is no GPU it does nothing. A file that can't be written ends the sampling and is
    told by `problem`; the command runs on.
    """

    def __init__(self, gpus: Gpus, folder: Path) -> None:
        self.problem: str | None = None
        self._gpus = gpus
        self._file = folder / SAMPLES
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._devices = [_Device() for _ in gpus.handles]

    def __enter__(self) -> Self:
        if self._gpus.handles:
            for device, handle in zip(self._devices, self._gpus.handles, strict=True):
                device.before = sample(self._gpus.library, handle)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._gpus.handles:
            self._thread.join()

    @property
    def summaries(self) -> list[dict[str, Any]]:
        """Of each device: how busy it was before, and the least, mean and most of each quantity."""
        return [{"index": index} | each.summary() for index, each in enumerate(self._devices)]

    def _run(self) -> None:
        started = time.monotonic()
        try:
            with self._file.open("x", encoding="ascii", newline="") as stream:
                writer = csv.writer(stream, lineterminator="\n")
                writer.writerow(("seconds", "gpu", *QUANTITIES))
                for index, device in enumerate(self._devices):
                    writer.writerow((0, index, *device.before.values()))
                ended = False
                # The last sample is of the moment in which the command ended.
                while not ended:
                    ended = self._ended.wait(INTERVAL)
                    self._sample(writer, time.monotonic() - started)
        except OSError as error:
            self.problem = f"{SAMPLES} can't be written: {error.strerror}"

    def _sample(self, writer: Any, seconds: float) -> None:
        for index, handle in enumerate(self._gpus.handles):
            now = sample(self._gpus.library, handle)
            self._devices[index].add(now)
            writer.writerow((round(seconds, 3), index, *now.values()))


@dataclass(slots=True)
class _Device:
    """One device: its first sample, and what the others were together."""

    before: Sample = field(default_factory=dict)
    seen: dict[str, _Seen] = field(default_factory=dict)

    def add(self, now: Sample) -> None:
        for name, value in now.items():
            if value is not None:
                self.seen.setdefault(name, _Seen()).add(value)

    def summary(self) -> dict[str, Any]:
        return {"utilisation_percent_before": self.before.get("utilisation_percent")} | {
            name: self.seen[name].summary() if name in self.seen else None for name in QUANTITIES
        }


@dataclass(slots=True)
class _Seen:
    """The values of one quantity, without keeping them."""

    count: int = 0
    total: float = 0.0
    least: float = float("inf")
    most: float = float("-inf")

    def add(self, value: float) -> None:
        self.count += 1
        self.total += value
        self.least = min(self.least, value)
        self.most = max(self.most, value)

    def summary(self) -> dict[str, float]:
        mean = round(self.total / self.count, 3)
        return {"least": self.least, "mean": mean, "most": self.most}
