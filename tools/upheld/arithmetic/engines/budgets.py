"""What of a device an engine lets weights, cache and runtime take together.

Each engine has one share that somebody sets, and means another thing by it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from math import floor


class Budget(ABC):
    """How a share of the device's memory bounds what is held. Bytes are of one device."""

    formula: str

    @abstractmethod
    def bytes(self, memory: Fraction, share: Fraction, weights: int, runtime: int) -> int:
        """The most that weights, cache and runtime may take together."""

    @abstractmethod
    def least_share(
        self, memory: Fraction, weights: int, cache: int, runtime: int
    ) -> Fraction | None:
        """The least share at which all of it fits; None where none does. It may exceed 1."""


class ShareOfDevice(Budget):
    """A share of the whole device, for all of it. Source: vLLM, v1/worker/gpu_worker.py."""

    formula = "memory × {share}, rounded down"

    def bytes(self, memory: Fraction, share: Fraction, weights: int, runtime: int) -> int:
        """The share, whatever is in it."""
        return floor(memory * share)

    def least_share(
        self, memory: Fraction, weights: int, cache: int, runtime: int
    ) -> Fraction | None:
        """All of it over the device."""
        return (weights + cache + runtime) / memory


class ShareBesideRuntime(Budget):
    """A share for weights and cache; runtime lies beside it.

    Source: SGLang, model_executor/model_runner.py, profile_max_num_token, read in 0.5.6: what is
    available after loading, less `total × (1 - mem_fraction_static)`.
    """

    formula = "memory × {share}, rounded down, and runtime beside it"

    def bytes(self, memory: Fraction, share: Fraction, weights: int, runtime: int) -> int:
        """The share, and runtime, which does not come out of it."""
        return floor(memory * share) + runtime

    def least_share(
        self, memory: Fraction, weights: int, cache: int, runtime: int
    ) -> Fraction | None:
        """Weights and cache over the device, if runtime finds room in the rest."""
        if weights + cache + runtime > memory:
            return None
        return (weights + cache) / memory


class ShareOfFree(Budget):
    """A share of what weights and runtime leave free, for the cache.

    Sources: TensorRT-LLM's free_gpu_memory_fraction; LMDeploy's cache_max_entry_count
    (lmdeploy/messages.py, read in 0.18.0).
    """

    formula = "weights + runtime + {share} × what they leave of memory, rounded down"

    def bytes(self, memory: Fraction, share: Fraction, weights: int, runtime: int) -> int:
        """Weights and runtime, and the share of the rest."""
        free = memory - weights - runtime
        return weights + runtime + floor(max(free, Fraction(0)) * share)

    def least_share(
        self, memory: Fraction, weights: int, cache: int, runtime: int
    ) -> Fraction | None:
        """The cache over what is free."""
        free = memory - weights - runtime
        return cache / free if free > 0 else None
