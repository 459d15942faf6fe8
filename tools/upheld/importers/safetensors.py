"""Tensors and the config.json that goes with them into a model record.

Tensors say how many layers there are and how wide; how many heads share a width they do not say,
so the config.json says that, and each shape is held against it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from upheld.arithmetic.checkpoint_files import CheckpointError
from upheld.arithmetic.config_json import load_config, model_of
from upheld.arithmetic.configs import ConfigError, language_part
from upheld.importers.model import Naming, left_behind, text_of
from upheld.importers.shape import shape_of
from upheld.importers.tensor_checks import OUTPUT, PLAIN, TensorChecks
from upheld.importers.tensors import Tensors, read_tensors
from upheld.records.units import count


class Contradictions(Exception):
    """What the tensors and the config.json say against each other; one sentence each."""

    def __init__(self, findings: list[str]) -> None:
        super().__init__("; ".join(findings))
        self.findings = findings


def tensors_text(file: Path, config: bytes, naming: Naming, config_origin: str | None) -> str:
    """The YAML of a model record from tensors and the config.json that goes with them.

    Fields that the tensors give rest on the origin of `naming`; those of the config.json on
    `config_origin`, if there is one.

    Raises:
        ConfigError: either gives no record.
        Contradictions: the two differ.
    """
    try:
        tensors = read_tensors(file)
    except CheckpointError as error:
        raise ConfigError(str(error), error.help) from None
    fields = load_config(config)
    given = _complete(fields, tensors)
    model = model_of(fields)
    shape = shape_of(fields, model)
    checks = TensorChecks(tensors, model, shape, language_part(fields))
    findings = [*tensors.findings, *checks.contradictions()]
    if findings:
        raise Contradictions(findings)
    seen = [field for field in shape.values if field in {*checks.seen, *given}]
    if config_origin is not None:
        shape.origins |= dict.fromkeys(seen, naming.origin)
        naming = replace(naming, origin=config_origin)
    called = fields.get("_name_or_path")
    remarks = [*_remarks(tensors, seen), *left_behind(model)]
    return text_of(shape, naming, called if isinstance(called, str) else "", remarks)


def _complete(config: dict[str, Any], tensors: Tensors) -> list[str]:
    """Adds to the config.json what it leaves out and the tensors say; which fields those are."""
    part = language_part(config)
    given = []
    if part.get("tie_word_embeddings") is None and config.get("tie_word_embeddings") is None:
        config["tie_word_embeddings"] = not any(map(OUTPUT.search, tensors.names))
        given.append("tie_word_embeddings")
    if all(each.get(key) is None for each in (config, part) for key in ("torch_dtype", "dtype")):
        stored = {each.dtype for each in tensors.shapes.values()}
        if len(stored) == 1 and stored <= set(PLAIN):
            config["torch_dtype"] = PLAIN[stored.pop()]
            given.append("torch_dtype")
    return given


def _remarks(tensors: Tensors, seen: list[str]) -> Iterator[str]:
    if seen:
        yield f"Given by the tensors, with config.json in agreement or silent: {', '.join(seen)}."
    if not tensors.shapes:
        yield "The index names tensors without their shapes, so no width was checked against them."
    elif tensors.missing:
        yield (
            f"Of the index, {count(tensors.missing, 'file')} could not be found, so not all shapes "
            "were checked."
        )
