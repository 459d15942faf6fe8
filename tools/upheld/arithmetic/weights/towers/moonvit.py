"""MoonViT with the projector of Kimi-VL.

Sources: vLLM's models/moonvit.py and kimi_vl.py (the projector is on every rank), read in 0.19.0;
defaults of its transformers_utils/configs/moonvit.py. The table of 2D positions is worked out on
the first image, so it is no part of loading the model.
"""

from __future__ import annotations

from math import prod

from upheld.arithmetic.shares import share
from upheld.arithmetic.weights.tensors import Layer
from upheld.arithmetic.weights.towers.facts import VisionFacts
from upheld.arithmetic.weights.towers.parts import biased, plain

_CHANNELS = 3


def moonvit(facts: VisionFacts, text_hidden: int, ranks: int) -> tuple[Layer, ...]:
    """Patches and positions, layers, the last norm and the projector.

    Raises:
        ShapeError: the ranks can't share it evenly.
    """
    hidden = facts.count("hidden_size", 1152)
    heads = facts.count("num_attention_heads", 16)
    patch = facts.count("patch_size", 14)
    width = share("vision_config.num_attention_heads", heads, ranks) * (hidden // heads)
    inner = share("vision_config.intermediate_size", facts.count("intermediate_size", 4304), ranks)
    rows = facts.count("init_pos_emb_height", 64)
    columns = facts.count("init_pos_emb_width", 64)
    layer = (
        *biased("norm0", hidden),
        *biased("norm1", hidden),
        *biased("fc0", inner, hidden),
        *biased("fc1", hidden, inner),
        *biased("wqkv", 3 * width, hidden),
        *biased("wo", hidden, width),
    )
    merged = hidden * prod(facts.pair("merge_kernel_size", (2, 2)))
    return (
        Layer(
            (
                *biased("patch_embed", hidden, _CHANNELS, patch, patch),
                plain("pos_emb", rows, columns, hidden),
            )
        ),
        Layer(layer, facts.layers(27)),
        Layer(
            (
                *biased("final_layernorm", hidden),
                *biased("projector.pre_norm", hidden),
                *biased("projector.linear_1", merged, merged),
                *biased("projector.linear_2", text_hidden, merged),
            )
        ),
    )
