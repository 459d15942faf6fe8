"""Bytes and tensors of stored weights: a safetensors index, or a safetensors or GGUF header.

Only headers are read, never a tensor, so nothing here grows with the model. The `safetensors` and
`gguf` libraries map whole files, want numpy, and trust the header's counts; the headers are a few
fields each and files of strangers, so they are read here within bounds. Sources: safetensors'
docs (format: length, JSON header, data without holes) and its DTYPE list; ggml's docs/gguf.md,
ggml/src/ggml-common.h (bytes of a block) and ggml.h (type numbers).
"""

from __future__ import annotations

import os
import re
import stat
import struct
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import IO

from upheld.corpus.strict_json import Json, JsonRefusedError, parse
from upheld.records.shorten import shorten

GGUF_MAGIC = b"GGUF"
MAX_JSON = 32 * 1024 * 1024
MAX_HEADER = 64 * 1024 * 1024
MAX_TENSORS = 1_000_000
MAX_NAME = 65_535
MAX_DIMENSIONS = 8
MAX_SIZE = 2**60

# Bits of one element.
SAFETENSORS_BITS = {
    "F64": 64, "I64": 64, "U64": 64, "C64": 64, "F32": 32, "I32": 32, "U32": 32, "F16": 16,
    "BF16": 16, "I16": 16, "U16": 16, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "I8": 8, "U8": 8,
    "BOOL": 8, "F6_E2M3": 6, "F6_E3M2": 6, "F4": 4,
}  # fmt: skip

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


