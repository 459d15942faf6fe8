"""The rotary cos/sin table: positions × rotary width, once on each rank.

Sources: vLLM's layers/rotary_embedding/__init__.py (get_rope) and base.py, yarn_scaling_rope.py,
linear_scaling_rope.py, dynamic_ntk_scaling_rope.py, llama3_rope.py, phi3_long_rope_scaled_rope.py,
deepseek_scaling_rope.py, mrope.py; read in 0.19.0. The table is worked out in fp32 on the device
and then stored in the model's dtype, so the allocator has free blocks of it that later tensors
fill.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.weights.allocator import CachingAllocator
from upheld.arithmetic.weights.structure import MAX_COUNT, Structure, fraction

# How many positions the table has: those of the model, or times the factor of the scaling, or the
# original ones times the factor, or the original ones and the model's in one table.
_SAME = ("default", "llama3", "mrope", "proportional")
_TIMES_FACTOR = ("linear", "dynamic")
_ORIGINAL_TIMES_FACTOR = ("yarn", "deepseek_yarn")
_BOTH = ("longrope",)
# Positions of videos run further than those of text (mrope.py, cache_max_position_num).
MULTIMODAL_TIMES = 4


@dataclass(frozen=True, slots=True)
class RotaryTable:
    """The table of one rank; `pieces` are the positions that are worked out at a time.

    `scaled` says that cos and sin are each multiplied once more, `copied` that positions are
    divided first and the finished table is copied once.
    """

    pieces: tuple[int, ...]
    width: int
    element: int
    scaled: bool
    copied: bool
    formula: str
    fields: tuple[str, ...]

    @property
    def bytes(self) -> int:
        """Bytes of the table."""
        return sum(self.pieces) * self.width * self.element

    def build(self, allocator: CachingAllocator) -> None:
        """Allocate the table as vLLM does, with the fp32 tensors that it needs on the way."""
        tables = []
        for positions in self.pieces:
            half = positions * (self.width // 2) * 4
            found = [allocator.allocate(self.width // 2 * 4), allocator.allocate(positions * 4)]
            if self.copied:
                undivided = found.pop()
                found.append(allocator.allocate(positions * 4))
                allocator.release(undivided)
            found.append(allocator.allocate(half))
            for _ in ("cos", "sin"):
                found.append(allocator.allocate(half))
                if self.scaled:
                    unscaled = found.pop()
                    found.append(allocator.allocate(half))
                    allocator.release(unscaled)
            whole = allocator.allocate(2 * half)
            if self.copied:
                found.append(whole)
                whole = allocator.allocate(2 * half)
            for block in found:
                allocator.release(block)
            if self.element == 4:
                tables.append(whole)
            else:
                tables.append(allocator.allocate(positions * self.width * self.element))
                allocator.release(whole)
        if len(tables) > 1:
            allocator.allocate(self.bytes)
            for block in tables:
                allocator.release(block)


def local_rotary_table(model: Structure, weight_dtype: str) -> RotaryTable | None:
    """The table of the layers that slide, where they have one of their own: never scaled.

    Raises:
        ShapeError: see rotary_table.
    """
    if not model.global_rotary_every:
        return None
    return rotary_table(replace(model, rope_scaling=None), weight_dtype)


def rotary_table(model: Structure, weight_dtype: str) -> RotaryTable:
    """The table that vLLM builds for the model, or for its layers that do not slide.

    Raises:
        ShapeError: positions are not stated, or a scaling that is not known.
    """
    positions = model.max_position_embeddings
    if not positions:
        raise ShapeError("max_position_embeddings", "the rotary table needs it")
    latent = model.attention == "latent"
    head = model.qk_rope_head_dim if latent else model.head_dim
    width = int(head * model.partial_rotary_factor)
    if width < 2 or width % 2:
        raise ShapeError("partial_rotary_factor", f"a rotary width of {width} is not even")
    kind, pieces = _positions(model, positions)
    if min(pieces) < 1 or sum(pieces) > MAX_COUNT:
        raise ShapeError("rope_scaling", f"wants from 1 to {MAX_COUNT:,} positions")
    element = 4 if weight_dtype == "fp32" else 2
    words = " + ".join(f"{piece:,}" for piece in pieces)
    if len(pieces) > 1:
        words = f"({words})"
    return RotaryTable(
        pieces,
        width,
        element,
        scaled=kind in _ORIGINAL_TIMES_FACTOR + _BOTH,
        copied=kind == "linear",
        formula=f"{words} positions × {width} × {element} B, cos and sin",
        fields=(
            "max_position_embeddings",
            "qk_rope_head_dim" if latent else "head_dim",
            "partial_rotary_factor",
            "rope_scaling",
        ),
    )


def _positions(model: Structure, positions: int) -> tuple[str, tuple[int, ...]]:
    scaling = model.rope_scaling
    if not scaling:
        return "default", (positions,)
    kind = scaling.get("rope_type", scaling.get("type", "default"))
    times = MULTIMODAL_TIMES if "mrope_section" in scaling else 1
    if kind in _SAME:
        return "default", (positions * times,)
    if kind in _TIMES_FACTOR:
        return kind, (ceil(positions * fraction("rope_scaling", scaling.get("factor"))),)
    if kind not in _ORIGINAL_TIMES_FACTOR + _BOTH:
        raise ShapeError("rope_scaling", f"the type {str(kind)[:40]!r} is not known")
    original = scaling.get("original_max_position_embeddings")
    if not isinstance(original, int) or not 1 <= original <= MAX_COUNT:
        raise ShapeError("rope_scaling", f"{kind} needs original_max_position_embeddings")
    if kind in _BOTH:
        return kind, (original, positions)
    return kind, (ceil(original * times * fraction("rope_scaling", scaling.get("factor"))),)
