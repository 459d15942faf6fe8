"""How one replica is split over devices."""

from __future__ import annotations

from dataclasses import dataclass

from upheld.arithmetic.engines.engine import Engine
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.facts import Choices
from upheld.arithmetic.layouts import Layers
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.weights.decoder import ExpertRanks


@dataclass(frozen=True, slots=True)
class Parallelism:
    """Degrees of one replica. Names are those of a deployment.

    A device is one rank of `tensor` in one stage of `pipeline` in one group of `data`;
    `decode_context` of the tensor-parallel ranks share the tokens of a sequence. The ranks of all
    groups share the experts: a part of each, or with `expert` some of them whole.
    """

    tensor: int
    pipeline: int
    data: int
    decode_context: int
    expert: bool

    @classmethod
    def of(cls, deployment: Choices, tensor: int, engine: Engine) -> Parallelism:
        """What the deployment chose, at that degree of tensor parallelism.

        Raises:
            ShapeError: the engine has no such parallelism, or the degrees do not go together.
        """
        found = cls(
            tensor,
            deployment.pipeline_parallel,
            deployment.data_parallel,
            deployment.decode_context_parallel,
            deployment.expert_parallel,
        )
        if found.pipeline > 1 and engine.stages is None:
            raise ShapeError("pipeline_parallel", f"no stages of {engine.title} are known")
        if found.decode_context > 1:
            if not engine.decode_context_parallel:
                raise ShapeError("decode_context_parallel", f"none of {engine.title} is known")
            if tensor % found.decode_context:
                raise ShapeError(
                    "decode_context_parallel",
                    f"{found.decode_context} does not divide {tensor} tensor-parallel ranks",
                )
        return found

    @property
    def devices(self) -> int:
        """Devices of one replica; those of decode_context are among the tensor-parallel ones."""
        return self.tensor * self.pipeline * self.data

    @property
    def experts(self) -> ExpertRanks:
        """Who shares the experts of a stage."""
        return ExpertRanks(self.tensor * self.data, whole=self.expert)

    def check_copies(self, layers: tuple[Layers, ...]) -> None:
        """Refuses to share tokens over more ranks than hold copies of the same heads.

        Source: vLLM, config/model.py, verify_with_parallel_config.

        Raises:
            ShapeError: there are fewer copies.
        """
        for each in layers:
            if not isinstance(each, FullAttention):
                continue
            copies = max(1, self.tensor // each.kv_heads)
            if self.decode_context > copies:
                raise ShapeError(
                    "decode_context_parallel",
                    f"{self.decode_context} ranks can't share tokens: {each.kv_heads} KV heads "
                    f"over {self.tensor} devices are held {copies}-fold",
                )

    def __str__(self) -> str:
        words = [f"tensor parallel {self.tensor}"]
        words += [
            f"{name} parallel {degree}"
            for name, degree in (
                ("pipeline", self.pipeline),
                ("data", self.data),
                ("decode context", self.decode_context),
            )
            if degree > 1
        ]
        if self.expert:
            words.append("expert parallel")
        return ", ".join(words)
