"""How a tensor is stored: bytes of its elements, and of scales and zero points beside them.

Sources, in vLLM 0.19.0 under model_executor/layers/quantization: fp8.py (one fp32 scale a tensor
at load time; weight_scale_inv of 128 × 128 blocks), compressed_tensors/schemes (fp32 scale an
output channel for fp8 and int8; wNa16; w4a4_nvfp4), gptq_marlin.py and awq_marlin.py (what
create_weights registers stays on the device: GPTQ's zero points and g_idx too, though a symmetric
kernel reads neither), mxfp4.py (experts alone are quantised), bitsandbytes.py with
model_loader/bitsandbytes_loader.py (scales that were themselves quantised are fp32 once loaded).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from upheld.arithmetic.dtypes import WEIGHT_BYTES
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.facts import Choices
from upheld.arithmetic.weights.tensors import Tensor

BLOCK = 128
# int4 weights are packed eight to a 32-bit word.
INT4_PER_WORD = 8
MXFP4_GROUP = 32
NVFP4_GROUP = 16
NF4_GROUP = 64
NF4_LEVELS = 16
_SPLIT = ("weight_dtype", "tensor_parallel")
_WITH_GROUPS = (*_SPLIT, "weight_group_size")


@dataclass(frozen=True, slots=True)
class Stored:
    """Bytes of each tensor that vLLM allocates, in order, and how they come about."""

    allocations: tuple[int, ...]
    formula: str
    choices: tuple[str, ...] = _SPLIT

    @property
    def bytes(self) -> int:
        """Bytes of all of them."""
        return sum(self.allocations)


def stored(tensor: Tensor, deployment: Choices) -> Stored:
    """The tensor as the deployment's weight dtype stores it.

    fp32, bf16 and fp16 apply to every tensor; the others to the linear layers, so that embedding,
    output head, router, norms and biases stay at 16 bits.

    Raises:
        ShapeError: no such dtype, or its groups do not divide the tensor.
    """
    dtype = deployment.weight_dtype
    if dtype not in FORMATS and dtype not in PLAIN:
        known = ", ".join((*PLAIN, *FORMATS))
        raise ShapeError("weight_dtype", f"{dtype!r} is none of {known}")
    sizes = " × ".join(f"{size:,}" for size in tensor.shape)
    if tensor.scalars:
        return Stored((4,) * tensor.elements, f"{sizes} fp32 scales × 4 B", ())
    if tensor.view or (tensor.copy and dtype in PLAIN):
        return Stored((), f"{sizes} × 0 B: a view of the weights, which are not quantised")
    if tensor.element:
        words = f"{sizes} × {tensor.element} B (whatever the weights are stored as)"
        return Stored((tensor.elements * tensor.element,), words)
    if dtype in PLAIN:
        element = int(WEIGHT_BYTES[dtype])
        return Stored((tensor.elements * element,), f"{sizes} × {element} B")
    if not tensor.linear:
        return Stored((tensor.elements * 2,), f"{sizes} × 2 B (not quantised)")
    return FORMATS[dtype](tensor, sizes, deployment)


def _channels(tensor: Tensor, sizes: str, deployment: Choices) -> Stored:
    outputs = prod(tensor.shape[:-1])
    return Stored(
        (tensor.elements, outputs * 4), f"({sizes} × 1 B + {outputs:,} fp32 scales × 4 B)"
    )


def _one_scale(tensor: Tensor, sizes: str, deployment: Choices) -> Stored:
    experts = prod(tensor.shape[:-2])
    words = f"({sizes} × 1 B + {experts:,} fp32 scales × 4 B)"
    return Stored((tensor.elements, experts * 4), words)


def _blocks(tensor: Tensor, sizes: str, deployment: Choices) -> Stored:
    outputs, inputs = tensor.shape[-2:]
    scales = prod(tensor.shape[:-2]) * -(-outputs // BLOCK) * -(-inputs // BLOCK)
    return Stored(
        (tensor.elements, scales * 4),
        f"({sizes} × 1 B + {scales:,} fp32 scales of {BLOCK} × {BLOCK} blocks × 4 B)",
    )


def _int4(tensor: Tensor, sizes: str, deployment: Choices) -> Stored:
    outputs, groups = _groups(tensor, deployment)
    return Stored(
        (tensor.elements // 2, outputs * groups * 2),
        f"({sizes} × 1/2 B + {outputs:,} × {groups:,} scales × 2 B; symmetric: no zero points)",
        _WITH_GROUPS,
    )


def _int4_awq(tensor: Tensor, sizes: str, deployment: Choices) -> Stored:
    outputs, groups = _groups(tensor, deployment)
    return Stored(
        (tensor.elements // 2, _zero_points(tensor, outputs, groups), outputs * groups * 2),
        f"({sizes} × 1/2 B + {outputs:,} × {groups:,} groups × (2 B scale + 1/2 B zero point))",
        _WITH_GROUPS,
    )


def _int4_gptq(tensor: Tensor, sizes: str, deployment: Choices) -> Stored:
    outputs, groups = _groups(tensor, deployment)
    inputs = prod(tensor.shape[:-2]) * tensor.shape[-1]
    zero_points = _zero_points(tensor, outputs, groups)
    return Stored(
        (tensor.elements // 2, inputs * 4, zero_points, outputs * groups * 2),
        f"({sizes} × 1/2 B + {outputs:,} × {groups:,} groups × (2 B scale + 1/2 B zero point) "
        f"+ {inputs:,} group indices × 4 B)",
        _WITH_GROUPS,
    )


def _mxfp4(tensor: Tensor, sizes: str, deployment: Choices) -> Stored:
    if len(tensor.shape) == 2:
        return Stored((tensor.elements * 2,), f"{sizes} × 2 B (not quantised: no experts)")
    outputs, groups = _groups_of(MXFP4_GROUP, tensor, "weight_dtype")
    return Stored(
        (tensor.elements // 2, outputs * groups),
        f"({sizes} × 1/2 B + {outputs:,} × {groups:,} scales × 1 B)",
    )


def _nvfp4(tensor: Tensor, sizes: str, deployment: Choices) -> Stored:
    outputs, groups = _groups_of(NVFP4_GROUP, tensor, "weight_dtype")
    whole = prod(tensor.shape[:-2])
    return Stored(
        (tensor.elements // 2, whole * 4, outputs * groups, whole * 4),
        f"({sizes} × 1/2 B + {outputs:,} × {groups:,} scales × 1 B + "
        f"{2 * whole:,} fp32 scales × 4 B)",
    )


def _nf4(tensor: Tensor, sizes: str, deployment: Choices) -> Stored:
    if len(tensor.shape) > 2:
        raise ShapeError("weight_dtype", "experts in nf4 are not known")
    groups = -(-tensor.elements // NF4_GROUP)
    return Stored(
        (-(-tensor.elements // 2), groups * 4, NF4_LEVELS * 4),
        f"({sizes} × 1/2 B + {groups:,} fp32 scales of {NF4_GROUP} elements × 4 B + "
        f"{NF4_LEVELS} levels × 4 B)",
    )


PLAIN = ("fp32", "bf16", "fp16")
# Those of which groups are a choice: weight_group_size inputs share a scale.
GROUPED = ("int4", "int4_awq", "int4_gptq")
FORMATS: dict[str, Callable[[Tensor, str, Choices], Stored]] = {
    "fp8": _channels,
    "fp8_tensor": _one_scale,
    "fp8_block": _blocks,
    "int8": _channels,
    "int4": _int4,
    "int4_awq": _int4_awq,
    "int4_gptq": _int4_gptq,
    "mxfp4": _mxfp4,
    "nvfp4": _nvfp4,
    "nf4": _nf4,
}


def _groups(tensor: Tensor, deployment: Choices) -> tuple[int, int]:
    size = deployment.weight_group_size
    if size is None:
        raise ShapeError("weight_group_size", "int4 weights need the size of their groups")
    if size < 1 or size % INT4_PER_WORD:
        raise ShapeError(
            "weight_group_size", f"{size} is not a multiple of {INT4_PER_WORD} (one 32-bit word)"
        )
    return _groups_of(size, tensor, "weight_group_size")


def _groups_of(size: int, tensor: Tensor, field: str) -> tuple[int, int]:
    """Outputs and groups of `size` inputs each; `field` is what a size that does not go blames."""
    inputs = tensor.shape[-1]
    if inputs % size:
        raise ShapeError(
            field,
            f"the {inputs:,} inputs of {tensor.name} on one device do not divide into groups "
            f"of {size}",
        )
    return prod(tensor.shape[:-1]), inputs // size


def _zero_points(tensor: Tensor, outputs: int, groups: int) -> int:
    if tensor.shape[-2] % INT4_PER_WORD:
        raise ShapeError(
            "weight_dtype",
            f"the {tensor.shape[-2]:,} outputs of {tensor.name} on one device are not a multiple "
            f"of {INT4_PER_WORD}, as zero points are packed",
        )
    return outputs * groups // 2
