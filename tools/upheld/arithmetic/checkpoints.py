"""Bytes and tensors of stored weights: a safetensors index, or a safetensors or GGUF header.

Only headers are read, never a tensor, so nothing here grows with the model. The `safetensors` and
`gguf` libraries map whole files, want numpy, and trust the header's counts; the headers are a few
fields each and files of strangers, so they are read here within bounds. Sources: safetensors'
docs (format: length, JSON header, data without holes) and its DTYPE list.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from upheld.arithmetic.checkpoint_files import (
    COMPLETE,
    MAX_DIMENSIONS,
    MAX_SIZE,
    MAX_TENSORS,
    CheckpointError,
    StoredTensor,
    elements_of,
    exactly,
    opened,
)
from upheld.arithmetic.gguf_header import GGUF_MAGIC, read_gguf_header
from upheld.corpus.strict_json import Json, JsonRefusedError, parse
from upheld.records.shorten import shorten

__all__ = [
    "Checkpoint",
    "CheckpointError",
    "Index",
    "is_safetensors",
    "open_index",
    "read_checkpoint",
    "read_gguf",
    "read_index",
    "read_indexed",
    "read_safetensors",
    "refuse_part",
    "safetensors_tensors",
    "stored_in",
]

MAX_JSON = 32 * 1024 * 1024

# Bits of one element.
SAFETENSORS_BITS = {
    "F64": 64, "I64": 64, "U64": 64, "C64": 64, "F32": 32, "I32": 32, "U32": 32, "F16": 16,
    "BF16": 16, "I16": 16, "U16": 16, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "I8": 8, "U8": 8,
    "BOOL": 8, "F6_E2M3": 6, "F6_E3M2": 6, "F4": 4,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What stored weights take. `findings` are sentences about figures that do not add up."""

    tensors: int
    bytes: int
    by_dtype: Mapping[str, int]
    findings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Index:
    """A safetensors index: the size that it states, and the file of each tensor by name."""

    total_size: int
    weight_map: Mapping[str, str]

    @property
    def tensors(self) -> int:
        """How many tensors it names."""
        return len(self.weight_map)

    @property
    def files(self) -> Mapping[str, int]:
        """How many tensors each file holds."""
        return Counter(self.weight_map.values())


# How Transformers and llama.cpp name the parts of a model that is split over files.
_PART = re.compile(r"-\d{5}-of-(\d{5})\.(?:safetensors|gguf)$")


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
        raise CheckpointError("it has no metadata.total_size", COMPLETE)
    total = metadata["total_size"]
    # Some writers put 1.5e10.
    if isinstance(total, Decimal) and total == total.to_integral_value():
        total = int(total)
    if not isinstance(total, int) or isinstance(total, bool) or not 0 < total <= MAX_SIZE:
        raise CheckpointError("metadata.total_size is no number of bytes", COMPLETE)
    found: dict[str, str] = {}
    for tensor, name in weight_map.items():
        if not isinstance(name, str) or not _is_a_file_name(name):
            raise CheckpointError(
                f"weight_map: the file of {shorten(tensor)} is no name of a file beside the index",
                COMPLETE,
            )
        found[tensor] = name
    return Index(total, found)


def open_index(file: Path) -> Index:
    """The model.safetensors.index.json at `file`.

    Raises:
        CheckpointError: see read_index; or it can't be read, or is too large.
    """
    with opened(file) as (stream, size):
        if size > MAX_JSON:
            raise CheckpointError(f"it has over {MAX_JSON:,} bytes", COMPLETE)
        return read_index(stream.read(MAX_JSON))


def refuse_part(file: Path) -> None:
    """Refuses one of several files of a model, which says nothing of the others.

    Raises:
        CheckpointError: it is one, by its name.
    """
    part = _PART.search(file.name)
    if part is not None and int(part[1]) > 1:
        raise CheckpointError(
            f"it is one of {int(part[1]):,} parts, and says nothing of the others",
            "give the model.safetensors.index.json, or add up the parts yourself",
        )


def is_safetensors(file: Path) -> bool:
    """Whether the file begins as a safetensors file does; what can't be read does not.

    It begins with the length of its header, and then the header's brace.
    """
    try:
        with opened(file) as (stream, _):
            start = stream.read(9)
    except CheckpointError:
        return False
    return start[8:] == b"{" and int.from_bytes(start[:8], "little") <= MAX_JSON


