"""The same devices used in two ways: whole replicas on one each, or one replica sharded over all.

Only memory is compared, and what a lost device takes with it. Nothing here says which is faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.facts import Accelerator, CachedModel, Choices
from upheld.arithmetic.ledger import Ledger, degree_problem, ledger_without_devices
from upheld.arithmetic.varied import Varied
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


def two_ways(
    deployment: Choices, model: CachedModel, device: Accelerator, devices: int
) -> tuple[Way, Way]:
    """`devices` replicas of one device each, and one replica over all of them."""
    return (
        _way(
            f"{count(devices, 'replica')}, one device each", devices, 1, deployment, model, device
        ),
        _way(f"one replica over {count(devices, 'device')}", 1, devices, deployment, model, device),
    )


def _way(
    name: str,
    replicas: int,
    ranks: int,
    deployment: Choices,
    model: CachedModel,
    device: Accelerator,
) -> Way:
    problem = degree_problem(deployment, ranks)
    if problem is not None:
        return Way(name, replicas, None, problem)
    choices = cast(Choices, Varied(deployment, {"tensor_parallel": ranks}))
    try:
        return Way(name, replicas, ledger_without_devices(choices, model, device, ranks))
    except ShapeError as error:
        return Way(name, replicas, None, str(error))
