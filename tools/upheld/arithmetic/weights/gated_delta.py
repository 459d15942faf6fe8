"""The tensors of a gated delta net, which stands in a layer in the place of attention.

Source: vLLM's layers/mamba/gdn_linear_attn.py (GatedDeltaNetAttention) of Qwen3-Next and Qwen3.5,
read in 0.19.0: queries, keys, values and the gate are one projection, and the convolution is not
quantised.
"""

from __future__ import annotations

from upheld.arithmetic.shares import share
from upheld.arithmetic.weights.structure import Structure
from upheld.arithmetic.weights.tensors import Tensor

_KEYS = ("linear_num_key_heads", "linear_key_head_dim")
_VALUES = ("linear_num_value_heads", "linear_value_head_dim")


def gated_delta(model: Structure, ranks: int) -> list[Tensor]:
    """The tensors on one rank of `ranks`, in the order in which vLLM creates them.

    Raises:
        ShapeError: the ranks can't share its heads evenly.
    """
    hidden = model.hidden_size
    heads = share("linear_num_value_heads", model.linear_num_value_heads, ranks)
    keys = share("linear_num_key_heads", model.linear_num_key_heads, ranks)
    keys *= model.linear_key_head_dim
    values = heads * model.linear_value_head_dim
    widths = (*_KEYS, *_VALUES)
    taps = (*widths, "linear_conv_kernel_dim")
    per_head = ("linear_num_value_heads",)
    return [
        Tensor("linear.conv1d", (2 * keys + values, model.linear_conv_kernel_dim), taps),
        Tensor(
            "linear.in_proj_qkvz",
            (2 * keys + 2 * values, hidden),
            (*widths, "hidden_size"),
            linear=True,
        ),
        Tensor("linear.in_proj_ba", (2 * heads, hidden), (*per_head, "hidden_size"), linear=True),
        Tensor("linear.dt_bias", (heads,), per_head),
        Tensor("linear.A_log", (heads,), per_head, element=4),
        Tensor("linear.norm", (model.linear_value_head_dim,), _VALUES[1:]),
        Tensor("linear.out_proj", (hidden, values), (*_VALUES, "hidden_size"), linear=True),
    ]
