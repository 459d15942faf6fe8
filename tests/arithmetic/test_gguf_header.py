"""What is kept of a GGUF header, and what is refused before anything is made of it."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from gguf_files import F16, LLAMA, Q8_0, dense_tensors, write_gguf
from upheld.arithmetic.checkpoint_files import CheckpointError, StoredTensor
from upheld.arithmetic.gguf_header import (
    MAX_KEPT_ITEMS,
    MAX_KEPT_TEXT,
    GgufArray,
    is_gguf,
    read_gguf_header,
)


def test_keys_and_tensors_are_read_in_full(tmp_path: Path) -> None:
    keys = {
        "text": "ü",
        "flag": True,
        "count": 7,
        "few": [1, 2],
        "flags": [True, False],
        "texts": ["a", "b"],
        "many": [3] * (MAX_KEPT_ITEMS + 1),
        "long": "x" * (MAX_KEPT_TEXT + 1),
    }
    tensors = {"a": (64, 3), "b": (5,)}
    found = read_gguf_header(write_gguf(tmp_path / "m.gguf", keys, tensors, Q8_0))
    assert found.keys == {
        "text": "ü",
        "flag": True,
        "count": 7,
        "few": GgufArray(2, (1, 2)),
        "flags": GgufArray(2, (True, False)),
        "texts": GgufArray(2),
        "many": GgufArray(MAX_KEPT_ITEMS + 1),
        "long": None,
    }
    assert found.tensors == {
        "a": StoredTensor("Q8_0", (64, 3), 64 * 3 // 32 * 34),
        "b": StoredTensor("F32", (5,), 20),
    }


def test_a_file_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    file = write_gguf(tmp_path / "m", LLAMA, dense_tensors(), F16)
    assert is_gguf(file)
    file.write_bytes(b"GGU")
    assert not is_gguf(file)
    assert not is_gguf(tmp_path)
    assert not is_gguf(tmp_path / "none")


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def tensor(name: str, offset: int) -> bytes:
    return text(name) + struct.pack("<IQIQ", 1, 8, 0, offset)


KEY = text("a") + struct.pack("<II", 4, 1)


@pytest.mark.parametrize(
    ("counts", "rest", "words"),
    [
        ((0, 2), KEY + KEY, "the key a is there twice"),
        ((2, 0), tensor("a", 0) + tensor("a", 32), "the tensor a is there twice"),
        ((2**40, 0), b"", "it would have 1,099,511,627,776 tensors"),
        ((0, 2**63), b"", "keys"),
        ((0, 1), struct.pack("<Q", 2**62), "a name would have"),
        ((0, 1), text("a") + struct.pack("<IIQ", 9, 5, 2**60), "cut short"),
        ((0, 1), text("a") + struct.pack("<IIQ", 9, 8, 2**60), "cut short"),
        ((0, 1), text("a") + struct.pack("<IIQ", 9, 9, 2), "a value of the type 9"),
        ((0, 1), text("a") + struct.pack("<IQ", 8, 2**62), "cut short"),
        ((0, 1), text("a") + struct.pack("<I", 99), "a value of the type 99"),
        ((0, 1), text("general.alignment") + struct.pack("<II", 4, 0), "out of bounds"),
    ],
)
def test_a_hostile_header_is_refused(
    tmp_path: Path, counts: tuple[int, int], rest: bytes, words: str
) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, *counts) + rest + bytes(256))
    with pytest.raises(CheckpointError, match=words):
        read_gguf_header(file)
