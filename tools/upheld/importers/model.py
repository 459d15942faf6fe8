"""A model's config.json into a model record: its facts, their origin, and what was assumed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from upheld.arithmetic.config_json import load_config, read_config
from upheld.arithmetic.configs import ConfigError
from upheld.importers.names import id_from, title_from
from upheld.importers.shape import Shape, shape_of
from upheld.importers.yaml_text import record_text


def model_text(
    data: bytes,
    origin: str,
    *,
    id_: str | None = None,
    title: str | None = None,
    folder: str = "",
    assumed: str | None = None,
) -> str:
    """The YAML of a model record from the bytes of a config.json.

    `origin` is the id of the source or assumption that the file's facts rest on; `assumed` is that
    of the assumption behind what the file leaves out. Without `id_` the id comes from what the
    file calls the model, or from the folder that it lies in.

    Raises:
        ConfigError: the file gives no record: not a config.json, a family that is not known, a
            fact that is missing, or a text that no record can hold.
    """
    model = read_config(data)
    config = load_config(data)
    shape = shape_of(config, model)
    called = config.get("_name_or_path")
    called = called if isinstance(called, str) else ""
    id_ = id_ or id_from(called) or id_from(folder)
    if id_ is None:
        raise ConfigError("neither the file nor its folder names the model", "name it with --id")
    record: dict[str, Any] = {
        "kind": "model",
        "id": id_,
        "title": title or title_from(called) or id_,
        **shape.values,
        "origin": origin,
    }
    unstated = [field for field in record if field in shape.unstated]
    if assumed is not None and unstated:
        record["origins"] = dict.fromkeys(unstated, assumed)
    notes = _notes(shape, config, unstated if assumed is None else [])
    if notes:
        record["notes"] = "\n".join(notes) + "\n"
    return record_text(record)


def _notes(shape: Shape, config: Mapping[str, Any], unowned: list[str]) -> list[str]:
    notes = [f"Assumed: {sentence}." for sentence in dict.fromkeys(shape.assumed)]
    if unowned:
        fields = ", ".join(unowned)
        notes.append(f"What was assumed does not rest on the origin above: {fields}.")
    if config.get("quantization_config"):
        notes.append("The file describes quantised weights; a deployment says how they are stored.")
    return notes
