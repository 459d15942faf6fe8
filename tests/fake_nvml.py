"""A stand-in for pynvml: the same names, and devices as a test wants them."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace


class NVMLError(Exception):
    """As in pynvml, what every function raises."""


@dataclass
class Card:
    """A device. `busy` is its utilisation, sample by sample; the last one stays."""

    name: str = "NVIDIA H200"
    busy: tuple[int | None, ...] = (0, 80)
    asked: int = 0


class FakeNvml:
    """The functions of pynvml that are used, over `cards`; without any it finds no driver."""

    NVMLError = NVMLError
    NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU = 1, 2, 0

    def __init__(self, *cards: Card, driver: bool = True) -> None:
        self.cards = cards
        self.driver = driver
        self.open = False

    def nvmlInit(self) -> None:  # noqa: N802
        if not self.driver:
            raise NVMLError("NVML Shared Library Not Found")
        self.open = True

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.open = False

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return len(self.cards)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> Card:  # noqa: N802
        return self.cards[index]

    def nvmlSystemGetDriverVersion(self) -> bytes:  # noqa: N802
        return b"570.124.06"

    def nvmlDeviceGetName(self, card: Card) -> str:  # noqa: N802
        return card.name

    def nvmlDeviceGetMemoryInfo(self, card: Card) -> SimpleNamespace:  # noqa: N802
        return SimpleNamespace(total=143771 << 20, used=1024 << 20)

    def nvmlDeviceGetEnforcedPowerLimit(self, card: Card) -> int:  # noqa: N802
        return 700_000

    def nvmlDeviceGetUtilizationRates(self, card: Card) -> SimpleNamespace:  # noqa: N802
        busy = card.busy[min(card.asked, len(card.busy) - 1)]
        card.asked += 1
        if busy is None:
            raise NVMLError("Not Supported")
        return SimpleNamespace(gpu=busy)

    def nvmlDeviceGetPowerUsage(self, card: Card) -> int:  # noqa: N802
        return 650_500

    def nvmlDeviceGetClockInfo(self, card: Card, which: int) -> int:  # noqa: N802
        return {self.NVML_CLOCK_SM: 1980, self.NVML_CLOCK_MEM: 3201}[which]

    def nvmlDeviceGetTemperature(self, card: Card, which: int) -> int:  # noqa: N802
        raise NVMLError("Not Supported")
