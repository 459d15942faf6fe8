"""A model's config.json into a model record: its facts, their origin, and what was assumed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from upheld.arithmetic.config_json import ConfigModel, ConfigShape, load_config, model_of
from upheld.arithmetic.configs import ConfigError
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.weights.rotary import rotary_table
from upheld.arithmetic.weights.structure import Structure
from upheld.importers.names import id_from, title_from
from upheld.importers.shape import Shape, shape_of
from upheld.importers.yaml_text import record_text


@dataclass(frozen=True, slots=True)
class Naming:
    """How the record is called, and what its facts rest on.

    `origin` is the id of the source or assumption that the file's facts rest on; `assumed` is that
    of the assumption behind what the file leaves out. Without `id_` the id comes from what the
    file calls the model, or from the folder that it lies in.
    """

    origin: str
    id_: str | None = None
    title: str | None = None
    folder: str = ""
    assumed: str | None = None


def model_text(data: bytes, naming: Naming) -> str:
    """The YAML of a model record from the bytes of a config.json.

    Raises:
        ConfigError: the file gives no record: not a config.json, a family that is not known, a
            fact that is missing, or a text that no record can hold.
    """
    config = load_config(data)
    model = model_of(config)
    called = config.get("_name_or_path")
    return text_of(
        shape_of(config, model),
        naming,
        called if isinstance(called, str) else "",
        left_behind(model),
    )


def text_of(shape: Shape, naming: Naming, called: str, remarks: Sequence[str]) -> str:
    """The YAML of a record of that shape; `called` is what the file calls the model.

    `remarks` are sentences about what the file says and a record has no field for.

    Raises:
        ConfigError: no name, or a text that no record can hold.
    """
    id_ = naming.id_ or id_from(called) or id_from(naming.folder)
    if id_ is None:
        raise ConfigError("neither the file nor its folder names the model", "name it with --id")
    record: dict[str, Any] = {
        "kind": "model",
        "id": id_,
        "title": naming.title or title_from(called) or id_,
        **shape.values,
        "origin": naming.origin,
    }
    unstated = [field for field in record if field in shape.unstated]
    origins = dict(shape.origins)
    if naming.assumed is not None:
        origins |= dict.fromkeys(unstated, naming.assumed)
    if origins:
        record["origins"] = {field: origins[field] for field in record if field in origins}
    notes = [*_notes(shape, unstated if naming.assumed is None else []), *remarks]
    if notes:
        record["notes"] = "\n".join(notes) + "\n"
    return record_text(record)


def _notes(shape: Shape, unowned: list[str]) -> list[str]:
    notes = [f"Assumed: {sentence}." for sentence in dict.fromkeys(shape.assumed)]
    if unowned:
        fields = ", ".join(unowned)
        notes.append(f"What was assumed does not rest on the origin above: {fields}.")
    return notes


def left_behind(model: ConfigModel) -> list[str]:
    """What a config.json says that a record has no field for, and arithmetic would use."""
    notes = []
    if model.quantised:
        notes.append("The file describes quantised weights; a deployment says how they are stored.")
    if isinstance(model, ConfigShape) and model.attention == "full" and _rotary_differs(model):
        notes.append(
            "The file scales the rotary embedding; a record does not hold that, so the rotary "
            "table within the weights is that of a plain one."
        )
    return notes


def _rotary_differs(model: ConfigShape) -> bool:
    try:
        own = Structure.of(model)
        plain = replace(own, rope_scaling=None, partial_rotary_factor=Fraction(1))
        dtype = model.torch_dtype or "fp32"
        return rotary_table(own, dtype).bytes != rotary_table(plain, dtype).bytes
    except ShapeError:
        # A scaling that is not known.
        return True
