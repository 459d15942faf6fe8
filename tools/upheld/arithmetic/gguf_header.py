"""The header of a GGUF file: its keys and its tensors, read within bounds.

Version 2 or 3, little endian. Sources: ggml's docs/gguf.md, ggml/src/ggml-common.h (bytes of a
block) and ggml.h (type numbers).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from upheld.arithmetic.checkpoint_files import (
    COMPLETE,
    MAX_DIMENSIONS,
    MAX_HEADER,
    MAX_NAME,
    MAX_TENSORS,
    CheckpointError,
    StoredTensor,
    elements_of,
    exactly,
    opened,
)
from upheld.records.shorten import shorten

GGUF_MAGIC = b"GGUF"
# Lists of a value for each layer are kept; of longer ones, such as a vocabulary, the length alone.
MAX_KEPT_ITEMS = 10_000
MAX_KEPT_TEXT = 1_024

# GGML's types by number: name, elements of a block, bytes of a block.
GGML_TYPES: dict[int, tuple[str, int, int]] = {
    0: ("F32", 1, 4), 1: ("F16", 1, 2), 2: ("Q4_0", 32, 18), 3: ("Q4_1", 32, 20),
    6: ("Q5_0", 32, 22), 7: ("Q5_1", 32, 24), 8: ("Q8_0", 32, 34), 10: ("Q2_K", 256, 84),
    11: ("Q3_K", 256, 110), 12: ("Q4_K", 256, 144), 13: ("Q5_K", 256, 176),
    14: ("Q6_K", 256, 210), 15: ("Q8_K", 256, 292), 16: ("IQ2_XXS", 256, 66),
    17: ("IQ2_XS", 256, 74), 18: ("IQ3_XXS", 256, 98), 19: ("IQ1_S", 256, 50),
    20: ("IQ4_NL", 32, 18), 21: ("IQ3_S", 256, 110), 22: ("IQ2_S", 256, 82),
    23: ("IQ4_XS", 256, 136), 24: ("I8", 1, 1), 25: ("I16", 1, 2), 26: ("I32", 1, 4),
    27: ("I64", 1, 8), 28: ("F64", 1, 8), 29: ("IQ1_M", 256, 56), 30: ("BF16", 1, 2),
    34: ("TQ1_0", 256, 54), 35: ("TQ2_0", 256, 66), 39: ("MXFP4", 32, 17),
}  # fmt: skip

# Numbers of the value types, with what struct calls them; 8 is text and 9 an array.
_SCALARS = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q",
    12: "<d",
}  # fmt: skip
_TEXT, _ARRAY = 8, 9


@dataclass(frozen=True, slots=True)
class GgufArray:
    """A list: its length, and its items where they are few and whole numbers or flags."""

    length: int
    items: tuple[int | bool, ...] | None = None


# None stands for a value that nothing here asks for: a fraction, or a long text.
GgufValue = int | bool | str | GgufArray | None


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """Keys by name and tensors by name; a shape's first dimension is that of a row."""

    keys: Mapping[str, GgufValue]
    tensors: Mapping[str, StoredTensor]


def is_gguf(file: Path) -> bool:
    """Whether the file begins as a GGUF file does; what can't be read does not."""
    try:
        with opened(file) as (stream, _):
            return stream.read(4) == GGUF_MAGIC
    except CheckpointError:
        return False


