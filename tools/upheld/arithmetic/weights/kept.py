"""Linear layers of a quantised checkpoint that stay at 16 bits, as its config.json names them.

Files write a module in full, such as model.layers.0.self_attn.q_proj, or a part of that name, or a
pattern: with an asterisk, or after `re:` a regular expression. Of those the plain ones are read,
in which `.*` is all that is not literal. Source: vLLM's layers/quantization/utils/quant_utils.py
(is_layer_skipped), compressed_tensors/utils.py (should_ignore_layer) and modelopt.py
(is_layer_excluded), read in 0.19.0. A fused layer is kept where all that it is fused from is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from itertools import groupby

from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.weights.decoder import LayerKind
from upheld.arithmetic.weights.tensors import Tensor

FIELD = "modules_to_not_convert"
MAX_PATTERNS = 100
# What a file may put before `layers.`, and nothing else follows from.
_PREFIXES = ("model.", "language_model.")
# In a regular expression: literals, an escaped dot, `.*`, and the anchors.
_PLAIN_EXPRESSION = re.compile(r"\^?(?:[\w-]|\\?\.|\.\*)*\$?", re.ASCII)

# What each tensor of a layer is in the checkpoint; experts stand for all by the first.
_MODULES: dict[str, tuple[str, ...]] = {
    "qkv_proj": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    "o_proj": ("self_attn.o_proj",),
    "fused_qkv_a_proj": ("self_attn.q_a_proj", "self_attn.kv_a_proj_with_mqa"),
    "kv_a_proj_with_mqa": ("self_attn.kv_a_proj_with_mqa",),
    "q_proj": ("self_attn.q_proj",),
    "q_b_proj": ("self_attn.q_b_proj",),
    "kv_b_proj": ("self_attn.kv_b_proj",),
    "absorbed kv_b_proj": ("self_attn.kv_b_proj",),
    "linear.in_proj_qkvz": ("linear_attn.in_proj_qkvz",),
    "linear.in_proj_ba": ("linear_attn.in_proj_ba",),
    "linear.out_proj": ("linear_attn.out_proj",),
    "gate_up_proj": ("mlp.gate_proj", "mlp.up_proj"),
    "up_proj": ("mlp.up_proj",),
    "down_proj": ("mlp.down_proj",),
    "shared_expert.gate_up_proj": ("mlp.shared_experts.gate_proj", "mlp.shared_experts.up_proj"),
    "shared_expert.down_proj": ("mlp.shared_experts.down_proj",),
    "experts.w13": ("mlp.experts.0.gate_proj", "mlp.experts.0.up_proj"),
    "experts.w2": ("mlp.experts.0.down_proj",),
}


def keep(kinds: Iterable[LayerKind], names: Sequence[str]) -> tuple[LayerKind, ...]:
    """The layers with the linear layers of those names marked as not quantised.

    Raises:
        ShapeError: a pattern that is not read, or a part of a fused layer.
    """
    if not names:
        return tuple(kinds)
    kept = _Names(names)
    return tuple(run for kind in kinds for run in _runs(kind, kept))


def _runs(kind: LayerKind, kept: _Names) -> Iterator[LayerKind]:
    for which, layers in groupby(range(kind.first, kind.stop), partial(kept.of, kind)):
        numbers = list(layers)
        tensors = tuple(_kept(each) if each.name in which else each for each in kind.tensors)
        yield replace(kind, first=numbers[0], stop=numbers[-1] + 1, tensors=tensors)


def _kept(tensor: Tensor) -> Tensor:
    # The copy for the absorbed product is a view where the weights are not quantised.
    return replace(tensor, linear=False, view=tensor.copy)


class _Names:
    """The names of a file, by how they are compared."""

    def __init__(self, names: Sequence[str]) -> None:
        shared = [name.replace("shared_expert.", "shared_experts.") for name in names]
        patterns = [each for each in shared if each.startswith("re:") or "*" in each]
        if len(patterns) > MAX_PATTERNS:
            raise ShapeError(FIELD, f"{len(patterns):,} patterns are more than {MAX_PATTERNS}")
        self._literal = {_short(each) for each in shared if each not in patterns}
        self._globs = [_glob(each) for each in patterns]

    def of(self, kind: LayerKind, at: int) -> frozenset[str]:
        """Names of the tensors of layer `at` that stay at 16 bits."""
        return frozenset(
            tensor.name
            for tensor in kind.tensors
            if (tensor.linear or tensor.copy) and self._has(tensor.name, at)
        )

    def _has(self, name: str, at: int) -> bool:
        parts = [self._matches(f"layers.{at}.{module}") for module in _MODULES[name]]
        if any(parts) and not all(parts):
            raise ShapeError(
                FIELD, f"names a part of {name} in layer {at}, which an engine stores as one"
            )
        return all(parts)

    def _matches(self, module: str) -> bool:
        parts = module.split(".")
        runs = (
            ".".join(parts[start:stop])
            for start in range(len(parts))
            for stop in range(start + 1, len(parts) + 1)
        )
        if any(run in self._literal for run in runs):
            return True
        full = (module, *(prefix + module for prefix in _PREFIXES))
        return any(fnmatchcase(name, glob) for glob in self._globs for name in full)


def _short(name: str) -> str:
    for prefix in _PREFIXES * 2:
        name = name.removeprefix(prefix)
    return name


def _glob(pattern: str) -> str:
    if not pattern.startswith("re:"):
        return pattern.replace("[", "[[]")
    expression = pattern.removeprefix("re:")
    if not _PLAIN_EXPRESSION.fullmatch(expression):
        raise ShapeError(FIELD, f"the expression {pattern[:60]!r} is not plain enough to be read")
    ends = expression.endswith("$")
    literal = expression.removeprefix("^").removesuffix("$")
    literal = literal.replace(".*", "*").replace("\\.", ".")
    # Expressions are anchored at their start, and at their end where they say so.
    return literal if ends else f"{literal}*"
