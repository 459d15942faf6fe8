"""What `upheld read` sets a log beside: the model of a config.json, or of a deployment's record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from upheld.arithmetic.config_json import MAX_BYTES, read_config
from upheld.arithmetic.configs import ConfigError
from upheld.arithmetic.facts import CachedModel
from upheld.cli import CouldNotRun
from upheld.cli.memory_answer import of_deployment
from upheld.corpus.files import FileError, read_regular
from upheld.judge.beside import Beside, beside
from upheld.measured.reading import FileReading
from upheld.report.escape import printable

# Fields of a deployment that a log may leave open.
_CHOSEN = (
    "engine_version", "kv_cache_dtype", "block_size", "tensor_parallel", "max_model_len",
    "max_num_batched_tokens", "prefix_caching",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Against:
    """The model that a log is held against, and what was chosen beside it, where a record says."""

    title: str
    model: CachedModel
    engine: str | None = None
    chosen: Mapping[str, Any] = field(default_factory=dict)
    chosen_by: str = ""

    def of_file(self, reading: FileReading) -> tuple[Beside, ...]:
        """Each start of the file beside arithmetic.

        Raises:
            CouldNotRun: the file has no start of an engine, or one of another than the record's.
        """
        starts = [(row, row.startup) for row in reading.rows if row.startup is not None]
        shown = printable(reading.path)
        if not starts:
            raise CouldNotRun(
                f"{shown} is no start-up log of an engine, so there is nothing to set beside "
                "arithmetic",
                "give the log alone with --config or --deployment",
            )
        engine = str(starts[0][0].envelope["engine"])
        if self.engine is not None and _folded(self.engine) != _folded(engine):
            raise CouldNotRun(
                f"{shown} is a log of {engine}, but {self.chosen_by} is deployed on {self.engine}",
                "name a deployment of that engine, or say --config",
            )
        return tuple(
            beside(row, startup, self.model, self.chosen, self.chosen_by) for row, startup in starts
        )


def _folded(engine: str) -> str:
    return engine.casefold().replace("_", "-")


def against_config(file: Path) -> Against:
    """The model of a config.json.

    Raises:
        CouldNotRun: the file can't be used.
    """
    try:
        model = read_config(read_regular(file, MAX_BYTES), file.name)
    except FileError as error:
        raise CouldNotRun(str(error), error.help) from None
    except ConfigError as error:
        raise CouldNotRun(f"{printable(str(file))}: {error}", error.help) from None
    return Against(f"{file.name} ({model.architecture})", model)


def against_deployment(root: Path, name: str) -> Against:
    """The model and the choices of the deployment of that id in the corpus at `root`.

    Raises:
        CouldNotRun: no such deployment, model or device.
    """
    question = of_deployment(root, name)
    choices = question.deployment
    chosen = {each: getattr(choices, each) for each in _CHOSEN}
    return Against(question.title, question.model, choices.engine, chosen, name)
