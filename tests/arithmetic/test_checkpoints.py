from __future__ import annotations

import json
import os
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upheld.arithmetic.checkpoints import (
    CheckpointError,
    read_checkpoint,
    read_gguf,
    read_index,
    read_indexed,
    read_safetensors,
)

TWO: dict[str, Any] = {
    "__metadata__": {"format": "pt"},
    "a": {"dtype": "BF16", "shape": [4, 8], "data_offsets": [0, 64]},
    "b": {"dtype": "F32", "shape": [3], "data_offsets": [64, 76]},
}


def safetensors(file: Path, header: Any, data: int) -> Path:
    text = json.dumps(header).encode()
    file.write_bytes(len(text).to_bytes(8, "little") + text + bytes(data))
    return file


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def tensor(name: str, shape: list[int], kind: int, offset: int) -> bytes:
    sizes = struct.pack(f"<{len(shape)}Q", *shape)
    return text(name) + struct.pack("<I", len(shape)) + sizes + struct.pack("<IQ", kind, offset)


def gguf(
    file: Path, tensors: list[bytes], data: int, keys: tuple[bytes, ...] = (), version: int = 3
) -> Path:
    header = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(keys))
    header += b"".join(keys) + b"".join(tensors)
    file.write_bytes(header + bytes(-len(header) % 32) + bytes(data))
    return file


KEYS = (
    text("general.name") + struct.pack("<I", 8) + text("a name"),
    text("scale") + struct.pack("<If", 6, 0.5),
    text("general.alignment") + struct.pack("<II", 4, 32),
    text("tokens") + struct.pack("<IIQ", 9, 8, 2) + text("x") + text("y"),
    text("types") + struct.pack("<IIQ", 9, 5, 3) + bytes(12),
)


def test_a_safetensors_header_gives_bytes_by_dtype(tmp_path: Path) -> None:
    found = read_safetensors(safetensors(tmp_path / "m.safetensors", TWO, 76))
    assert (found.tensors, found.bytes) == (2, 76)
    assert found.by_dtype == {"BF16": 64, "F32": 12}


@pytest.mark.parametrize(
    ("change", "data", "words"),
    [
        ({}, 75, "has 246 bytes where its header asks for 247"),
        ({}, 77, "bytes where its header asks for"),
        ({"b": TWO["b"] | {"data_offsets": [65, 77]}}, 77, "overlap or leave holes"),
        ({"b": TWO["b"] | {"data_offsets": [60, 72]}}, 76, "overlap or leave holes"),
        ({"b": TWO["b"] | {"shape": [4]}}, 76, "b has 12 bytes, its shape and dtype ask for 16"),
        ({"b": TWO["b"] | {"shape": [-3]}}, 76, "no shape and data_offsets that work"),
        ({"b": TWO["b"] | {"shape": [10**9, 10**9, 10**9]}}, 76, "elements"),
        ({"b": TWO["b"] | {"shape": [1] * 9}}, 76, "no shape and data_offsets that work"),
        ({"b": TWO["b"] | {"dtype": "X7"}}, 76, "the dtype X7, which is not known"),
        ({"b": TWO["b"] | {"data_offsets": [76, 64]}}, 76, "no shape and data_offsets"),
        ({"b": 3}, 76, "b is no object"),
    ],
)
def test_a_header_that_contradicts_itself_is_refused(
    tmp_path: Path, change: dict[str, Any], data: int, words: str
) -> None:
    with pytest.raises(CheckpointError, match=words):
        read_safetensors(safetensors(tmp_path / "m.safetensors", TWO | change, data))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "cut short inside its header"),
        (b"\xff" * 8, "its header would have"),
        ((10**6).to_bytes(8, "little") + b"{", "cut short inside its header"),
        ((4).to_bytes(8, "little") + b"\xff\xff{}", "not UTF-8"),
        ((2).to_bytes(8, "little") + b"[]", "not one JSON object"),
        ((7).to_bytes(8, "little") + b'{"a": 1', "character"),
        ((200).to_bytes(8, "little") + b"[" * 200, "nested deeper"),
    ],
)
def test_bytes_that_are_no_safetensors_are_refused(tmp_path: Path, data: bytes, words: str) -> None:
    file = tmp_path / "m.safetensors"
    file.write_bytes(data)
    with pytest.raises(CheckpointError, match=words):
        read_safetensors(file)


