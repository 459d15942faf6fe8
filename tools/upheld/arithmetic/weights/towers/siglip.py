"""SigLIP with Gemma 3's projector.

Sources: vLLM's models/siglip.py (SiglipVisionTransformer without the pooling head) and
gemma3_mm.py (Gemma3MultiModalProjector), read in 0.19.0. Defaults: SiglipVisionConfig of
Transformers 4.57.
"""

from __future__ import annotations

from upheld.arithmetic.shares import share
from upheld.arithmetic.weights.tensors import Layer
from upheld.arithmetic.weights.towers.facts import VisionFacts
from upheld.arithmetic.weights.towers.parts import biased, buffer, plain


def siglip(facts: VisionFacts, text_hidden: int, ranks: int) -> tuple[Layer, ...]:
    """Embeddings, layers, the last norm and the projector.

    Raises:
        ShapeError: the ranks can't share it evenly.
    """
    hidden = facts.count("hidden_size", 768)
    patch = facts.count("patch_size", 16)
    positions = (facts.count("image_size", 224) // patch) ** 2
    heads = facts.count("num_attention_heads", 12)
    width = share("vision_config.num_attention_heads", heads, ranks) * (hidden // heads)
    inner = share("vision_config.intermediate_size", facts.count("intermediate_size", 3072), ranks)
    layer = (
        *biased("qkv_proj", 3 * width, hidden),
        *biased("out_proj", hidden, width),
        *biased("layer_norm1", hidden),
        *biased("fc1", inner, hidden),
        *biased("fc2", hidden, inner),
        *biased("layer_norm2", hidden),
    )
    return (
        Layer(
            (
                *biased("patch_embedding", hidden, facts.count("num_channels", 3), patch, patch),
                plain("position_embedding", positions, hidden),
                buffer("position_ids", positions, element=8),
            )
        ),
        Layer(layer, facts.layers(12)),
        Layer(
            (
                *biased("post_layernorm", hidden),
                plain("projector", hidden, text_hidden),
                plain("projector_norm", hidden),
            )
        ),
    )
