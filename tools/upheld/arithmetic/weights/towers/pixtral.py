"""Pixtral's tower, as Transformers stores it, with Mistral 3's projector.

Sources: vLLM's models/pixtral.py (PixtralHFVisionModel) and mistral3.py, read in 0.19.0;
PixtralRotaryEmbedding and the defaults of PixtralVisionConfig and Mistral3Config in Transformers
4.57.
"""

from __future__ import annotations

from upheld.arithmetic.shares import share
from upheld.arithmetic.weights.tensors import Layer, Tensor
from upheld.arithmetic.weights.towers.facts import VisionFacts
from upheld.arithmetic.weights.towers.parts import biased, buffer, plain


def pixtral(facts: VisionFacts, text_hidden: int, ranks: int) -> tuple[Layer, ...]:
    """Patches, layers, the rotary table of the tower and the projector.

    Raises:
        ShapeError: the ranks can't share it evenly.
    """
    hidden = facts.count("hidden_size", 1024)
    heads = facts.count("num_attention_heads", 16)
    head_dim = hidden // heads
    patch = facts.count("patch_size", 16)
    width = share("vision_config.num_attention_heads", heads, ranks) * head_dim
    inner = share("vision_config.intermediate_size", facts.count("intermediate_size", 4096), ranks)
    layer = (
        plain("attention_norm", hidden),
        plain("qkv_proj", 3 * width, hidden),
        plain("o_proj", hidden, width),
        plain("gate_up_proj", 2 * inner, hidden),
        plain("down_proj", hidden, inner),
        plain("ffn_norm", hidden),
    )
    side = facts.count("image_size", 1024) // patch
    merged = hidden * facts.count("spatial_merge_size", 2) ** 2
    channels = facts.count("num_channels", 3)
    return (
        Layer((plain("patch_conv", hidden, channels, patch, patch), plain("ln_pre", hidden))),
        Layer(layer, facts.layers(24)),
        Layer(
            (
                buffer("rotary table", side * side, head_dim),
                plain("projector_norm", hidden),
                plain("patch_merger", hidden, merged),
                *_projector(facts, hidden, text_hidden, ranks),
            )
        ),
    )


def _projector(facts: VisionFacts, hidden: int, text_hidden: int, ranks: int) -> tuple[Tensor, ...]:
    inner = share("hidden_size", text_hidden, ranks)
    if facts.flag("multimodal_projector_bias", default=False):
        return (
            *biased("linear_1", inner, hidden),
            *biased("linear_2", text_hidden, inner),
        )
    return plain("linear_1", inner, hidden), plain("linear_2", text_hidden, inner)
