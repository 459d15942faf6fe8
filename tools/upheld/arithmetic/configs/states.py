"""How large a layer's state is, and what dtype it is kept in.

Sources: vLLM's MambaStateShapeCalculator and MambaStateDtypeCalculator (mamba_utils.py) and the
configuration classes of Transformers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from upheld.arithmetic.configs.families import Family, Trait
from upheld.arithmetic.configs.fields import ConfigError, Fields, short, whole
from upheld.arithmetic.layouts.state import (
    GatedDeltaNet,
    Mamba1,
    Mamba2,
    ShortConvolution,
    StateLayers,
)

StateDtype = Literal["float32", "bfloat16", "float16"]
_DTYPES = ("float32", "bfloat16", "float16")


def state_layout(fields: Fields, family: Family) -> StateLayers:
    """The state of one layer.

    Raises:
        ConfigError: a width is missing, or does not go with the others.
    """
    if Trait.GATED_DELTA in family.traits:
        return _gated_delta(fields)
    if Trait.KIMI_DELTA in family.traits:
        return _kimi_delta(fields)
    if Trait.MAMBA2 in family.traits:
        return _mamba2(fields)
    if Trait.MAMBA1 in family.traits:
        return _mamba1(fields)
    width = fields.count_or_none("conv_dim") or fields.count("hidden_size")
    return ShortConvolution(1, fields.count("conv_L_cache"), width)


def state_dtype(fields: Fields, family: Family, state: StateLayers) -> StateDtype | None:
    """What the recurrent state is kept in, or None: as the convolution, in the model's dtype.

    Raises:
        ConfigError: a dtype that is not known.
    """
    if isinstance(state, ShortConvolution):
        return None
    if Trait.KIMI_DELTA in family.traits:
        return "float32"
    for key in ("mamba_ssm_dtype", "mamba_ssm_cache_dtype"):
        value = fields.get(key)
        if value in (None, "auto"):
            continue
        if value not in _DTYPES:
            raise ConfigError(
                f"{key} is {short(value)}", f"{key} wants one of {', '.join(_DTYPES)}"
            )
        return cast(StateDtype, value)
    if family.state_dtype is not None:
        fields.assume(f"the state is kept in {family.state_dtype}: the file does not say")
        return cast(StateDtype, family.state_dtype)
    fields.assume("the state is kept in the model's dtype: the file does not say")
    return None


def _gated_delta(fields: Fields) -> GatedDeltaNet:
    v_heads = fields.count("linear_num_value_heads")
    k_heads = fields.count("linear_num_key_heads")
    if v_heads % k_heads:
        raise ConfigError(
            f"linear_num_value_heads is {v_heads} and linear_num_key_heads is {k_heads}, which "
            "can't be shared evenly",
            "one of the two is wrong",
        )
    return GatedDeltaNet(
        1,
        fields.count("linear_conv_kernel_dim"),
        v_heads,
        k_heads,
        fields.count("linear_key_head_dim"),
        fields.count("linear_value_head_dim"),
    )


def _kimi_delta(fields: Fields) -> GatedDeltaNet:
    """Kimi delta attention: a gated delta net with as many key as value heads, of one width.

    Source: MambaStateShapeCalculator.kda_state_shape; the gate differs, not what is kept.
    """
    config = fields.get("linear_attn_config")
    if isinstance(config, Mapping):
        nested = Fields(config)
        heads, width = nested.count("num_heads"), nested.count("head_dim")
        taps = nested.count("short_conv_kernel_size")
    else:
        heads, width = fields.count("linear_num_heads"), fields.count("linear_head_dim")
        taps = fields.count("linear_conv_kernel_dim")
    return GatedDeltaNet(1, taps, heads, heads, width, width)


@dataclass(frozen=True, slots=True)
class _Mamba2Names:
    heads: str
    head_dim: str
    state: str
    groups: str
    taps: str


# Nemotron-H; Bamba, Falcon-H1 and Granite 4; Mamba-2 itself.
_MAMBA2_NAMES = (
    _Mamba2Names("mamba_num_heads", "mamba_head_dim", "ssm_state_size", "n_groups", "conv_kernel"),
    _Mamba2Names(
        "mamba_n_heads", "mamba_d_head", "mamba_d_state", "mamba_n_groups", "mamba_d_conv"
    ),
    _Mamba2Names("num_heads", "head_dim", "state_size", "n_groups", "conv_kernel"),
)


def _mamba2(fields: Fields) -> Mamba2:
    names = next((each for each in _MAMBA2_NAMES if fields.has(each.heads)), None)
    if names is None:
        raise ConfigError(
            "mamba_num_heads and mamba_n_heads are missing", "add the one that the model has"
        )
    heads = fields.count(names.heads)
    groups = fields.count(names.groups)
    if heads % groups:
        raise ConfigError(
            f"{names.heads} is {heads} and {names.groups} is {groups}, "
            "which can't be shared evenly",
            "one of the two is wrong",
        )
    return Mamba2(
        1,
        fields.count(names.taps),
        heads,
        _mamba2_head_dim(fields, names, heads),
        fields.count(names.state),
        groups,
    )


def _mamba2_head_dim(fields: Fields, names: _Mamba2Names, heads: int) -> int:
    if names.heads != "mamba_n_heads":
        return fields.count(names.head_dim)
    # These families refuse an inner width other than heads × head_dim.
    inner = fields.count_or_none("mamba_d_ssm") or (
        fields.count("mamba_expand") * fields.count("hidden_size")
    )
    stated = fields.get(names.head_dim)
    if stated in (None, "auto"):
        width = max(1, inner // heads)
        fields.assume(f"mamba_d_head is the inner width over the heads, {inner} / {heads}")
    else:
        width = whole(names.head_dim, stated)
    if width * heads != inner:
        raise ConfigError(
            f"mamba_n_heads × mamba_d_head is {heads} × {width}, and the inner width is {inner}",
            "the two are the same in the model's code",
        )
    return width


def _mamba1(fields: Fields) -> Mamba1:
    if fields.has("mamba_d_state") or "mamba_d_state" in fields.defaults:
        inner = fields.count("mamba_expand") * fields.count("hidden_size")
        return Mamba1(1, fields.count("mamba_d_conv"), inner, fields.count("mamba_d_state"))
    width = fields.count_or_none("intermediate_size")
    if width is None:
        width = fields.count("expand") * fields.count("hidden_size")
    return Mamba1(1, fields.count("conv_kernel"), width, fields.count("state_size"))