def test_what_is_no_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "none", ".", "a\0b"):
        for read in (read_safetensors, read_gguf, read_indexed):
            with pytest.raises(CheckpointError):
                read(tmp_path / name)


def index(total: Any = 152, **changes: Any) -> dict[str, Any]:
    files = {"a": "1.safetensors", "b": "1.safetensors", "c": "2.safetensors", "d": "2.safetensors"}
    return {"metadata": {"total_size": total}, "weight_map": files} | changes


def two_files(folder: Path, listed: dict[str, Any]) -> Path:
    for name in ("1", "2"):
        safetensors(folder / f"{name}.safetensors", TWO, 76)
    file = folder / "model.safetensors.index.json"
    file.write_text(json.dumps(listed), "utf-8")
    return file


def test_an_index_and_its_files_add_up(tmp_path: Path) -> None:
    found = read_indexed(two_files(tmp_path, index()))
    assert (found.tensors, found.bytes, found.findings) == (4, 152, ())
    assert found.by_dtype == {"BF16": 128, "F32": 24}
    assert read_index(json.dumps(index(1.5e3)).encode()).total_size == 1500


def test_sums_that_differ_are_findings(tmp_path: Path) -> None:
    listed = index(160)
    listed["weight_map"]["e"] = "2.safetensors"
    listed["weight_map"]["f"] = "3.safetensors"
    found = read_indexed(two_files(tmp_path, listed))
    assert found.bytes == 152
    assert list(found.findings) == [
        "2.safetensors has 2 tensors, the index names 3",
        "3.safetensors is not there, so its tensors are not counted",
        "the headers have 152 bytes, the index states total_size 160",
    ]


def test_a_file_that_is_cut_short_is_named(tmp_path: Path) -> None:
    file = two_files(tmp_path, index())
    (tmp_path / "2.safetensors").write_bytes(b"\x10")
    with pytest.raises(CheckpointError, match=r"^2.safetensors: it is cut short"):
        read_indexed(file)


@pytest.mark.parametrize(
    ("listed", "words"),
    [
        ({}, "no weight_map"),
        (index(weight_map={}), "no weight_map"),
        (index(metadata=None), "no metadata.total_size"),
        (index(True), "no number of bytes"),
        (index(-1), "no number of bytes"),
        (index(1.5), "no number of bytes"),
        (index(weight_map={"a": "../secret"}), "no name of a file beside the index"),
        (index(weight_map={"a": ".."}), "no name of a file beside the index"),
        (index(weight_map={"a": 1}), "no name of a file beside the index"),
    ],
)
def test_an_index_that_is_none_is_refused(listed: dict[str, Any], words: str) -> None:
    with pytest.raises(CheckpointError, match=words):
        read_index(json.dumps(listed).encode())


def test_a_gguf_header_gives_bytes_by_type(tmp_path: Path) -> None:
    tensors = [
        tensor("a", [256, 2], 12, 0),
        tensor("b", [32], 0, 288),
        tensor("c", [64, 2], 8, 416),
        tensor("d", [64], 39, 576),
    ]
    found = read_gguf(gguf(tmp_path / "m.gguf", tensors, 610, KEYS))
    assert found.by_dtype == {"Q4_K": 288, "F32": 128, "Q8_0": 136, "MXFP4": 34}
    assert (found.tensors, found.bytes) == (4, 586)