def read_gguf_header(file: Path) -> GgufHeader:
    """The header of the file, whose tensors are all inside it and apart.

    Raises:
        CheckpointError: not such a file, a type that is not known, a name that is there twice, or
            a file cut short.
    """
    with opened(file) as (stream, size):
        reader = _Reader(stream, size)
        if stream.read(4) != GGUF_MAGIC:
            raise CheckpointError("it does not begin with GGUF", "give a .gguf file")
        version = reader.number("<I")
        if version not in (2, 3):
            raise CheckpointError(
                f"GGUF version {version} is not known", "known: 2 and 3, little endian"
            )
        tensors, pairs = reader.count("tensors"), reader.count("keys")
        keys: dict[str, GgufValue] = {}
        for _ in range(pairs):
            key = reader.text()
            if key in keys:
                raise CheckpointError(f"the key {shorten(key)} is there twice", COMPLETE)
            keys[key] = reader.value()
        alignment = keys.get("general.alignment", 32)
        if not isinstance(alignment, int) or not 1 <= alignment <= 2**20:
            raise CheckpointError("general.alignment is out of bounds", COMPLETE)
        found: dict[str, StoredTensor] = {}
        ranges = []
        for _ in range(tensors):
            name, tensor, offset = reader.tensor()
            if name in found:
                raise CheckpointError(f"the tensor {shorten(name)} is there twice", COMPLETE)
            found[name] = tensor
            ranges.append((offset, offset + tensor.bytes))
        begin = -(-stream.tell() // alignment) * alignment
    last = 0
    for start, end in sorted(ranges):
        if start < last:
            raise CheckpointError("its tensors overlap", COMPLETE)
        last = end
    if begin + last > size:
        raise CheckpointError(
            f"it has {size:,} bytes where its header asks for {begin + last:,}", COMPLETE
        )
    return GgufHeader(keys, found)


@dataclass(slots=True)
class _Reader:
    stream: IO[bytes]
    size: int

    def number(self, code: str) -> int:
        found = struct.unpack(code, exactly(self.stream, struct.calcsize(code)))[0]
        return int(found)

    def count(self, what: str) -> int:
        found = self.number("<Q")
        if found > MAX_TENSORS:
            raise CheckpointError(f"it would have {found:,} {what}", COMPLETE)
        return found

    def text(self) -> str:
        length = self.number("<Q")
        if length > MAX_NAME:
            raise CheckpointError(f"a name would have {length:,} bytes", COMPLETE)
        return self._text(length)

    def value(self) -> GgufValue:
        kind = self.number("<I")
        if kind == _TEXT:
            length = self.number("<Q")
            if length <= MAX_KEPT_TEXT:
                return self._text(length)
            self._skip(length)
            return None
        return self._array() if kind == _ARRAY else self._scalar(kind)

    def tensor(self) -> tuple[str, StoredTensor, int]:
        """The name, content and offset of the next tensor."""
        name = self.text()
        shown = shorten(name)
        dimensions = self.number("<I")
        if not 1 <= dimensions <= MAX_DIMENSIONS:
            raise CheckpointError(f"{shown} has {dimensions:,} dimensions", COMPLETE)
        shape = tuple(self.number("<Q") for _ in range(dimensions))
        kind, offset = self.number("<I"), self.number("<Q")
        if kind not in GGML_TYPES:
            raise CheckpointError(
                f"{shown} is of the type {kind}, which is not known",
                "what is not known is never counted as something else",
            )
        dtype, block, block_bytes = GGML_TYPES[kind]
        elements = elements_of(shown, shape)
        # A row, the first dimension, is in whole blocks.
        if shape[0] % block:
            raise CheckpointError(f"{shown} has rows of {shape[0]:,}, not whole blocks", COMPLETE)
        return name, StoredTensor(dtype, shape, elements // block * block_bytes), offset

    def _array(self) -> GgufArray:
        kind, length = self.number("<I"), self.number("<Q")
        if kind == _TEXT:
            for _ in range(length):
                self._skip(self.number("<Q"))
            return GgufArray(length)
        code = self._code(kind)
        if length > MAX_KEPT_ITEMS or code in ("<f", "<d"):
            self._skip(length * struct.calcsize(code))
            return GgufArray(length)
        packed = exactly(self.stream, length * struct.calcsize(code))
        return GgufArray(length, tuple(each for (each,) in struct.iter_unpack(code, packed)))

    def _scalar(self, kind: int) -> int | bool | None:
        code = self._code(kind)
        packed = exactly(self.stream, struct.calcsize(code))
        if code in ("<f", "<d"):
            return None
        found: int | bool = struct.unpack(code, packed)[0]
        return found

    def _code(self, kind: int) -> str:
        if kind not in _SCALARS:
            raise CheckpointError(f"a key has a value of the type {kind}", COMPLETE)
        return _SCALARS[kind]

    def _text(self, length: int) -> str:
        self._end_of(length)
        return exactly(self.stream, length).decode("utf-8", "replace")

    def _skip(self, length: int) -> None:
        self.stream.seek(self._end_of(length))

    def _end_of(self, length: int) -> int:
        end = self.stream.tell() + length
        if end > min(self.size, MAX_HEADER):
            raise CheckpointError(
                f"its header is cut short, or has over {MAX_HEADER:,} bytes", COMPLETE
            )
        return end
