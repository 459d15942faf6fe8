"""What `upheld memory` is asked: a config.json with options, or a deployment's record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from upheld.arithmetic.config_json import MAX_BYTES, ConfigModel, read_config
from upheld.arithmetic.configs import ConfigError
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.facts import Accelerator, CachedModel, Choices
from upheld.arithmetic.gguf_header import is_gguf
from upheld.arithmetic.gguf_model import read_gguf_model
from upheld.arithmetic.ledger import Ledger, ledger
from upheld.cli import CouldNotRun
from upheld.cli.memory_choices import choices_of, option_of
from upheld.cli.options import open_corpus
from upheld.corpus.files import FileError, read_regular
from upheld.records.units import Quantity, format_number
from upheld.report.escape import printable

if TYPE_CHECKING:
    from upheld.corpus.load import Corpus
    from upheld.records.types import Record

R = TypeVar("R", bound="Record")


@dataclass(frozen=True, slots=True)
class _DeviceOption:
    memory: Quantity
    origin: str = "--device-memory"
    origins: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked about: a deployment of a model on a device, and where a mistake would stand."""

    title: str
    deployment: Choices
    model: CachedModel
    device: Accelerator
    remarks: tuple[str, ...]
    positions: int | None
    refusal: Callable[[ShapeError], CouldNotRun]

    def notes(self, lengths: Iterable[Quantity] = ()) -> tuple[str, ...]:
        """The remarks, and whether a context is beyond the model's positions.

        `lengths` are the contexts that take the place of the deployment's own.
        """
        asked = [each.base for each in lengths] or [self.deployment.max_model_len.base]
        if self.positions is None or max(asked) <= self.positions:
            return self.remarks
        beyond = (
            f"{format_number(max(asked))} tokens are beyond max_position_embeddings, "
            f"{self.positions:,}; an engine refuses that unless it is told otherwise."
        )
        return (*self.remarks, beyond)


def answer(question: Question) -> Ledger:
    """The ledger that was asked for.

    Raises:
        CouldNotRun: a shape that can't be computed.
    """
    try:
        return ledger(question.deployment, question.model, question.device)
    except ShapeError as error:
        raise question.refusal(error) from None


def of_config(file: Path, chosen: Mapping[str, Any]) -> Question:
    """The question of a model's config.json with the options that were given, by name.

    Raises:
        CouldNotRun: an option is missing, or the file or the options can't be used.
    """
    missing = [name for name in ("engine", "device_memory") if name not in chosen]
    if missing:
        raise CouldNotRun(
            f"--config needs {' and '.join(map(option_of, missing))}",
            "for example: --engine vllm --device-memory '80 GiB'",
        )
    shown = printable(str(file))

    def refusal(error: ShapeError) -> CouldNotRun:
        return CouldNotRun(
            f"{shown}: {error}",
            f"change {error.field}, in the file or by its option, or what it has to go with",
        )

    try:
        shape = _model_in(file)
        choices = choices_of(shape, chosen)
    except FileError as error:
        raise CouldNotRun(str(error), error.help) from None
    except ConfigError as error:
        raise CouldNotRun(f"{shown}: {error}", error.help) from None
    except ShapeError as error:
        raise refusal(error) from None
    notes = [f"Assumed: {sentence}." for sentence in shape.assumed]
    if "checkpoint" in chosen:
        notes.append(
            "A checkpoint says what is stored: what the engine converts, pads or adds, such as "
            "the rotary table, is not in it."
        )
    return Question(
        f"{file.name} ({shape.architecture}) on {choices.engine}",
        choices,
        shape,
        _DeviceOption(chosen["device_memory"]),
        tuple(notes),
        shape.max_position_embeddings,
        refusal,
    )


def _model_in(file: Path) -> ConfigModel:
    """The model of a config.json, or of a GGUF file, which is known by its content."""
    if is_gguf(file):
        return read_gguf_model(file, file.name).model
    return read_config(read_regular(file, MAX_BYTES), file.name)


def of_deployment(root: Path, name: str) -> Question:
    """The question of the deployment of that id in the corpus at `root`.

    Raises:
        CouldNotRun: no such deployment, model or device.
    """
    from upheld.records.deployment import Deployment
    from upheld.records.device import Device
    from upheld.records.model import Model

    corpus = open_corpus(root)
    deployment = _record(corpus, name, Deployment)
    model = _record(corpus, deployment.model, Model)
    device = _record(corpus, deployment.device, Device)

    def refusal(error: ShapeError) -> CouldNotRun:
        return CouldNotRun(
            f"deployment {name}, model {model.id}: {error}",
            f"change {error.field} in the record that states it",
        )

    title = f"{name}: {model.id} on {deployment.engine}, {device.id}"
    stated = model.max_position_embeddings
    positions = None if stated is None else int(stated.base)
    return Question(title, deployment, model, device, (), positions, refusal)


def _record(corpus: Corpus, id_: str, kind: type[R]) -> R:
    record = corpus.get(id_)
    wanted = kind.__name__.lower()
    if record is None:
        raise CouldNotRun(
            f"there is no {wanted} {id_!r} in {printable(str(corpus.root))}",
            "check the id; a record that could not be read is shown by: upheld check",
        )
    if not isinstance(record, kind):
        raise CouldNotRun(f"{id_!r} is not a {wanted}", f"name the id of a {wanted}")
    return record
