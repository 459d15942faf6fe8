"""Shapes of tensors against the fields that a config.json gives; names are Transformers' own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from upheld.arithmetic.config_json import ConfigModel, ConfigShape
from upheld.arithmetic.configs.fields import Fields
from upheld.arithmetic.layouts.full import FullAttention
from upheld.importers.shape import Shape
from upheld.importers.tensors import Tensors
from upheld.records.shorten import shorten

_TOWER = re.compile(r"(^|\.)(vision|visual|audio|image|mtp|encoder)")
_LAYER = re.compile(r"(?:^|\.)(?:layers|h|blocks)\.(\d{1,6})\.")
_EMBEDDING = re.compile(
    r"(?:^|\.)(?:embed_tokens|word_embeddings|wte|embeddings|embed_in)\.weight$"
)
_KEYS = re.compile(r"\.self_attn\.k_proj\.weight$")
_GATE = re.compile(r"\.mlp\.gate_proj\.weight$")
OUTPUT = re.compile(r"(?:^|\.)(?:lm_head|embed_out)\.weight$|^(?:language_model\.)?output\.weight$")
# Packed weights have other shapes.
PLAIN = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}
_UNPACKED = (*PLAIN, "F8_E4M3", "F8_E5M2")


class TensorChecks:
    """Holds the fields of a record against tensors; `seen` are those that a tensor bears out.

    `part` is the config.json of the language model.
    """

    def __init__(
        self, tensors: Tensors, model: ConfigModel, shape: Shape, part: Mapping[str, Any]
    ) -> None:
        self.seen: set[str] = set()
        self._tensors = tensors
        self._model = model
        self._values = shape.values
        self._part = part
        self._names = sorted(each for each in tensors.names if not _TOWER.search(each))

    def contradictions(self) -> list[str]:
        """A sentence for each tensor and field that differ."""
        return [*self._layers(), *self._embedding(), *self._output(), *self._widths()]

    def _layers(self) -> Iterator[str]:
        found = {int(match[1]) for name in self._names if (match := _LAYER.search(name))}
        if not found:
            return
        stated = self._values["num_hidden_layers"]
        # Layers that only draft follow the others, and config.json counts them apart.
        fields, name = Fields(self._part), "num_nextn_predict_layers"
        drafts = fields.count(name, least=0) if fields.has(name) else 0
        if found == set(range(len(found))) and len(found) in (stated, stated + drafts):
            self.seen.add("num_hidden_layers")
            return
        yield (
            f"there are tensors of {len(found):,} layers; num_hidden_layers of config.json is "
            f"{stated:,}"
        )

    def _embedding(self) -> Iterator[str]:
        for name, shape in self._matrices(_EMBEDDING):
            yield from self._is(name, shape[0], "vocab_size")
            yield from self._is(name, shape[1], "hidden_size")

    def _output(self) -> Iterator[str]:
        if any(map(OUTPUT.search, self._names)):
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
