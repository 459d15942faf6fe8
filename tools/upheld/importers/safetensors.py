"""Tensors of a safetensors file or index beside a config.json: what they give, and contradict.

Tensors say how many layers there are and how wide; how many heads share a width they do not say,
so the config.json says that, and each shape is held against it. Names of tensors are those of
Transformers' models.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from upheld.arithmetic.checkpoint_files import CheckpointError, StoredTensor, opened
from upheld.arithmetic.checkpoints import (
    is_safetensors,
    open_index,
    refuse_part,
    safetensors_tensors,
)
from upheld.arithmetic.config_json import ConfigModel, ConfigShape, load_config, model_of
from upheld.arithmetic.configs import ConfigError, language_part
from upheld.arithmetic.layouts.full import FullAttention
from upheld.importers.model import Naming, left_behind, text_of
from upheld.importers.shape import Shape, shape_of
from upheld.records.shorten import shorten
from upheld.records.units import count

_TOWER = re.compile(r"(^|\.)(vision|visual|audio|image|mtp|encoder)")
_LAYER = re.compile(r"(?:^|\.)(?:layers|h|blocks)\.(\d{1,6})\.")
_EMBEDDING = re.compile(
    r"(?:^|\.)(?:embed_tokens|word_embeddings|wte|embeddings|embed_in)\.weight$"
)
_KEYS = re.compile(r"\.self_attn\.k_proj\.weight$")
_GATE = re.compile(r"\.mlp\.gate_proj\.weight$")
_OUTPUT = re.compile(r"(?:^|\.)(?:lm_head|embed_out|output)\.weight$")
# Packed weights have other shapes.
_PLAIN = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}
# An index begins with its metadata; no config.json has such a key.
_START = 64 * 1024
_UNPACKED = (*_PLAIN, "F8_E4M3", "F8_E5M2")


class Contradictions(Exception):
    """What the tensors and the config.json say against each other; one sentence each."""

    def __init__(self, findings: list[str]) -> None:
        super().__init__("; ".join(findings))
        self.findings = findings


@dataclass(frozen=True, slots=True)
class Tensors:
    """Names of all tensors, the shapes that are known, and what of the files does not add up.

    `missing` counts files of an index that are not there, whose shapes are not known.
    """

    names: frozenset[str]
    shapes: Mapping[str, StoredTensor]
    missing: int = 0
    findings: tuple[str, ...] = ()


def is_index(file: Path) -> bool:
    """Whether the file holds JSON with a weight_map; one that is none for other reasons is."""
    try:
        with opened(file) as (stream, _):
            return b'"weight_map"' in stream.read(_START)
    except CheckpointError:
        return False


def read_tensors(file: Path) -> Tensors:
    """The tensors of a safetensors file, or of an index and the files beside it, from headers.

    Raises:
        CheckpointError: neither of the two, or one that can't be read.
    """
    if is_safetensors(file):
        refuse_part(file)
        tensors = safetensors_tensors(file)
        return Tensors(frozenset(tensors), tensors)
    index = open_index(file)
    shapes: dict[str, StoredTensor] = {}
    findings: list[str] = []
    missing = 0
    for name in sorted(index.files):
        if not (file.parent / name).exists():
            missing += 1
            continue
        try:
            found = safetensors_tensors(file.parent / name)
        except CheckpointError as error:
            raise CheckpointError(f"{shorten(name)}: {error}", error.help) from None
        named = {tensor for tensor, place in index.weight_map.items() if place == name}
        for tensor in sorted(named ^ set(found))[:1]:
            verb = "lacks" if tensor in named else "has"
            who = "names" if tensor in named else "does not name"
            findings.append(
                f"{shorten(name)} {verb} {shorten(tensor)}, which the index {who} there"
            )
        shapes |= found
    total = sum(each.bytes for each in shapes.values())
    if not missing and total != index.total_size:
        findings.append(
            f"the headers have {total:,} bytes, the index states total_size {index.total_size:,}"
        )
    return Tensors(frozenset(index.weight_map), shapes, missing, tuple(findings))


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
    checks = _Checks(tensors, model, shape)
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
        config["tie_word_embeddings"] = not any(map(_OUTPUT.search, tensors.names))
        given.append("tie_word_embeddings")
    if all(each.get(key) is None for each in (config, part) for key in ("torch_dtype", "dtype")):
        stored = {each.dtype for each in tensors.shapes.values()}
        if len(stored) == 1 and stored <= set(_PLAIN):
            config["torch_dtype"] = _PLAIN[stored.pop()]
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


class _Checks:
    """Holds the record's fields against tensors; `seen` are the fields that a tensor bears out."""

    def __init__(self, tensors: Tensors, model: ConfigModel, shape: Shape) -> None:
        self.seen: set[str] = set()
        self._tensors = tensors
        self._model = model
        self._values = shape.values
        self._names = sorted(each for each in tensors.names if not _TOWER.search(each))

    def contradictions(self) -> list[str]:
        return [*self._layers(), *self._embedding(), *self._output(), *self._widths()]

    def _layers(self) -> Iterator[str]:
        found = {int(match[1]) for name in self._names if (match := _LAYER.search(name))}
        if not found:
            return
        stated = self._values["num_hidden_layers"]
        # Layers that only draft follow the others, and config.json counts them apart.
        if found >= set(range(stated)) and (len(found) == stated or self._drafts()):
            self.seen.add("num_hidden_layers")
            return
        yield (
            f"there are tensors of {len(found):,} layers; num_hidden_layers of config.json is "
            f"{stated:,}"
        )

    def _drafts(self) -> bool:
        return any("they cache only where they draft" in each for each in self._model.assumed)

    def _embedding(self) -> Iterator[str]:
        for name, shape in self._matrices(_EMBEDDING):
            yield from self._is(name, shape[0], "vocab_size")
            yield from self._is(name, shape[1], "hidden_size")

    def _output(self) -> Iterator[str]:
        if any(map(_OUTPUT.search, self._names)):
            return
        if self._values["tie_word_embeddings"]:
            self.seen.add("tie_word_embeddings")
            return
        yield "there is no lm_head.weight; tie_word_embeddings of config.json is false"

    def _widths(self) -> Iterator[str]:
        layers = self._model.cached.layers
        widths = {each.kv_heads * each.k_dim for each in layers if isinstance(each, FullAttention)}
        for name, shape in self._matrices(_KEYS):
            if widths and shape[0] not in widths:
                wanted = " or ".join(f"{each:,}" for each in sorted(widths))
                yield (
                    f"{name} has {shape[0]:,} rows; num_key_value_heads × head_dim of config.json "
                    f"is {wanted}"
                )
        if isinstance(self._model, ConfigShape):
            for name, shape in self._matrices(_GATE):
                yield from self._is(name, shape[0], "intermediate_size")

    def _is(self, name: str, size: int, field: str) -> Iterator[str]:
        if size == self._values[field]:
            self.seen.add(field)
        else:
            yield f"{name} is {size:,} wide; {field} of config.json is {self._values[field]:,}"

    def _matrices(self, pattern: re.Pattern[str]) -> Iterator[tuple[str, tuple[int, ...]]]:
        for name in self._names:
            tensor = self._tensors.shapes.get(name)
            if tensor is None or not pattern.search(name):
                continue
            if tensor.dtype in _UNPACKED and len(tensor.shape) == 2:
                yield shorten(name), tensor.shape
