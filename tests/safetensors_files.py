"""Writes safetensors files and their index, with tensors of noughts: headers as real files have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_BYTES = {"BF16": 2, "F32": 4, "U8": 1}

Shapes = Mapping[str, tuple[int, ...]]


def llama_shapes(layers: int = 2) -> dict[str, tuple[int, ...]]:
    """A Llama of 4 heads over 2 KV heads of 16, and a vocabulary of 96."""
    found: dict[str, tuple[int, ...]] = {
        "lm_head.weight": (96, 64),
        "model.embed_tokens.weight": (96, 64),
        "model.norm.weight": (64,),
    }
    for at in range(layers):
        found |= {
            f"model.layers.{at}.input_layernorm.weight": (64,),
            f"model.layers.{at}.mlp.gate_proj.weight": (128, 64),
            f"model.layers.{at}.self_attn.k_proj.weight": (32, 64),
            f"model.layers.{at}.self_attn.q_proj.weight": (64, 64),
        }
    return found


def write_safetensors(file: Path, tensors: Shapes, dtype: str = "BF16") -> int:
    """Writes the file, and says how many bytes its tensors take."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    at = 0
    for name, shape in tensors.items():
        size = _BYTES[dtype]
        for each in shape:
            size *= each
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    file.write_bytes(len(text).to_bytes(8, "little") + text + bytes(at))
    return at


def write_index(folder: Path, tensors: Shapes, parts: int = 2) -> Path:
    """The index and its files, over which the tensors are dealt out."""
    total = 0
    weight_map = {}
    for part in range(parts):
        name = f"model-{part + 1:05}-of-{parts:05}.safetensors"
        own = dict(list(tensors.items())[part::parts])
        total += write_safetensors(folder / name, own)
        weight_map |= dict.fromkeys(own, name)
    file = folder / "model.safetensors.index.json"
    index = {"metadata": {"total_size": total}, "weight_map": weight_map}
    file.write_text(json.dumps(index), "utf-8")
    return file
