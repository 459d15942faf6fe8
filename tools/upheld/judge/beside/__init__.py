"""What an engine printed while it started, beside what arithmetic says.

It is the one place where the two meet outside a claim. The arithmetic takes its inputs from the
log first, then from what was chosen beside it (a deployment's record), then from the engine's
defaults; each says where it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.facts import CachedModel
from upheld.judge.beside import lmdeploy, sglang, tensorrt_llm, vllm
from upheld.judge.beside.inputs import Inputs, Used
from upheld.judge.beside.results import Compared, NotCompared
from upheld.measured.reading import Row, Startup

__all__ = ["ENGINES", "Beside", "Compared", "NotCompared", "beside"]

Compare = Callable[[Startup, CachedModel, Inputs], Iterator[Compared | NotCompared]]

ENGINES: dict[str, Compare] = {
    "lmdeploy": lmdeploy.compare,
    "sglang": sglang.compare,
    "tensorrt-llm": tensorrt_llm.compare,
    "vllm": vllm.compare,
}


@dataclass(frozen=True, slots=True)
class Beside:
    """One start: each printed figure with its prediction, what was left out, and the inputs.

    `problem` says why nothing could be worked out, and is None where something was.
    """

    case: str | None
    compared: tuple[Compared, ...]
    not_compared: tuple[NotCompared, ...]
    inputs: tuple[Used, ...]
    problem: str | None = None

    @property
    def differs(self) -> bool:
        """Whether a figure is another than arithmetic says."""
        return any(each.check.verdict != "exact" for each in self.compared)


def beside(
    row: Row, startup: Startup, model: CachedModel, chosen: Mapping[str, Any], chosen_by: str
) -> Beside:
    """The figures of one start beside arithmetic for the model.

    `chosen` holds fields of a deployment by name, for what the log does not say; `chosen_by`
    names where they are from.
    """
    inputs = Inputs(row, startup, chosen, chosen_by)
    inputs.text("model")
    compare = ENGINES.get(startup.engine)
    if compare is None:
        known = ", ".join(sorted(ENGINES))
        problem = f"there is no arithmetic for logs of {startup.engine} yet; there is for {known}"
        return Beside(row.case, (), (), (), problem)
    try:
        found = list(compare(startup, model, inputs))
    except ShapeError as error:
        return Beside(row.case, (), (), inputs.used, str(error))
    return Beside(
        row.case,
        tuple(each for each in found if isinstance(each, Compared)),
        tuple(each for each in found if isinstance(each, NotCompared)),
        inputs.used,
    )
