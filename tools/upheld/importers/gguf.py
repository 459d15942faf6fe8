"""A GGUF file's header into a model record: its facts, and what llama.cpp's code adds to them."""

from __future__ import annotations

from pathlib import Path

from upheld.arithmetic.config_json import ConfigShape
from upheld.arithmetic.configs import ConfigError
from upheld.arithmetic.dtypes import OF_TORCH
from upheld.arithmetic.gguf_model import GgufModel, read_gguf_model
from upheld.importers.layers import listed
from upheld.importers.model import Naming, text_of
from upheld.importers.shape import Shape

_TORCH = {ours: theirs for theirs, ours in OF_TORCH.items()}


def gguf_text(file: Path, naming: Naming, torch_dtype: str | None = None) -> str:
    """The YAML of a model record from the header of a GGUF file.

    `torch_dtype` is what the model computes in, which a file of quantised tensors does not say.

    Raises:
        ConfigError: the file gives no record: see gguf_model.read_gguf_model, or torch_dtype is
            missing, or differs from that of the tensors.
    """
    found = read_gguf_model(file)
    return text_of(_shape(found, torch_dtype), naming, found.name or "", _remarks(found))


def _shape(found: GgufModel, torch_dtype: str | None) -> Shape:
    model = found.model
    shape = Shape(unstated=set(found.unstated), assumed=list(model.assumed))
    shape.values |= {"architecture": model.architecture, "attention": model.attention}
    if model.attention == "listed":
        shape.values["cached_layers"] = [listed(each) for each in model.cached.layers]
    facts = dict(found.facts)
    tied = facts.pop("tie_word_embeddings")
    shape.values |= facts
    shape.values["max_position_embeddings"] = f"{model.max_position_embeddings} tokens"
    shape.values["tie_word_embeddings"] = tied
    if isinstance(model, ConfigShape):
        flags = {"qkv_bias": model.qkv_bias, "qk_norm": model.qk_norm}
        shape.values |= {name: True for name, value in flags.items() if value}
    shape.values["torch_dtype"] = _torch_dtype(shape, model.torch_dtype, torch_dtype)
    if model.state_dtype is not None:
        shape.values["state_dtype"] = model.state_dtype
    return shape


def _torch_dtype(shape: Shape, stored: str | None, chosen: str | None) -> str:
    in_file = None if stored is None else _TORCH[stored]
    if in_file is not None:
        if chosen not in (None, in_file):
            raise ConfigError(
                f"its tensors are {in_file}, and --torch-dtype says {chosen}", "leave it out"
            )
        return in_file
    if chosen is None:
        raise ConfigError(
            "its tensors are quantised, and nothing says what the model computes in",
            "say --torch-dtype, such as bfloat16",
        )
    shape.assume("torch_dtype", f"torch_dtype is {chosen}: the file does not say")
    return chosen


def _remarks(found: GgufModel) -> list[str]:
    """What the tensors of the file say: a record has no field for it, or it is seen there alone."""
    output = "has no" if found.facts["tie_word_embeddings"] else "has an"
    kinds = ", ".join(f"{dtype} {size:,} B" for dtype, size in found.stored.by_dtype.items())
    return [
        f"tie_word_embeddings: the file {output} output.weight.",
        f"The file stores {found.stored.tensors:,} tensors of {found.stored.bytes:,} B: {kinds}.",
    ]
