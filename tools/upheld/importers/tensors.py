"""The tensors of a safetensors file, or of an index and the files beside it, from headers alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from upheld.arithmetic.checkpoint_files import CheckpointError, StoredTensor, opened
from upheld.arithmetic.checkpoints import (
    is_safetensors,
    open_index,
    refuse_part,
    safetensors_tensors,
)
from upheld.records.shorten import shorten

# An index begins with its metadata; no config.json has a key of this name.
_START = 64 * 1024


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
    named: dict[str, set[str]] = {}
    for tensor, name in index.weight_map.items():
        named.setdefault(name, set()).add(tensor)
    for name in sorted(named):
        if not (file.parent / name).exists():
            missing += 1
            continue
        try:
            found = safetensors_tensors(file.parent / name)
        except CheckpointError as error:
            raise CheckpointError(f"{shorten(name)}: {error}", error.help) from None
        for tensor in sorted(named[name] ^ set(found))[:1]:
            verb = "lacks" if tensor in named[name] else "has"
            who = "names" if tensor in named[name] else "does not name"
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