@pytest.mark.parametrize(
    ("tensors", "data", "words"),
    [
        ([tensor("a", [256], 12, 0)], 143, "asks for"),
        ([tensor("a", [256], 12, 0), tensor("b", [32], 0, 32)], 500, "overlap"),
        ([tensor("a", [255], 12, 0)], 500, "not whole blocks"),
        ([tensor("a", [256], 99, 0)], 500, "type 99, which is not known"),
        ([tensor("a", [], 12, 0)], 500, "dimensions"),
        ([tensor("a", [2**62, 2**62], 0, 0)], 500, "elements"),
        ([text("a" * 70_000)], 500, "a name would have"),
        ([b""], 0, "cut short"),
    ],
)
def test_a_gguf_header_that_does_not_work_is_refused(
    tmp_path: Path, tensors: list[bytes], data: int, words: str
) -> None:
    with pytest.raises(CheckpointError, match=words):
        read_gguf(gguf(tmp_path / "m.gguf", tensors, data))


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (text("a") + struct.pack("<I", 77), "type 77"),
        (text("a") + struct.pack("<IIQ", 9, 9, 1), "type 9"),
        (text("a") + struct.pack("<IQ", 8, 2**63), "cut short, or has over"),
        (text("a") + struct.pack("<IIQ", 9, 8, 2**60), "cut short"),
        (text("general.alignment") + struct.pack("<II", 4, 0), "out of bounds"),
    ],
)
def test_keys_that_do_not_work_are_refused(tmp_path: Path, key: bytes, words: str) -> None:
    with pytest.raises(CheckpointError, match=words):
        read_gguf(gguf(tmp_path / "m.gguf", [], 0, (key,)))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"GGML", "does not begin with GGUF"),
        (b"GGUF" + struct.pack(">I", 3) + bytes(16), "is not known"),
        (b"GGUF" + struct.pack("<IQQ", 3, 2**40, 0), "it would have"),
    ],
)
def test_bytes_that_are_no_gguf_are_refused(tmp_path: Path, data: bytes, words: str) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(data)
    with pytest.raises(CheckpointError, match=words):
        read_gguf(file)


@given(st.binary(max_size=200), st.integers(0, 400))
def test_no_bytes_raise_anything_else(
    tmp_path_factory: pytest.TempPathFactory, more: bytes, cut: int
) -> None:
    folder = tmp_path_factory.mktemp("any")
    file = gguf(folder / "m.gguf", [tensor("a", [256], 12, 0)], 144, KEYS)
    file.write_bytes(file.read_bytes()[:cut] + more)
    for read in (read_gguf, read_safetensors, read_indexed):
        with suppress(CheckpointError):
            read(file)


def test_a_checkpoint_is_recognised_by_its_content(tmp_path: Path) -> None:
    one = safetensors(tmp_path / "anything", TWO, 76)
    assert read_checkpoint(one) == read_safetensors(one)
    index = tmp_path / "index"
    index.write_text(
        json.dumps(
            {"metadata": {"total_size": 76}, "weight_map": {"a": "anything", "b": "anything"}}
        )
    )
    assert read_checkpoint(index) == read_indexed(index)


def test_an_index_alone_is_taken_as_it_states_itself_and_says_so(tmp_path: Path) -> None:
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {"total_size": 76}, "weight_map": {"a": "gone"}}))
    found = read_checkpoint(index)
    assert found.bytes == 76
    assert "its files are not there" in found.findings[0]


@pytest.mark.parametrize("content", [b"", b"GGUF", b"{", b"no checkpoint at all", b"\0" * 64])
def test_what_is_no_checkpoint_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(CheckpointError) as raised:
        read_checkpoint(file)
    assert raised.value.help


def test_an_index_with_some_of_its_files_is_not_counted_short(tmp_path: Path) -> None:
    safetensors(tmp_path / "one", TWO, 76)
    index = tmp_path / "index"
    listed = {"metadata": {"total_size": 200}, "weight_map": {"a": "one", "b": "one", "c": "two"}}
    index.write_text(json.dumps(listed))
    found = read_checkpoint(index)
    assert found.bytes == 200
    assert found.findings == (
        "1 of its files are not there, so its total_size is taken as it states it",
    )


@pytest.mark.parametrize("name", ["m-00001-of-00002.safetensors", "m-00002-of-00002.gguf"])
def test_one_part_is_never_taken_for_the_whole(tmp_path: Path, name: str) -> None:
    with pytest.raises(CheckpointError, match="one of 2 parts"):
        read_checkpoint(safetensors(tmp_path / name, TWO, 76))
    whole = safetensors(tmp_path / "m-00001-of-00001.safetensors", TWO, 76)
    assert read_checkpoint(whole).bytes == 76
