"""The same devices used in several ways: a replica on each, or one replica sharded over all.

Only memory is compared, and what a lost device takes with it. Nothing here says which is faster.
"""

from __future__ import annotations

from dataclasses import dataclass

from upheld.arithmetic.facts import Accelerator, CachedModel, Choices
from upheld.arithmetic.ledger import Ledger
from upheld.arithmetic.sweep import sweep
from upheld.records.units import count


@dataclass(frozen=True, slots=True)
class Way:
    """One way to use the devices; `problem` says why it can't be computed, and then all is None."""

    name: str
    replicas: int
    ledger: Ledger | None
    problem: str | None = None

    @property
    def tokens(self) -> int | None:
        """Tokens that the caches of all replicas hold."""
        return None if self.ledger is None else self.replicas * self.ledger.tokens

    @property
    def sequences(self) -> int | None:
        """Sequences of full length that all replicas hold at once."""
        return None if self.ledger is None else self.replicas * self.ledger.sequences

    @property
    def left_after_a_loss(self) -> int | None:
        """Sequences that are still held at once when one device is lost."""
        if self.ledger is None:
            return None
        return (self.replicas - 1) * self.ledger.sequences


def ways_to_use(
    deployment: Choices, model: CachedModel, device: Accelerator, devices: int
) -> tuple[Way, ...]:
    """A replica on each device; then one replica that splits each layer, or the layers, over all.

    Whatever degrees the deployment has are replaced.
    """
    unsplit = {"data_parallel": (1,), "decode_context_parallel": (1,)}
    by_layer = {"tensor_parallel": (1, devices), "pipeline_parallel": (1,), **unsplit}
    by_stage = {"tensor_parallel": (1,), "pipeline_parallel": (devices,), **unsplit}
    alone, sharded = sweep(deployment, model, device, by_layer)
    (staged,) = sweep(deployment, model, device, by_stage)
    return (
        Way(f"{count(devices, 'replica')}, one device each", devices, alone.ledger, alone.problem),
        Way(f"each layer over {count(devices, 'device')}", 1, sharded.ledger, sharded.problem),
        Way(f"{count(devices, 'stage')}, one device each", 1, staged.ledger, staged.problem),
    )
