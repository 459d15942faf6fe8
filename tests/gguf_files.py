"""Writes GGUF files, version 3, with tensors of noughts: headers as real files have them."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

F32, F16, Q8_0 = 0, 1, 8
_BYTES = {F32: (1, 4), F16: (1, 2), Q8_0: (32, 34)}
_UINT32, _BOOL, _TEXT, _ARRAY = 4, 7, 8, 9
_ALIGNMENT = 32

Shapes = Mapping[str, tuple[int, ...]]

LLAMA: dict[str, Any] = {
    "general.architecture": "llama",
    "general.name": "Example 1B",
    "llama.block_count": 2,
    "llama.context_length": 4096,
    "llama.embedding_length": 64,
    "llama.feed_forward_length": 128,
    "llama.attention.head_count": 4,
    "llama.attention.head_count_kv": 2,
    "llama.rope.dimension_count": 16,
    "tokenizer.ggml.tokens": ["a"] * 96,
}


def renamed(architecture: str, **changes: Any) -> dict[str, Any]:
    """The keys of LLAMA under another architecture; a change to None takes a key out.

    Two underscores stand for a dot, as in `attention__head_count`.
    """
    found = {key.replace("llama.", f"{architecture}."): value for key, value in LLAMA.items()}
    found["general.architecture"] = architecture
    for name, value in changes.items():
        found[f"{architecture}.{name.replace('__', '.')}"] = value
    return {key: value for key, value in found.items() if value is not None}


def dense_tensors(
    layers: int = 2, hidden: int = 64, kv: int = 32, feed: int = 128
) -> dict[str, tuple[int, ...]]:
    """The tensors of a dense decoder with a vocabulary of 96 and an output of its own."""
    found: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (hidden, 96),
        "output.weight": (hidden, 96),
        "output_norm.weight": (hidden,),
    }
    for at in range(layers):
        found |= {
            f"blk.{at}.attn_norm.weight": (hidden,),
            f"blk.{at}.attn_q.weight": (hidden, hidden),
            f"blk.{at}.attn_k.weight": (hidden, kv),
            f"blk.{at}.attn_v.weight": (hidden, kv),
            f"blk.{at}.attn_output.weight": (hidden, hidden),
            f"blk.{at}.ffn_norm.weight": (hidden,),
            f"blk.{at}.ffn_gate.weight": (hidden, feed),
            f"blk.{at}.ffn_up.weight": (hidden, feed),
            f"blk.{at}.ffn_down.weight": (feed, hidden),
        }
    return found


def one_a_layer(layers: int, hidden: int = 64) -> dict[str, tuple[int, ...]]:
    """The embedding and one norm for each layer, where nothing else is asked of the tensors."""
    found: dict[str, tuple[int, ...]] = {"token_embd.weight": (hidden, 96)}
    return found | {f"blk.{at}.attn_norm.weight": (hidden,) for at in range(layers)}


def write_gguf(file: Path, keys: Mapping[str, Any], tensors: Shapes, kind: int = F16) -> Path:
    """Matrices are of that kind, vectors of F32, as llama.cpp's converter writes them."""
    header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys))
    for key, value in keys.items():
        header += _text(key) + _value(value)
    offset = 0
    for name, shape in tensors.items():
        own = kind if len(shape) > 1 else F32
        header += _text(name) + struct.pack("<I", len(shape))
        header += struct.pack(f"<{len(shape)}Q", *shape) + struct.pack("<IQ", own, offset)
        offset += _padded(_size(shape, own))
    file.write_bytes(header + bytes(_padded(len(header)) - len(header)) + bytes(offset))
    return file


def _size(shape: tuple[int, ...], kind: int) -> int:
    elements = 1
    for each in shape:
        elements *= each
    block, size = _BYTES[kind]
    return elements // block * size


def _padded(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def _value(value: Any) -> bytes:
    kind = _kind(value[0] if isinstance(value, list) else value)
    if isinstance(value, list):
        return struct.pack("<IIQ", _ARRAY, kind, len(value)) + b"".join(map(_packed, value))
    return struct.pack("<I", kind) + _packed(value)


def _kind(value: Any) -> int:
    if isinstance(value, str):
        return _TEXT
    return _BOOL if isinstance(value, bool) else _UINT32


def _packed(value: Any) -> bytes:
    if isinstance(value, str):
        return _text(value)
    return struct.pack("<?" if isinstance(value, bool) else "<I", value)