class CheckpointError(ValueError):
    """The file does not say what the weights take; `help` says how to go on."""

    def __init__(self, message: str, help_text: str) -> None:
        super().__init__(message)
        self.help = help_text


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What stored weights take. `findings` are sentences about figures that do not add up."""

    tensors: int
    bytes: int
    by_dtype: Mapping[str, int]
    findings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Index:
    """A safetensors index: the size that it states, and how many tensors each file holds."""

    total_size: int
    tensors: int
    files: Mapping[str, int] = field(default_factory=dict)


# How Transformers and llama.cpp name the parts of a model that is split over files.
_PART = re.compile(r"-\d{5}-of-(\d{5})\.(?:safetensors|gguf)$")
_COMPLETE = "use the file as it was published, complete"


def read_index(data: bytes) -> Index:
    """The bytes of a model.safetensors.index.json.

    Raises:
        CheckpointError: not such an index.
    """
    index = _json_object(data)
    metadata, weight_map = index.get("metadata"), index.get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        raise CheckpointError("it has no weight_map", "give the model.safetensors.index.json")
    if not isinstance(metadata, dict) or "total_size" not in metadata:
        raise CheckpointError("it has no metadata.total_size", _COMPLETE)
    total = metadata["total_size"]
    # Some writers put 1.5e10.
    if isinstance(total, Decimal) and total == total.to_integral_value():
        total = int(total)
    if not isinstance(total, int) or isinstance(total, bool) or not 0 < total <= MAX_SIZE:
        raise CheckpointError("metadata.total_size is no number of bytes", _COMPLETE)
    files: Counter[str] = Counter()
    for tensor, name in weight_map.items():
        if not isinstance(name, str) or not _is_a_file_name(name):
            raise CheckpointError(
                f"weight_map: the file of {shorten(tensor)} is no name of a file beside the index",
                _COMPLETE,
            )
        files[name] += 1
    return Index(total, len(weight_map), dict(files))


def read_checkpoint(file: Path) -> Checkpoint:
    """What is stored in a GGUF or safetensors file, or in the files of an index; by content.

    Of an index without all of its files beside it, the size that it states itself.

    Raises:
        CheckpointError: none of the three, one that can't be read, or one of several parts.
    """
    part = _PART.search(file.name)
    if part is not None and int(part[1]) > 1:
        raise CheckpointError(
            f"it is one of {int(part[1]):,} parts, and says nothing of the others",
            "give the model.safetensors.index.json, or add up the parts yourself",
        )
    with _opened(file) as (stream, _):
        start = stream.read(9)
    if start.startswith(GGUF_MAGIC):
        return read_gguf(file)
    # A safetensors file begins with the length of its header, and then the header's brace.
    if start[8:] == b"{":
        return read_safetensors(file)
    with _opened(file) as (stream, size):
        if size > MAX_JSON:
            raise CheckpointError(f"it has over {MAX_JSON:,} bytes", _COMPLETE)
        index = read_index(stream.read(MAX_JSON))
    missing = [name for name in index.files if not (file.parent / name).exists()]
    if not missing:
        return read_indexed(file)
    which = "its files" if len(missing) == len(index.files) else f"{len(missing):,} of its files"
    stated = f"{which} are not there, so its total_size is taken as it states it"
    return Checkpoint(index.tensors, index.total_size, {}, (stated,))


def read_indexed(file: Path) -> Checkpoint:
    """The index at `file` and the headers of the safetensors files beside it.

    A file that is not there, a count of tensors or a sum of bytes that differs is a finding; the
    bytes are those of the headers.

    Raises:
        CheckpointError: the index or a header can't be read.
    """
    with _opened(file) as (stream, size):
        if size > MAX_JSON:
            raise CheckpointError(f"it has over {MAX_JSON:,} bytes", _COMPLETE)
        index = read_index(stream.read(MAX_JSON))
    by_dtype: Counter[str] = Counter()
    findings: list[str] = []
    tensors = 0
    for name, expected in sorted(index.files.items()):
        shard = file.parent / name
        if not shard.exists():
            findings.append(f"{shorten(name)} is not there, so its tensors are not counted")
            continue
        try:
            found = read_safetensors(shard)
        except CheckpointError as error:
            raise CheckpointError(f"{shorten(name)}: {error}", error.help) from None
        if found.tensors != expected:
            findings.append(
                f"{shorten(name)} has {found.tensors:,} tensors, the index names {expected:,}"
            )
        tensors += found.tensors
        by_dtype.update(found.by_dtype)
    total = sum(by_dtype.values())
    if total != index.total_size:
        findings.append(
            f"the headers have {total:,} bytes, the index states total_size {index.total_size:,}"
        )
    return Checkpoint(tensors, total, dict(sorted(by_dtype.items())), tuple(findings))


def read_safetensors(file: Path) -> Checkpoint:
    """The header of one safetensors file.

    Raises:
        CheckpointError: not such a file, a header that contradicts itself, or a file cut short.
    """
    with _opened(file) as (stream, size):
        length = int.from_bytes(_exactly(stream, 8), "little")
        if not 2 <= length <= MAX_JSON:
            raise CheckpointError(
                f"its header would have {length:,} bytes, not 2 to {MAX_JSON:,}",
                "give a .safetensors file",
            )
        header = _json_object(_exactly(stream, length))
    header.pop("__metadata__", None)
    if len(header) > MAX_TENSORS:
        raise CheckpointError(f"it has over {MAX_TENSORS:,} tensors", _COMPLETE)
    by_dtype: Counter[str] = Counter()
    ranges = []
    for name, entry in header.items():
        dtype, begin, end = _entry(name, entry)
        by_dtype[dtype] += end - begin
        ranges.append((begin, end))
    at = 0
    for begin, end in sorted(ranges):
        if begin != at:
            raise CheckpointError("its tensors overlap or leave holes", _COMPLETE)
        at = end
    if size != 8 + length + at:
        raise CheckpointError(
            f"it has {size:,} bytes where its header asks for {8 + length + at:,}", _COMPLETE
        )
    return Checkpoint(len(ranges), at, dict(sorted(by_dtype.items())))


def read_gguf(file: Path) -> Checkpoint:
    """The header of one GGUF file, version 2 or 3, little endian.

    The bytes are those of the tensors, without the padding between them.

    Raises:
        CheckpointError: not such a file, a type that is not known, or a file cut short.
    """
    with _opened(file) as (stream, size):
        header = _GgufHeader(stream, size)
        if stream.read(4) != GGUF_MAGIC:
            raise CheckpointError("it does not begin with GGUF", "give a .gguf file")
        version = header.number("<I")
        if version not in (2, 3):
            raise CheckpointError(
                f"GGUF version {version} is not known", "known: 2 and 3, little endian"
            )
        tensors, pairs = header.count("tensors"), header.count("keys")
        alignment = 32
        for _ in range(pairs):
            key, value = header.text(), header.value()
            if key == "general.alignment" and isinstance(value, int):
                alignment = value
        if not 1 <= alignment <= 2**20:
            raise CheckpointError("general.alignment is out of bounds", _COMPLETE)
        by_dtype: Counter[str] = Counter()
        ranges = []
        for _ in range(tensors):
            dtype, taken, offset = header.tensor()
            by_dtype[dtype] += taken
            ranges.append((offset, offset + taken))
        begin = -(-stream.tell() // alignment) * alignment
    last = 0
    for start, end in sorted(ranges):
        if start < last:
            raise CheckpointError("its tensors overlap", _COMPLETE)
        last = end
    if begin + last > size:
        raise CheckpointError(
            f"it has {size:,} bytes where its header asks for {begin + last:,}", _COMPLETE
        )
    return Checkpoint(tensors, sum(by_dtype.values()), dict(sorted(by_dtype.items())))


# Numbers of the value types of GGUF, with what struct calls them; 8 is text and 9 an array.
_SCALARS = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q",
    12: "<d",
}  # fmt: skip
_TEXT, _ARRAY = 8, 9


@dataclass(slots=True)
class _GgufHeader:
    stream: IO[bytes]
    size: int

    def number(self, code: str) -> int:
        found = struct.unpack(code, _exactly(self.stream, struct.calcsize(code)))[0]
        return int(found)

    def count(self, what: str) -> int:
        found = self.number("<Q")
        if found > MAX_TENSORS:
            raise CheckpointError(f"it would have {found:,} {what}", _COMPLETE)
        return found

    def text(self) -> str:
        length = self.number("<Q")
        if length > MAX_NAME:
            raise CheckpointError(f"a name would have {length:,} bytes", _COMPLETE)
        self._end_of(length)
        return _exactly(self.stream, length).decode("utf-8", "replace")

    def value(self) -> int | None:
        """The value of a key, where it is a whole number; anything else is passed over."""
        kind = self.number("<I")
        if kind == _TEXT:
            self._skip(self.number("<Q"))
            return None
        if kind != _ARRAY:
            code = self._scalar(kind)
            if code in ("<f", "<d"):
                self._skip(struct.calcsize(code))
                return None
            return self.number(code)
        kind, length = self.number("<I"), self.number("<Q")
        if kind == _TEXT:
            for _ in range(length):
                self._skip(self.number("<Q"))
        else:
            self._skip(length * struct.calcsize(self._scalar(kind)))
        return None

    def tensor(self) -> tuple[str, int, int]:
        """The dtype, bytes and offset of the next tensor."""
        name = shorten(self.text())
        dimensions = self.number("<I")
        if not 1 <= dimensions <= MAX_DIMENSIONS:
            raise CheckpointError(f"{name} has {dimensions:,} dimensions", _COMPLETE)
        shape = [self.number("<Q") for _ in range(dimensions)]
        kind, offset = self.number("<I"), self.number("<Q")
        if kind not in GGML_TYPES:
            raise CheckpointError(
                f"{name} is of the type {kind}, which is not known",
                "what is not known is never counted as something else",
            )
        dtype, block, block_bytes = GGML_TYPES[kind]
        elements = _elements(name, shape)
        # A row, the first dimension, is in whole blocks.
        if shape[0] % block:
            raise CheckpointError(f"{name} has rows of {shape[0]:,}, not whole blocks", _COMPLETE)
        return dtype, elements // block * block_bytes, offset

    def _scalar(self, kind: int) -> str:
        if kind not in _SCALARS:
            raise CheckpointError(f"a key has a value of the type {kind}", _COMPLETE)
        return _SCALARS[kind]

    def _skip(self, length: int) -> None:
        self.stream.seek(self._end_of(length))

    def _end_of(self, length: int) -> int:
        end = self.stream.tell() + length
        if end > min(self.size, MAX_HEADER):
            raise CheckpointError(
                f"its header is cut short, or has over {MAX_HEADER:,} bytes", _COMPLETE
            )
        return end


def _entry(name: str, entry: Json) -> tuple[str, int, int]:
    shown = shorten(name)
    if not isinstance(entry, dict):
        raise CheckpointError(f"{shown} is no object", _COMPLETE)
    dtype, shape, offsets = entry.get("dtype"), entry.get("shape"), entry.get("data_offsets")
    if not isinstance(dtype, str) or dtype not in SAFETENSORS_BITS:
        raise CheckpointError(
            f"{shown} has the dtype {shorten(str(dtype))}, which is not known",
            "what is not known is never counted as something else",
        )
    begin, end = _whole(offsets) or (0, -1)
    sizes = _whole(shape)
    if sizes is None or len(sizes) > MAX_DIMENSIONS or begin > end:
        raise CheckpointError(f"{shown} has no shape and data_offsets that work", _COMPLETE)
    bits = _elements(shown, sizes) * SAFETENSORS_BITS[dtype]
    if Fraction(bits, 8) != end - begin:
        raise CheckpointError(
            f"{shown} has {end - begin:,} bytes, its shape and dtype ask for {bits / 8:,}",
            _COMPLETE,
        )
    return dtype, begin, end


def _whole(value: Json) -> list[int] | None:
    if not isinstance(value, list):
        return None
    found = [each for each in value if isinstance(each, int) and not isinstance(each, bool)]
    return found if len(found) == len(value) and all(each >= 0 for each in found) else None


def _elements(name: str, shape: list[int]) -> int:
    elements = 1
    for size in shape:
        elements *= size
        if elements > MAX_SIZE:
            raise CheckpointError(f"{name} has over {MAX_SIZE:,} elements", _COMPLETE)
    return elements


def _json_object(data: bytes) -> dict[str, Json]:
    if len(data) > MAX_JSON:
        raise CheckpointError(f"it has over {MAX_JSON:,} bytes", _COMPLETE)
    try:
        documents = parse(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise CheckpointError("it is not UTF-8 text", _COMPLETE) from None
    except JsonRefusedError as error:
        raise CheckpointError(f"character {error.offset}: {error.message}", error.help) from None
    if len(documents) != 1 or not isinstance(documents[0].value, dict):
        raise CheckpointError("it is not one JSON object", _COMPLETE)
    return documents[0].value


def _is_a_file_name(name: str) -> bool:
    return (
        bool(name) and len(name) <= 255 and name not in (".", "..") and not set(name) & {*"/\\\0"}
    )


@contextmanager
def _opened(file: Path) -> Iterator[tuple[IO[bytes], int]]:
    # Not to wait for a pipe: it is refused below.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(file, flags), "rb") as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise CheckpointError("it is no regular file", "give a file on disk")
            yield stream, status.st_size
    except (OSError, ValueError) as error:
        if isinstance(error, CheckpointError):
            raise
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "bad name"
        raise CheckpointError(f"it can't be read: {reason}", "check the path") from None


def _exactly(stream: IO[bytes], length: int) -> bytes:
    data = stream.read(length)
    if len(data) != length:
        raise CheckpointError("it is cut short inside its header", _COMPLETE)
    return data