def read_checkpoint(file: Path) -> Checkpoint:
    """What is stored in a GGUF or safetensors file, or in the files of an index; by content.

    Of an index without all of its files beside it, the size that it states itself.

    Raises:
        CheckpointError: none of the three, one that can't be read, or one of several parts.
    """
    refuse_part(file)
    with opened(file) as (stream, _):
        start = stream.read(9)
    if start.startswith(GGUF_MAGIC):
        return read_gguf(file)
    # A safetensors file begins with the length of its header, and then the header's brace.
    if start[8:] == b"{":
        return read_safetensors(file)
    index = open_index(file)
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
    index = open_index(file)
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
    """What the header of one safetensors file says that is stored.

    Raises:
        CheckpointError: see safetensors_tensors.
    """
    return stored_in(safetensors_tensors(file).values())


def safetensors_tensors(file: Path) -> dict[str, StoredTensor]:
    """The tensors in the header of one safetensors file, by name.

    Raises:
        CheckpointError: not such a file, a header that contradicts itself, or a file cut short.
    """
    with opened(file) as (stream, size):
        length = int.from_bytes(exactly(stream, 8), "little")
        if not 2 <= length <= MAX_JSON:
            raise CheckpointError(
                f"its header would have {length:,} bytes, not 2 to {MAX_JSON:,}",
                "give a .safetensors file",
            )
        header = _json_object(exactly(stream, length))
    header.pop("__metadata__", None)
    if len(header) > MAX_TENSORS:
        raise CheckpointError(f"it has over {MAX_TENSORS:,} tensors", COMPLETE)
    tensors = {}
    ranges = []
    for name, entry in header.items():
        tensors[name], begin = _entry(name, entry)
        ranges.append((begin, begin + tensors[name].bytes))
    at = 0
    for begin, end in sorted(ranges):
        if begin != at:
            raise CheckpointError("its tensors overlap or leave holes", COMPLETE)
        at = end
    if size != 8 + length + at:
        raise CheckpointError(
            f"it has {size:,} bytes where its header asks for {8 + length + at:,}", COMPLETE
        )
    return tensors


def read_gguf(file: Path) -> Checkpoint:
    """What the header of one GGUF file says that is stored.

    The bytes are those of the tensors, without the padding between them.

    Raises:
        CheckpointError: see gguf_header.read_gguf_header.
    """
    return stored_in(read_gguf_header(file).tensors.values())


def stored_in(tensors: Iterable[StoredTensor]) -> Checkpoint:
    """What the tensors take together."""
    by_dtype: Counter[str] = Counter()
    count = 0
    for tensor in tensors:
        by_dtype[tensor.dtype] += tensor.bytes
        count += 1
    return Checkpoint(count, sum(by_dtype.values()), dict(sorted(by_dtype.items())))


def _entry(name: str, entry: Json) -> tuple[StoredTensor, int]:
    """The tensor, and where its data begins."""
    shown = shorten(name)
    if not isinstance(entry, dict):
        raise CheckpointError(f"{shown} is no object", COMPLETE)
    dtype, shape, offsets = entry.get("dtype"), entry.get("shape"), entry.get("data_offsets")
    if not isinstance(dtype, str) or dtype not in SAFETENSORS_BITS:
        raise CheckpointError(
            f"{shown} has the dtype {shorten(str(dtype))}, which is not known",
            "what is not known is never counted as something else",
        )
    begin, end = _whole(offsets) or (0, -1)
    sizes = _whole(shape)
    if sizes is None or len(sizes) > MAX_DIMENSIONS or begin > end:
        raise CheckpointError(f"{shown} has no shape and data_offsets that work", COMPLETE)
    bits = elements_of(shown, sizes) * SAFETENSORS_BITS[dtype]
    if Fraction(bits, 8) != end - begin:
        raise CheckpointError(
            f"{shown} has {end - begin:,} bytes, its shape and dtype ask for {bits / 8:,}",
            COMPLETE,
        )
    return StoredTensor(dtype, tuple(sizes), end - begin), begin


def _whole(value: Json) -> list[int] | None:
    if not isinstance(value, list):
        return None
    found = [each for each in value if isinstance(each, int) and not isinstance(each, bool)]
    return found if len(found) == len(value) and all(each >= 0 for each in found) else None


def _json_object(data: bytes) -> dict[str, Json]:
    if len(data) > MAX_JSON:
        raise CheckpointError(f"it has over {MAX_JSON:,} bytes", COMPLETE)
    try:
        documents = parse(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise CheckpointError("it is not UTF-8 text", COMPLETE) from None
    except JsonRefusedError as error:
        raise CheckpointError(f"character {error.offset}: {error.message}", error.help) from None
    if len(documents) != 1 or not isinstance(documents[0].value, dict):
        raise CheckpointError("it is not one JSON object", COMPLETE)
    return documents[0].value


def _is_a_file_name(name: str) -> bool:
    return (
        bool(name) and len(name) <= 255 and name not in (".", "..") and not set(name) & {*"/\\\0"}
    )
